"""An upgrade of the database in the console: it shows its progress, stays usable, and can be left."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from console.app import Trackside
from console.data.active_session import RETRY_SECONDS, UPGRADE_RETRY_SECONDS, ActiveSession
from console.launch import LaunchOptions
from engine.api import StoreError
from engine.store import search_index, tables, upgrade
from engine.store.hosts import HostLock
from tests.support.console.pilot import NARROW, WIDE, say, sees, shown, until
from tests.support.faults import faults
from tests.support.limits import MAX_WAIT_SECONDS
from tests.support.old_databases import contents, make_database, old_rows

UPGRADED = f"The database was upgraded from schema 0001 to {tables.SCHEMA_VERSION}."


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "facts.db"
    make_database(path, "0001", old_rows("0001"))
    return path


class HeldUpgrade:
    """Holds an upgrade after its copy was made, until it may go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.may_go_on = threading.Event()
        self._upgrade = upgrade.upgrade
        monkeypatch.setattr(upgrade, "upgrade", self._hold)

    def _hold(self, *given: Any) -> None:
        self.may_go_on.wait(MAX_WAIT_SECONDS)
        self._upgrade(*given)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldUpgrade]:
    holding = HeldUpgrade(monkeypatch)
    yield holding
    holding.may_go_on.set()


async def test_console_shows_an_upgrade_and_sends_what_was_typed_during_it(old: Path, held: HeldUpgrade):
    app = Trackside(LaunchOptions(db=old, runner="echo"))
    async with app.run_test(size=NARROW, notifications=True) as pilot:
        await sees(pilot, "upgrading the database, ", "The database is being upgraded for this version")
        await say(pilot, "hello there")
        await sees(pilot, "sending… hello there", "as soon as the engine is open")
        held.may_go_on.set()
        await sees(pilot, UPGRADED)
        assert "upgrading" not in shown(app)
        await until(pilot, lambda: shown(app).count("hello there") > 1)


async def test_quitting_during_an_upgrade_changes_nothing(old: Path, held: HeldUpgrade):
    before = contents(old)
    app = Trackside(LaunchOptions(db=old, runner="echo"))
    async with app.run_test(size=WIDE) as pilot:
        await sees(pilot, "upgrading the database, ")
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running)
    held.may_go_on.set()

    await faults.until(lambda: [each.name for each in old.parent.glob("facts.db*")] == ["facts.db"])
    assert contents(old) == before


async def test_session_reports_each_percentage_once(old: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search_index, "BACKLOG_LINES", 1)
    session = ActiveSession(LaunchOptions(db=old))
    seen: list[int | None] = []

    await session.open(on_upgrade=lambda: seen.append(session.upgrade_percent))
    await session.close()

    assert seen == sorted(set(seen), key=lambda percent: percent or 0)
    assert (seen[0], seen[-1]) == (0, 100)
    assert session.upgrade_percent is None


async def test_failed_upgrade_is_not_tried_again_at_once(old: Path):
    with closing(sqlite3.connect(old)) as driver:
        driver.execute("CREATE TRIGGER transcript_deleted AFTER DELETE ON hosts BEGIN SELECT 1; END")
    session = ActiveSession(LaunchOptions(db=old))
    lock = HostLock.take(old, "host_gone")

    with pytest.raises(StoreError, match="has it open"):
        await session.open()
    assert session.retry_seconds == RETRY_SECONDS
    lock.release()
    with pytest.raises(StoreError, match="The upgrade from schema 0001 failed"):
        await session.open()
    assert session.retry_seconds == UPGRADE_RETRY_SECONDS
