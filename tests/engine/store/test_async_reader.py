"""Short reads on the persistent connection: the same results as on any other, and errors of ours."""

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from engine.events import Fate
from engine.store import entries, event_log, queue, runs, state, transcript
from engine.store.async_reader import Query
from engine.store.database import Database
from engine.store.errors import StoreError
from engine.store.event_log import EventRow
from engine.store.row_mapping import ConversationKey
from engine.store.scope_identity import Scope, ScopeIdentity
from engine.store.state import ChangeOrigin
from tests.support.store_samples import entry, queue_item, run_row, text_line, write_entries

CONVERSATION, THREAD = ConversationKey("talk"), ConversationKey("talk", "thread")
SCOPE = ScopeIdentity(scope=Scope.CONVERSATION, runner_id="r", binding_id="b", conversation_id="talk")


def fill(conn: Connection) -> None:
    conn.exec_driver_sql("BEGIN IMMEDIATE")
    write_entries(conn, *(entry(position) for position in range(1, 8)))
    runs.create(conn, run_row("run_a", metadata={"a": [1]}, usage={"tokens": 3}))
    for number, place in enumerate((CONVERSATION, THREAD, CONVERSATION, CONVERSATION)):
        transcript.append(conn, text_line(number, f"line {number}", place, metadata={"n": number}))
        parts: dict[str, Any] = {**place.parameters()}
        row = EventRow(event_id=f"e{number}", event_type="x", source="host", created_at=number, **parts)
        event_log.append(conn, row)
    for name, more in {"a": {}, "b": {"fate": Fate.PAUSED, "run_id": "run_a"}, "c": {"fate": Fate.DROPPED}}.items():
        queue.add(conn, queue_item(name, **more))
    state.put(conn, SCOPE, "mood", {"calm": True}, ChangeOrigin(editor="runner", at=1))
    conn.exec_driver_sql("COMMIT")


async def test_results_are_those_of_a_pooled_connection(database: Database, conn: Connection):
    fill(conn)

    for edge in ({}, {"after": 3}, {"before": 5, "limit": 2}):
        found = await database.fetch(entries.page_query("run_a", **edge))
        assert found == entries.page(conn, "run_a", **edge) != []
    assert await database.fetch(entries.since_query(2, 3)) == entries.since(conn, 2, 3)
    assert await database.fetch(entries.LAST_ROW) == entries.last_row(conn) == 7
    assert await database.fetch(runs.exact_query("run_a")) == [runs.get(conn, "run_a")]
    assert await database.fetch(runs.exact_query("run")) == []
    assert [one.item_id for one in await database.fetch(queue.waiting_query(conversation_id="talk"))] == ["a", "b"]
    assert [one.item_id for one in await database.fetch(queue.waiting_query(run_id="run_a"))] == ["b"]
    assert await database.fetch(queue.waiting_query()) == queue.waiting(conn)
    assert await database.fetch(state.get_query(SCOPE, "mood")) == {"calm": True}
    assert await database.fetch(state.get_query(SCOPE, "nothing")) is None
    assert [row.event_id for row in await database.fetch(event_log.page_query(CONVERSATION, limit=2))] == ["e3", "e2"]
    assert [row.event_id for row in await database.fetch(event_log.page_query(THREAD))] == ["e1"]


@pytest.mark.parametrize(
    ("edges", "lines"),
    [
        ({}, ["line 3", "line 2", "line 0"]),
        ({"after": 1}, ["line 2", "line 3"]),
        ({"before": 4}, ["line 2", "line 0"]),
        ({"after": 1, "before": 4}, ["line 2"]),
        ({"oldest_first": True, "limit": 2}, ["line 0", "line 2"]),
    ],
)
async def test_history_pages_keep_their_edges_and_order(
    database: Database, conn: Connection, edges: dict[str, Any], lines: list[str]
):
    fill(conn)

    found = await database.fetch(transcript.page_query(CONVERSATION, **edges))

    assert [line.content for line in found] == lines
    assert found[0].metadata == {"n": int(lines[0][-1])}


async def test_many_reads_at_once_open_one_connection(database: Database):
    before = threading.active_count()

    found = await asyncio.gather(*(database.fetch(entries.LAST_ROW) for _ in range(50)))

    assert found == [0] * 50
    assert threading.active_count() == before + 1


async def test_read_sees_what_was_committed_before_it(database: Database, conn: Connection):
    assert await database.fetch(entries.LAST_ROW) == 0
    write_entries(conn, entry(1))
    assert await database.fetch(entries.LAST_ROW) == 1


async def test_a_reader_that_writes_gets_an_error_of_ours(database: Database):
    with pytest.raises(StoreError, match="cannot be written"):
        await database.fetch(Query("DELETE FROM journal", (), list))


async def test_closed_database_is_not_opened_again(path: Path):
    database = Database.open(path, write=True)
    await database.fetch(entries.LAST_ROW)
    database.close()

    with pytest.raises(StoreError, match="is closed"):
        await database.fetch(entries.LAST_ROW)


def test_opening_a_database_does_not_load_aiosqlite(path: Path):
    code = (
        "import sys, pathlib; from engine.api import Engine; from engine.store.database import Database;"
        "Database.open(pathlib.Path(sys.argv[1]), write=True).close(); print('aiosqlite' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
