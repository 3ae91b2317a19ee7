"""Databases as older versions of Trackside left them, made with their migrations and filled with rows of every kind."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, create_engine

from engine.store import migrations, search_index
from engine.store.database import connect

OLDER_VERSIONS: Final = tuple(f"{number:04}" for number in range(1, 13))
RENAMED_IN: Final = "0004"
SETTINGS_SINCE: Final = "0003"
INDEXED_SINCE: Final = "0010"
CREATED_SINCE: Final = "0011"
Fill = Callable[[Connection], None]

RUNS: Final = 4
"""The last of them was left open by a host that is gone."""
ENTRIES_PER_RUN: Final = 30
TEXT: Final = "the train at midnight, 今天天气很好"
AUTHORIZATION: Final = json.dumps({"apis": {f"call_{number}": {"allowed": True} for number in range(20)}})


def make_database(path: Path, revision: str, fill: Fill) -> None:
    """Make a database as the Trackside of this revision left it: closed, in WAL mode."""
    engine = create_engine("sqlite+pysqlite://", creator=lambda: _connect(path))
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent).replace("%", "%%"))
    with engine.connect() as conn:
        conn.exec_driver_sql("PRAGMA journal_mode = WAL")
        conn.exec_driver_sql("BEGIN")
        config.attributes["connection"] = conn
        command.upgrade(config, revision)
        fill(conn)
        conn.exec_driver_sql("COMMIT")
    engine.dispose()


def _connect(path: Path) -> sqlite3.Connection:
    path.touch()
    return connect(path, "rw", 0)


def old_rows(revision: str, *, runs: int = RUNS, entries: int = ENTRIES_PER_RUN, lines: int = 100) -> Fill:
    """Return a function that adds rows of every kind, as this version wrote them. Each run has that many entries."""

    def fill(conn: Connection) -> None:
        _add_sessions_and_runs(conn, revision, runs, entries)
        add_lines(conn, lines, is_indexed=revision >= INDEXED_SINCE)
        _add_other_rows(conn, revision)

    return fill


def _add_sessions_and_runs(conn: Connection, revision: str, runs: int, entries: int) -> None:
    user = "user" if revision >= RENAMED_IN else "person"
    conn.exec_driver_sql(
        "INSERT INTO hosts (host_id, pid, lock_file, started_at, version)"
        " VALUES ('host_gone', 4242, 'facts.db.host-host_gone.lock', 1, '0.1')"
    )
    conn.exec_driver_sql(
        "INSERT INTO sessions (session_id, root_session_id, depth, created_at, last_active, message_count, metadata)"
        " VALUES ('talk', 'talk', 0, 1, 1, ?, '{}')",
        (runs + 1,),
    )
    for number in range(1, runs + 1):
        is_open = number == runs
        conn.exec_driver_sql(
            "INSERT INTO runs (run_id, event_id, runner_id, host, conversation_id, status, status_reason, created_at,"
            " started_at, finished_at, updated_at, usage, authorization, metadata)"
            " VALUES (?, ?, 'plugin:a/b/c', 'host_gone', 'talk', ?, ?, ?, ?, ?, ?, ?, ?, '{}')",
            (f"run_{number}", f"event_{number}", "running" if is_open else "completed", None if is_open else "stop",
             number, number, None if is_open else number + 1, number, None if is_open else '{"total_tokens":7}',
             AUTHORIZATION),
        )  # fmt: skip
        conn.exec_driver_sql(
            "INSERT INTO journal (run_id, position, at, source, type, data, turn) VALUES (?, ?, ?, ?, ?, ?, 1)",
            [_entry(f"run_{number}", position, user) for position in range(1, entries + 1)],
        )


def _entry(run_id: str, position: int, user: str) -> tuple[str, int, int, str, str, str]:
    data = json.dumps({"chunk": {"content": f"{TEXT} {position}"}}, ensure_ascii=False)
    source, kind = ("runner", "message.delta") if position % 3 else (user, "cancel.requested")
    return run_id, position, position, source, kind, data


def add_lines(conn: Connection, count: int, *, is_indexed: bool = False) -> None:
    """Add lines of one session to the transcript."""
    conn.exec_driver_sql(
        "INSERT INTO transcript (transcript_id, conversation_id, role, item_type, content, artifact_refs, created_at,"
        " metadata) VALUES (?, 'talk', 'user', 'message', ?, '[]', ?, '{}')",
        [(f"line_{number}", f"{TEXT} {number}", number) for number in range(count)],
    )
    if is_indexed:
        conn.exec_driver_sql("INSERT INTO search_backlog VALUES (0)")
        for _ in search_index.index_backlog(conn):
            pass


def _add_other_rows(conn: Connection, revision: str) -> None:
    user = "user" if revision >= RENAMED_IN else "person"
    created, now = (", created_at", ", 1") if revision >= CREATED_SINCE else ("", "")
    for statement in (
        "INSERT INTO events (event_id, event_type, source, conversation_id, input_summary, created_at, metadata)"
        " VALUES ('event_1', 'message.received', 'console', 'talk', 'hello', 1, '{}')",
        "INSERT INTO artifact_blobs (blob_key, content) VALUES ('blob', x'0001fe')",
        "INSERT INTO artifacts (artifact_id, artifact_type, storage, source, conversation_id, run_id, created_at,"
        " blob_key, metadata) VALUES ('art_1', 'file', 'blob', 'runner', 'talk', 'run_1', 1, 'blob', '{}')",
        "INSERT INTO state (scope_key, state_key, value, scope, runner_id, binding_id, conversation_id, updated_at"
        f"{created}) VALUES ('scope', 'key', '\"é\"', 'conversation', 'plugin:a/b/c', 'b', 'talk', 1{now})",
        "INSERT INTO state_changes (scope_key, state_key, value, conversation_id, journal_row, editor, at)"
        f" VALUES ('scope', 'key', '\"é\"', 'talk', 1, '{user}', 1)",
        "INSERT INTO queue (item_id, event_id, conversation_id, mode, place, fate, envelope, text, created_at,"
        " metadata) VALUES ('item_1', 'event_9', 'talk', 'steer', 1, 'injected', '{}', 'faster', 1, '{}')",
        "INSERT INTO storage (owner, \"key\", value, updated_at) VALUES ('plugin:a/b/c', 'key', x'00ff', 1)",
    ):
        conn.exec_driver_sql(statement)
    if revision >= SETTINGS_SINCE:
        conn.exec_driver_sql("INSERT INTO settings (binding_id, path, value, updated_at) VALUES ('b', 'p', '{}', 1)")


def contents(path: Path) -> list[str]:
    """Return the schema and all rows of a database as text, with those of SQLite's tables behind the search index."""
    has_log = path.with_name(f"{path.name}-wal").exists()
    # Without a log the file is complete, and SQLite need not create files beside it.
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro{'' if has_log else '&immutable=1'}", uri=True)) as driver:
        tables = driver.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'virtual'")
        rows = (
            f"{name}: {row!r}" for (name,) in tables.fetchall() for row in driver.execute(f'SELECT * FROM "{name}"')
        )
        return sorted(rows)  # `sqlite_schema` is one of the tables
