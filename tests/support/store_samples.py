"""Sample rows for tests of the store, and a writer whose callbacks are recorded."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from engine.events import Mode
from engine.store import entries as journal
from engine.store import search, search_index, tables, tokenizer
from engine.store.database import Database
from engine.store.entries import Entry
from engine.store.errors import StoreError
from engine.store.queue import QueueItem
from engine.store.row_mapping import ConversationKey
from engine.store.runs import RunRow
from engine.store.transcript import TranscriptLine
from engine.store.writer import Writer
from tests.support.limits import MAX_WAIT_SECONDS

CONVERSATION = ConversationKey("talk")


def entry(position: int, run_id: str = "run_a", *, data: str = "{}", kind: str = "message.delta") -> Entry:
    return Entry(run_id, position, 1_700_000_000_000_000 + position, "runner", kind, data)


def write_entries(conn: Connection, *entries: Entry) -> None:
    """Insert entries without a writer."""
    for statement, parameters, _ in journal.inserts(entries):
        conn.exec_driver_sql(statement, parameters)


def run_row(run_id: str, *, at: int = 1, **more: Any) -> RunRow:
    return RunRow(run_id=run_id, runner_id="plugin:a/b/c", created_at=at, updated_at=at, **more)


def queue_item(item_id: str, **more: Any) -> QueueItem:
    return QueueItem(
        **{"item_id": item_id, "event_id": f"e_{item_id}", "mode": Mode.SLOT, "created_at": 1, "envelope": {}}
        | {"conversation_id": "talk"}
        | more
    )


def numbered_line(conversation_id: str, number: int, *, at: int = 1, run_id: str | None = None) -> TranscriptLine:
    return TranscriptLine(
        transcript_id=f"{conversation_id}_{number}",
        conversation_id=conversation_id,
        role="user",
        content=str(number),
        created_at=at,
        run_id=run_id,
    )


def text_line(number: int, content: str | None, place: ConversationKey = CONVERSATION, **more: Any) -> TranscriptLine:
    return TranscriptLine(
        **{
            "transcript_id": f"line_{number}",
            "conversation_id": place.conversation_id,
            "thread_id": place.thread_id,
            "bot_id": place.bot_id,
            "workspace_id": place.workspace_id,
            "role": "user",
            "created_at": number,
            "content": content,
        }
        | more
    )


def find_texts(
    conn: Connection, query: str, place: ConversationKey | None = CONVERSATION, **more: Any
) -> list[str | None]:
    lines, total = search.find(conn, query, place, **more)
    assert total >= len(lines)
    return [line.content for line in lines]


def is_index_consistent(conn: Connection) -> bool:
    """Check the indexes with SQLite's integrity check, and that they have exactly the terms and words of the lines."""
    for name in tables.SEARCH_INDEXES:
        conn.exec_driver_sql(f"INSERT INTO {name} ({name}) VALUES ('integrity-check')")
    lines = conn.execute(select(tables.transcript)).mappings().all()
    place = ("conversation_id", "thread_id", "bot_id", "workspace_id", "role", "item_type", "content")
    expected = {line["seq"]: search_index.line_terms(*(line[name] for name in place)) for line in lines}
    words = {word for line in lines for word in tokenizer.split(line["content"] or "").words}
    known = dict(conn.exec_driver_sql("SELECT word, is_unchecked FROM search_words").all())
    return (
        indexed_terms(conn) == {seq: terms for seq, terms in expected.items() if terms}
        and words <= set(known)
        and all(is_unchecked for word, is_unchecked in known.items() if word not in words)
    )


def indexed_terms(conn: Connection) -> dict[int, str]:
    """The terms that the index has of each line, in order."""
    conn.exec_driver_sql(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.indexed USING fts5vocab(main, transcript_search, instance)"
    )
    found: dict[int, list[str]] = {}
    for doc, term in conn.exec_driver_sql('SELECT doc, term FROM temp.indexed ORDER BY doc, "offset"'):
        found.setdefault(doc, []).append(term)
    return {doc: " ".join(terms) for doc, terms in found.items()}


def schema(path: Path) -> dict[str, str]:
    """Return every object of a database as SQLite keeps it, without the spaces. Alembic's table is left out."""
    with closing(sqlite3.connect(path)) as driver:
        rows = driver.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name <> 'alembic_version'")
        return {name: "".join(sql.split()) for name, sql in rows}


@dataclass
class RecordedCallbacks:
    """The entries that a writer announced, and the failures that it reported."""

    announced: list[tuple[int, list[Entry]]] = field(default_factory=list)
    failed: list[StoreError] = field(default_factory=list)

    @property
    def entries(self) -> list[Entry]:
        return [each for _, group in self.announced for each in group]


def make_writer(
    database: Database, callbacks: RecordedCallbacks, connect: Callable[[], Connection] | None = None, **more: Any
) -> Writer:
    return Writer(
        connect or database.writing_connection,
        database.path,
        on_committed=lambda row, entries: callbacks.announced.append((row, entries)),
        on_failure=callbacks.failed.append,
        **more,
    )


async def wait_until(condition: Callable[[], bool]) -> None:
    """Run the event loop until the condition is true."""
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        while not condition():  # noqa: ASYNC110  (the writer has no event to wait for)
            await asyncio.sleep(0)
