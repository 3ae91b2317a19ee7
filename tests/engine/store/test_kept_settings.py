from dataclasses import replace

import pytest
from sqlalchemy import Connection

from engine.store import kept_settings, runs
from engine.store.kept_settings import SettingsRefused
from tests.support.store_samples import run_row

ONE, OTHER = ("agent_a_r", "/x.py"), ("agent_a_r", "/y.py")


def test_settings_are_stored_by_binding_and_file_and_the_last_ones_count(conn: Connection):
    kept_settings.put(conn, ONE, {"config": {"a": 1}}, at=1)
    kept_settings.put(conn, OTHER, {"config": {"b": 1}}, at=2)
    kept_settings.put(conn, ONE, {"config": {"c": 1}}, at=3)

    assert kept_settings.every(conn) == {
        ONE: {"config": {"c": 1}, "updated_at": 3},
        OTHER: {"config": {"b": 1}, "updated_at": 2},
    }
    assert kept_settings.remove(conn, ONE)
    assert not kept_settings.remove(conn, ONE)
    assert list(kept_settings.every(conn)) == [OTHER]


def test_size_of_settings_is_limited(conn: Connection):
    with pytest.raises(SettingsRefused, match=r"the settings have 1,048,5\d\d bytes; the limit is 1,048,576\."):
        kept_settings.put(conn, ONE, {"config": {"a": "x" * (kept_settings.MAX_SETTINGS_BYTES - 10)}}, at=1)
    assert kept_settings.every(conn) == {}


def test_last_use_of_a_runner_is_found_without_reading_its_runs(conn: Connection):
    for number, runner in enumerate(("a", "b", "a", "c")):
        runs.create(conn, replace(run_row(f"run_{number}", at=number), runner_id=runner))

    assert runs.last_used(conn, [("a", None), ("b", None), ("never", None)]) == {("a", None): 2, ("b", None): 1}
    assert runs.last_used(conn, []) == {}
    plan = conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {runs._LAST_USED}", ('[["a",null]]',)).fetchall()
    assert [row[3] for row in plan if "runs" in row[3]] == ["SEARCH runs USING INDEX runs_runner (runner_id=?)"]


def test_run_of_an_agent_counts_as_use_of_the_agent_only(conn: Connection):
    for number, agent in enumerate((None, "one", "two", "one")):
        runs.create(conn, replace(run_row(f"run_{number}", at=number), runner_id="a", agent_id=agent))

    wanted = [("a", None), ("a", "one"), ("a", "two"), ("a", "three")]
    assert runs.last_used(conn, wanted) == {("a", None): 0, ("a", "one"): 3, ("a", "two"): 2}
