"""Upgrading a database of an older Trackside: everything in it survives, in the words of this version."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert

from engine.events import EntryKind, Fate, Source
from engine.journal.recorder import ROW_BYTES
from engine.store import (
    entries,
    index_cleanup,
    kept_settings,
    pruning,
    queue,
    runs,
    search,
    sessions,
    tables,
    transcript,
)
from engine.store.database import Database
from engine.store.errors import DatabaseOlder
from engine.store.row_mapping import ConversationKey, values
from tests.support.old_databases import (
    AUTHORIZATION,
    ENTRIES_PER_RUN,
    OLDER_VERSIONS,
    RUNS,
    TEXT,
    contents,
    make_database,
    old_rows,
)
from tests.support.store_samples import find_texts, is_index_consistent, run_row, schema, text_line

CONVERSATION, OTHER = ConversationKey("talk"), ConversationKey("other")
OLDER = ("0001", "0002", "0003")
LINES = 1_005


def add_run(conn: Connection) -> None:
    """Add a run with the columns that every version has."""
    newer = {"last_activity_at", "journal_bytes"}
    row = {name: value for name, value in values(run_row("run_1", at=5)).items() if name not in newer}
    conn.execute(insert(tables.runs).values(row))


def add_lines(conn: Connection) -> None:
    columns = tables.transcript.columns.keys()
    for number in range(LINES):
        content = {0: "the train at midnight", 1: "今天天气很好", 2: None}.get(number, f"line {number}")
        line = text_line(number, content, (CONVERSATION, OTHER)[number % 2], metadata={}, artifact_refs=[])
        conn.execute(insert(tables.transcript).values({name: getattr(line, name) for name in columns if name != "seq"}))


ENTRIES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("host", "run.started", {"runner_id": "r"}),
    ("person", "hold.armed", {"when": "pull", "once": False}),
    ("person", "hold.armed", {"when": "pull#2", "once": True}),
    ("person", "hold.armed", {"when": "pulled", "once": True}),
    ("host", "hold.reached", {"when": "pull", "stage": "before", "call_id": "c1", "action": "steering_pull"}),
    ("person", "hold.edited", {"call_id": "c1", "original": None, "edit": {"text": "naïve"}, "editor": "local"}),
    ("person", "hold.released", {"when": "pull", "stage": "before", "seconds": 1.5, "how": "release"}),
    ("person", "hold.released", {"when": "tool", "stage": "reply", "seconds": 0.0, "how": "step"}),
    ("person", "hold.disarmed", {"when": "tool", "once": False}),
    ("person", "steering.queued", {"item_id": "a", "event_id": "e", "text": "held", "held": True}),
    ("person", "steering.held", {"item_id": "a"}),
    ("person", "steering.released", {"item_id": "a"}),
    ("host", "steering.injected", {"item_id": "a", "event_id": "e"}),
    ("runner", "message.delta", {"chunk": {"content": "hold.reached by a person"}}),
    ("runner", "result.hold.reached", {"when": "pull"}),
    ("person", "cancel.requested", {}),
)
RENAMED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("host", "run.started", {"runner_id": "r"}),
    ("user", "breakpoint.set", {"when": "steering", "once": False}),
    ("user", "breakpoint.set", {"when": "steering#2", "once": True}),
    ("user", "breakpoint.set", {"when": "pulled", "once": True}),
    ("host", "pause.started", {"when": "steering", "stage": "before", "call_id": "c1", "action": "steering_pull"}),
    ("user", "pause.edited", {"call_id": "c1", "original": None, "edit": {"text": "naïve"}, "editor": "local"}),
    ("user", "pause.ended", {"when": "steering", "stage": "before", "seconds": 1.5, "how": "continue"}),
    ("user", "pause.ended", {"when": "tool", "stage": "reply", "seconds": 0.0, "how": "step"}),
    ("user", "breakpoint.removed", {"when": "tool", "once": False}),
    ("user", "steering.queued", {"item_id": "a", "event_id": "e", "text": "held", "paused": True}),
    ("user", "steering.paused", {"item_id": "a"}),
    ("user", "steering.resumed", {"item_id": "a"}),
    ("host", "steering.injected", {"item_id": "a", "event_id": "e"}),
    ("runner", "message.delta", {"chunk": {"content": "hold.reached by a person"}}),
    ("runner", "result.hold.reached", {"when": "pull"}),
    ("user", "cancel.requested", {}),
)


def add_old_words(conn: Connection) -> None:
    """A paused and steered run, in the words that were stored before revision 0004."""
    add_run(conn)
    for position, (source, kind, data) in enumerate(ENTRIES, start=1):
        conn.exec_driver_sql(
            "INSERT INTO journal (row, run_id, position, at, source, type, data, turn) VALUES (?, ?, ?, ?, ?, ?, ?, 1)",
            # Rows far apart: they are renamed in several batches.
            (position * 7_000, "run_1", position, position, source, kind, json.dumps(data, ensure_ascii=False)),
        )
    for item_id, fate, metadata in (
        ("a", "held", "{}"),
        ("b", "withdrawn", '{"was_held":true,"agent_id":"x"}'),
        ("c", "injected", '{"agent_id":"x"}'),
    ):
        conn.exec_driver_sql(
            "INSERT INTO queue (item_id, event_id, conversation_id, mode, place, fate, envelope, created_at, metadata)"
            " VALUES (?, ?, 'talk', 'steer', 1, ?, '{}', 1, ?)",
            (item_id, f"e_{item_id}", fate, metadata),
        )
    for event_id, kind, status in (("x", "steering.held", "held"), ("y", "steering.released", "released")):
        conn.exec_driver_sql(
            "INSERT INTO events (event_id, event_type, source, metadata, created_at) VALUES (?, ?, 'person', ?, 1)",
            (event_id, kind, json.dumps({"steering": {"status": status, "item_id": "a"}})),
        )
    for editor in ("person", "runner"):
        conn.exec_driver_sql(
            "INSERT INTO state_changes (scope_key, state_key, journal_row, editor, at) VALUES ('s', 'k', 0, ?, 1)",
            (editor,),
        )


@pytest.fixture
def old(path: Path) -> Path:
    """A database as the first release left it, with lines in it."""
    make_database(path, "0001", add_lines)
    return path


def test_older_database_is_upgraded_and_its_lines_are_found(old: Path):
    assert not [line for line in contents(old) if "fts5" in line]
    Database.open(old, write=True).close()

    database = Database.open(old, write=True)
    with database.writing_connection() as conn:
        assert find_texts(conn, "mid") == ["the train at midnight"]
        assert find_texts(conn, "天气", OTHER) == ["今天天气很好"]
        assert find_texts(conn, "天气", CONVERSATION) == []
        assert find_texts(conn, f"line {LINES - 1}", None) == [f"line {LINES - 1}"]
        assert search.find(conn, "line", None)[1] == 1_000
        assert is_index_consistent(conn)
        transcript.append(conn, text_line(9_999, "midnight again"))
        assert find_texts(conn, "midnight") == ["midnight again", "the train at midnight"]
        pruning.prune(conn, 10_000, 10_000, event_id="audit")
        assert find_texts(conn, "midnight", None) == []
        assert is_index_consistent(conn)
    assert database.integrity() == []
    database.close()


@pytest.mark.parametrize("revision", OLDER_VERSIONS)
def test_database_of_every_older_version_is_upgraded_with_all_its_rows(path: Path, revision: str):
    make_database(path, revision, old_rows(revision))
    new = path.with_name("new.db")
    Database.open(new, write=True).close()

    database = Database.open(path, write=True)

    assert database.remarks == [f"The database was upgraded from schema {revision} to {tables.SCHEMA_VERSION}."]
    assert database.integrity() == []
    with database.writing_connection() as conn:
        assert is_index_consistent(conn)
        assert find_texts(conn, "idnigh", limit=100) == [f"{TEXT} {number}" for number in reversed(range(100))]
        for number in range(1, RUNS + 1):
            journal = entries.page(conn, f"run_{number}", limit=1_000)
            assert [entry.position for entry in journal] == list(range(1, ENTRIES_PER_RUN + 1))
            assert {entry.source for entry in journal} == {Source.RUNNER, Source.USER}
            assert json.loads(journal[-1].data) == {"chunk": {"content": f"{TEXT} {ENTRIES_PER_RUN}"}}
            run = runs.get(conn, f"run_{number}")
            assert run.authorization == json.loads(AUTHORIZATION)
            is_open = number == RUNS
            assert run.usage == (None if is_open else {"sum": {"total_tokens": 7}})
            sizes = sum(len(entry.data.encode()) + ROW_BYTES for entry in journal)
            assert run.journal_bytes == (None if is_open else sizes)
        assert sessions.get(conn, "talk").message_count == RUNS + 1
        assert queue.get(conn, "item_1").text == "faster"
        (content,) = conn.exec_driver_sql("SELECT content FROM artifact_blobs").scalars()
        assert content == bytes.fromhex("0001fe")
        assert conn.exec_driver_sql("SELECT value FROM state").scalar() == '"é"'
        assert conn.exec_driver_sql("SELECT editor FROM state_changes").scalar() == Source.USER
    database.close()
    assert schema(path) == schema(new)
    assert sorted(each.name for each in path.parent.iterdir()) == ["facts.db", "new.db"]


def test_journals_of_ended_runs_are_counted_in_slices(path: Path, monkeypatch: pytest.MonkeyPatch):
    data = ["{}", '"é今"', '"' + "x" * 9_000 + '"']

    def fill(conn: Connection) -> None:
        for run_id, status in (("long", "completed"), ("empty", "failed"), ("open", "running"), ("new", "created")):
            conn.exec_driver_sql(
                "INSERT INTO runs (run_id, runner_id, conversation_id, status, created_at, updated_at, usage, metadata)"
                " VALUES (?, 'r', ?, ?, 1, 1, '{\"input_tokens\":3}', '{}')",
                (run_id, run_id, status),
            )
        for run_id in ("long", "open"):
            conn.exec_driver_sql(
                "INSERT INTO journal (run_id, position, at, source, type, data, turn)"
                " VALUES (?, ?, 1, 'runner', 'x', ?, 1)",
                [(run_id, position, data[position % 3]) for position in range(30)],
            )

    make_database(path, "0012", fill)
    monkeypatch.setattr("engine.store.migrations.journal_slices.SLICE_ROWS", 7)
    database = Database.open(path, write=True)
    found = {
        name: database.read_now(lambda conn, name=name: runs.get(conn, name)) for name in ("long", "empty", "open")
    }
    new = database.read_now(lambda conn: runs.get(conn, "new"))
    database.close()

    assert found["long"].journal_bytes == 10 * sum(len(text.encode()) + ROW_BYTES for text in data)
    assert found["empty"].journal_bytes == 0
    assert (found["open"].journal_bytes, new.journal_bytes) == (None, None)
    assert {run.usage["sum"]["input_tokens"] for run in (*found.values(), new) if run.usage} == {3}


def test_database_without_settings_gets_them_and_keeps_its_runs(path: Path):
    make_database(path, "0002", add_run)

    with pytest.raises(DatabaseOlder, match="was written by an older Trackside"):
        Database.open(path, write=False)
    database = Database.open(path, write=True)
    with database.writing_connection() as conn:
        assert runs.last_used(conn, [("plugin:a/b/c", None)]) == {("plugin:a/b/c", None): 5}
        kept_settings.put(conn, ("agent", ""), {"config": {}}, at=1)
        assert list(kept_settings.every(conn)) == [("agent", "")]
    assert database.integrity() == []
    database.close()


@pytest.mark.parametrize("revision", OLDER)
def test_stored_words_are_renamed_from_every_older_version(path: Path, revision: str):
    make_database(path, revision, add_old_words)

    database = Database.open(path, write=True)

    with database.writing_connection() as conn:
        journal = entries.page(conn, "run_1")
        assert [(entry.source, entry.type, json.loads(entry.data)) for entry in journal] == list(RENAMED)
        items = {item.item_id: item for item in (queue.get(conn, item_id) for item_id in "abc")}
        assert [items[item_id].fate for item_id in "abc"] == [Fate.PAUSED, Fate.WITHDRAWN, Fate.INJECTED]
        assert items["b"].metadata == {queue.WAS_PAUSED: True, "agent_id": "x"}
        assert items["c"].metadata == {"agent_id": "x"}
        events = conn.exec_driver_sql("SELECT event_type, source, metadata FROM events ORDER BY seq").fetchall()
        assert [(kind, source, json.loads(data)["steering"]["status"]) for kind, source, data in events] == [
            (EntryKind.STEERING_PAUSED, Source.USER, "paused"),
            (EntryKind.STEERING_RESUMED, Source.USER, "resumed"),
        ]
        editors = conn.exec_driver_sql("SELECT editor FROM state_changes ORDER BY change").scalars().all()
        assert editors == [Source.USER, Source.RUNNER]
    assert database.integrity() == []
    database.close()


def test_sessions_of_an_older_database_get_their_last_run_and_count_its_events(path: Path):
    def fill(conn: Connection) -> None:
        for session_id, count in (("talk", 1), ("pruned", 7), ("empty", 0)):
            conn.exec_driver_sql(
                "INSERT INTO sessions (session_id, root_session_id, depth, created_at, last_active, message_count,"
                " metadata) VALUES (?, ?, 0, 1, 1, ?, '{}')",
                (session_id, session_id, count),
            )
        for run_id, session_id, runner, status in (
            ("r1", "talk", "first", "completed"),
            ("r2", "talk", "second", "failed"),
            ("r3", "pruned", "third", "completed"),
        ):
            conn.exec_driver_sql(
                "INSERT INTO runs (run_id, runner_id, agent_id, conversation_id, status, created_at, updated_at,"
                " metadata) VALUES (?, ?, 'guide', ?, ?, 1, 1, '{}')",
                (run_id, runner, session_id, status),
            )
        for item_id, fate in (("a", "injected"), ("b", "dropped"), ("c", "own_run")):
            conn.exec_driver_sql(
                "INSERT INTO queue (item_id, event_id, conversation_id, mode, place, fate, envelope, created_at,"
                " metadata) VALUES (?, ?, 'talk', 'steer', 1, ?, '{}', 1, '{}')",
                (item_id, f"e_{item_id}", fate),
            )

    make_database(path, "0005", fill)
    database = Database.open(path, write=True)

    with database.writing_connection() as conn:
        found = [sessions.get(conn, session_id) for session_id in ("talk", "pruned", "empty")]
    database.close()
    assert [(one.message_count, one.runner_id, one.agent_id, one.project) for one in found] == [
        (3, "second", "guide", None),
        (7, "third", "guide", None),
        (0, None, None, None),
    ]


def test_totals_of_state_are_counted_in_an_older_database(path: Path):
    def fill(conn: Connection) -> None:
        for scope_key, key, value in (("s", "a", '"é"'), ("s", "bé", "12"), ("t", "c", "null")):
            conn.exec_driver_sql(
                "INSERT INTO state (scope_key, state_key, value, scope, runner_id, binding_id, updated_at)"
                " VALUES (?, ?, ?, 'runner', 'r', 'b', 1)",
                (scope_key, key, value),
            )

    make_database(path, "0004", fill)
    database = Database.open(path, write=True)

    with database.writing_connection() as conn:
        totals = conn.exec_driver_sql("SELECT scope_key, bytes, keys FROM state_totals ORDER BY 1").fetchall()
    database.close()
    assert [tuple(row) for row in totals] == [("s", 10, 2), ("t", 5, 1)]


def test_creation_of_state_is_read_from_the_changes_of_an_older_database(path: Path):
    def fill(conn: Connection) -> None:
        for key in "abc":
            conn.exec_driver_sql(
                "INSERT INTO state (scope_key, state_key, value, scope, runner_id, binding_id, updated_at)"
                " VALUES ('s', ?, '12', 'runner', 'r', 'b', 9)",
                (key,),
            )
        for key, value, at in (("a", "1", 3), ("a", "12", 9), ("b", "1", 2), ("b", None, 4), ("b", "12", 9)):
            conn.exec_driver_sql(
                "INSERT INTO state_changes (scope_key, state_key, value, journal_row, editor, at)"
                " VALUES ('s', ?, ?, 0, 'runner', ?)",
                (key, value, at),
            )

    make_database(path, "0005", fill)
    database = Database.open(path, write=True)

    with database.writing_connection() as conn:
        rows = conn.exec_driver_sql("SELECT state_key, created_at, updated_at FROM state ORDER BY 1").all()
        totals = conn.exec_driver_sql("SELECT bytes, keys FROM state_totals").all()
    database.close()
    assert rows == [("a", 3, 9), ("b", 9, 9), ("c", 9, 9)]
    assert totals == [(9, 3)]


def add_secret_messages(conn: Connection) -> None:
    """A queued, a dropped and a plain message as they were stored before revision 0012."""
    secret = {"covered": {"text": "use ‹secret k›", "contents": [], "attachments": []}}
    parts = {"covered": {"contents": [{"type": "text", "text": "use ‹secret k›"}], "attachments": []}}
    for item_id, fate, metadata in (
        ("open", "queued", secret | {"agent_id": "a"}),
        ("dropped", "dropped", secret),
        ("parts", "injected", parts),
        ("plain", "dropped", {}),
    ):
        envelope = {"event_id": item_id, "input": {"text": "use walnut"}}
        conn.exec_driver_sql(
            "INSERT INTO queue (item_id, event_id, mode, place, fate, envelope, text, created_at, metadata)"
            " VALUES (?, ?, 'steer', 1, ?, ?, 'use walnut', 5, ?)",
            (item_id, item_id, fate, json.dumps(envelope), json.dumps(metadata)),
        )


@pytest.mark.parametrize("revision", [*OLDER, "0004", "0005"])
def test_upgrade_masks_the_messages_whose_fate_is_decided(tmp_path: Path, revision: str):
    path = tmp_path / "old.db"
    make_database(path, revision, add_secret_messages)

    database = Database.open(path, write=True)
    items = {name: database.read_now(lambda conn, name=name: queue.get(conn, name)) for name in ("open", "dropped")}
    others = {name: database.read_now(lambda conn, name=name: queue.get(conn, name)) for name in ("parts", "plain")}
    database.close()

    assert items["open"].text == "use walnut", "it is still to be delivered"
    assert (queue.as_shown(items["open"]).text, items["open"].metadata["agent_id"]) == ("use ‹secret k›", "a")
    for item in (items["dropped"], others["parts"]):
        assert item.text == "use ‹secret k›"
        assert "walnut" not in str(item)
    assert (others["plain"].text, others["plain"].metadata) == ("use walnut", {})


def test_deletions_of_an_older_version_are_finished(path: Path):
    def fill(conn: Connection) -> None:
        rows = (
            ("e1", "message.received", "console", "gone", "old words", '{"note": "old words"}'),
            ("run:finished", "run.finished", "host", "gone", None, '{"reason": "old words"}'),
            ("audit", "session.deleted", "host", "gone", None, "{}"),
            ("e2", "message.received", "console", "gone", "new words", "{}"),
            ("e3", "message.received", "console", "kept", "kept words", "{}"),
        )
        conn.exec_driver_sql(
            "INSERT INTO events (event_id, event_type, source, conversation_id, input_summary, metadata, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, 1)",
            list(rows),
        )

    make_database(path, "0005", fill)
    database = Database.open(path, write=True)
    with database.writing_connection() as conn:
        kept = {
            row.event_id: (row.conversation_id, row.input_summary, row.metadata)
            for row in conn.exec_driver_sql("SELECT * FROM events")
        }
        cleanups = index_cleanup.pending(conn)
    database.close()
    assert kept == {
        "run:finished": (None, None, '{"session_id":"gone"}'),
        "audit": (None, None, '{"session_id":"gone"}'),
        "e2": ("gone", "new words", "{}"),
        "e3": ("kept", "kept words", "{}"),
    }
    assert [cleanup.is_merged for cleanup in cleanups] == [False], "words may still be in the search index"


def test_usage_of_an_older_run_becomes_a_sum(path: Path):
    def add_used_run(conn: Connection) -> None:
        add_run(conn)
        conn.exec_driver_sql("UPDATE runs SET usage = '{\"total_tokens\":23}'")

    make_database(path, "0012", add_used_run)

    database = Database.open(path, write=True)

    with database.writing_connection() as conn:
        assert runs.get(conn, "run_1").usage == {"sum": {"total_tokens": 23}}
    database.close()
