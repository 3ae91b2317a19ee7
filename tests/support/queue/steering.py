"""A run that the test conducts step by step, and the books that must balance when all is over."""

import asyncio
import json
import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from engine.api import Engine, Fate, Mode, QueueItem, RunOptions, RunRow, Ticket
from engine.events import FINAL_FATES
from engine.events import FINAL_STATUSES as ENDED
from engine.protocol import AgentAPIException
from engine.store import tables
from engine.store.database import Database
from engine.store.event_log import EventRow
from engine.store.row_mapping import every
from engine.store.transcript import TranscriptLine
from tests.support.engines import Engines, Played, Runner, declares, delta, done, facts, message, played, until
from tests.support.limits import MAX_WAIT_SECONDS

STEERS: dict[str, Any] = {
    "capabilities": {"steering": True},
    "permissions": {"history": ["page"], "artifacts": ["metadata", "read"], "events": ["page"]},
    "config": [{"name": "api_key", "type": "string"}],
}
Work = Callable[[Any], Awaitable[Any]]


class Puppets:
    """Runners that do what a test tells them, if they are told `go …`; anything else they answer at once."""

    def __init__(self) -> None:
        self._orders: defaultdict[str, asyncio.Queue[tuple[Work, asyncio.Future[Any]]]] = defaultdict(asyncio.Queue)

    def runner(self, name: str = "puppet", **declared: Any) -> Runner:
        async def play(ctx: Any) -> AsyncIterator[Any]:
            text = ctx.input.to_text()
            if not text.startswith("go"):
                yield done(f"answer to {text}")
                return
            yield delta()
            while True:
                work, told = await self._orders[ctx.run_id].get()
                try:
                    outcome = await work(ctx)
                except AgentAPIException as refusal:
                    told.set_exception(refusal)
                    continue
                except BaseException:
                    told.cancel()
                    raise
                if isinstance(outcome, _Says):
                    if outcome.result is not None:
                        yield outcome.result
                    told.set_result(None)
                    if outcome.is_last:
                        return
                elif not told.done():
                    told.set_result(outcome)

        play.__name__ = name
        return declares(**STEERS | declared)(play)

    def tell(self, run_id: str, work: Work) -> "asyncio.Future[Any]":
        """Have a run do this next; the future gives what came of it."""
        told: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._orders[run_id].put_nowait((work, told))
        return told


@dataclass(frozen=True)
class _Says:
    result: Any
    is_last: bool


class Conducted:
    """A run that does what the test says."""

    def __init__(self, engine: Engine, puppets: Puppets, run_id: str) -> None:
        self.engine = engine
        self.run_id = run_id
        self._puppets = puppets

    def do(self, work: Work) -> "asyncio.Future[Any]":
        """Do this inside the run."""
        return self._puppets.tell(self.run_id, work)

    def pulled(self, *arguments: Any, **more: Any) -> "asyncio.Future[Any]":
        """The items of one pull."""

        async def pull(ctx: Any) -> Any:
            return (await ctx.api.steering_pull(*arguments, **more)).items

        return self.do(pull)

    async def pull(self, *arguments: Any, **more: Any) -> list[str]:
        """What one pull brought, as text; that it did is on disk by then."""
        items = await self.pulled(*arguments, **more)
        await self.engine._core.host.writer.flush()
        return [item.input.to_text() for item in items]

    async def yields(self, result: Any) -> None:
        async def say(ctx: Any) -> _Says:
            return _Says(result, is_last=False)

        await self.do(say)

    async def end(self, result: Any = None) -> Played:
        """Let it end with this result, or without a word."""

        async def say(ctx: Any) -> _Says:
            return _Says(result, is_last=True)

        await self.do(say)
        return await self.over()

    async def over(self) -> Played:
        return await played(self.engine, self.run_id)


class Talk:
    """An engine with a conducted runner, `puppet`, and a short way to speak to it."""

    def __init__(self, engine: Engine, puppets: Puppets) -> None:
        self.engine = engine
        self.puppets = puppets

    async def start(self, text: str = "go", **fields: Any) -> Conducted:
        """A run at work."""
        choice = RunOptions(runner=fields.pop("runner", "puppet"), config=fields.pop("config", {}))
        ticket = await self.engine.runs.submit(message(text, **fields), choice)
        run = Conducted(self.engine, self.puppets, await ticket.started)
        await until(self.engine, run.run_id, "message.delta")
        return run

    async def say(self, text: str, *, after: bool = False, runner: str = "puppet", **fields: Any) -> Ticket:
        return await self.engine.runs.submit(message(text, **fields), RunOptions(runner=runner), after=after)

    async def claimed(self, *texts: str, **fields: Any) -> list[str]:
        """Messages that the run at work takes in; their item ids."""
        tickets = [await self.say(text, **fields) for text in texts]
        assert all(ticket.claimed_by for ticket in tickets), tickets
        return [str(ticket.item_id) for ticket in tickets]

    def item(self, item_id: str | None) -> QueueItem:
        return next(item for item in items_of(self.engine) if item.item_id == item_id)

    async def waiting(self, session: str = "s") -> list[str | None]:
        """The texts that wait, in their order."""
        return [item.text for item in await self.engine.queue.list(session)]


async def open_talk(engines: Engines, *others: Runner, **project: Any) -> Talk:
    puppets = Puppets()
    return Talk(await engines(puppets.runner(), *others, **project), puppets)


def items_of(engine: Engine) -> list[QueueItem]:
    """All that ever waited, as it came."""
    return facts(engine, lambda conn: every(conn, select(tables.queue).order_by(tables.queue.c.item_id), QueueItem))


def log_of(engine: Engine, event_type: str) -> list[dict[str, Any]]:
    """The steering notes of the event log, for one type of event."""
    query = select(tables.events).where(tables.events.c.event_type == event_type).order_by(tables.events.c.seq)
    rows = facts(engine, lambda conn: every(conn, query, EventRow))
    return [row.metadata["steering"] for row in rows if "steering" in row.metadata]


# Getting in the way


async def comes_true(claim: Callable[[], Any]) -> None:
    """Let the loop turn until this holds."""
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        while not claim():  # noqa: ASYNC110  (a turn of the loop is just what is waited for)
            await asyncio.sleep(0)


@contextmanager
def pen_held(engine: Engine) -> Iterator[None]:
    """Nothing is written meanwhile; what is asked for is decided afterwards, in the order in which it was asked."""
    released = threading.Event()
    engine._core.host.writer.submit(lambda _: released.wait(20))
    try:
        yield
    finally:
        released.set()


@contextmanager
def trigger(engine: Engine, when: str, name: str = "in_the_way") -> Iterator[None]:
    """SQLite refuses such a statement with `not today`, as another program's trigger might."""
    with closing(sqlite3.connect(engine.database_path, isolation_level=None)) as other:
        other.execute(f"CREATE TRIGGER {name} {when} BEGIN SELECT RAISE(ABORT, 'not today'); END")
        yield
        other.execute(f"DROP TRIGGER {name}")


# The books


def check_books(path: Path) -> None:
    """What holds for every database whose hosts are gone: each message in one fate, each journal without a gap."""
    database = Database.open(path, write=False)
    try:
        books = database.read_now(_books)
    finally:
        database.close()
    for run in books.runs:
        check_journal(run, [entry for entry in books.journal if entry["run_id"] == run.run_id])
    check_fates(books)


@dataclass(frozen=True)
class Books:
    """All that the facts say of who said what and what became of it."""

    runs: list[RunRow]
    journal: list[dict[str, Any]]
    items: list[QueueItem]
    events: list[EventRow]
    lines: list[TranscriptLine]


def _books(conn: Connection) -> Books:
    columns = ("run_id", "position", "type", "data", "outcome")
    rows = conn.exec_driver_sql(f"SELECT {', '.join(columns)} FROM journal ORDER BY run_id, position")
    entries = [dict(zip(columns, row, strict=True)) for row in rows]
    return Books(
        every(conn, select(tables.runs), RunRow),
        [entry | {"data": json.loads(entry["data"])} for entry in entries],
        every(conn, select(tables.queue), QueueItem),
        every(conn, select(tables.events), EventRow),
        every(conn, select(tables.transcript), TranscriptLine),
    )


def check_journal(run: RunRow, entries: list[dict[str, Any]]) -> None:
    assert run.status in ENDED, run
    assert [entry["position"] for entry in entries] == list(range(1, len(entries) + 1)), run
    assert [entry["position"] for entry in entries if entry["type"] == "run.finished"] == [len(entries)], run


def check_fates(books: Books) -> None:
    """Injected, dropped, withdrawn or a run of its own: never two, never none; and said once, or not at all."""
    by_event = {item.event_id: item for item in books.items}
    assert len(by_event) == len(books.items), "a message waits once"
    runs_of = Counter(run.event_id for run in books.runs)
    said = Counter(line.event_id for line in books.lines if line.role == "user")
    deleted = {event.conversation_id for event in books.events if event.event_type == "session.deleted"}
    for event in books.events:
        if event.event_type != "message.received" or event.conversation_id is None:
            continue
        if event.conversation_id in deleted and runs_of[event.event_id] == 0:
            dropped = [e for e in books.events if e.event_type == "steering.dropped"]
            assert sum(_source_of(e) == event.event_id for e in dropped) <= 1, event
            continue
        item = by_event.get(event.event_id)
        if item is None:
            assert (runs_of[event.event_id], said[event.event_id]) == (1, 1), event
            continue
        assert item.fate in FINAL_FATES, item
        assert item.decided_at is not None, item
        assert runs_of[event.event_id] == (item.fate == Fate.OWN_RUN), item
        assert said[event.event_id] == (item.fate != Fate.WITHDRAWN), item
        _check_notes(item, books)


def _check_notes(item: QueueItem, books: Books) -> None:
    """The end of every item is noted once in the log, and once in the journal of the run that had it."""
    ends = {"steering.injected": Fate.INJECTED, "steering.dropped": Fate.DROPPED, "steering.withdrawn": Fate.WITHDRAWN}
    logged = [e.event_type for e in books.events if e.event_type in ends and _source_of(e) == item.event_id]
    assert [ends[kind] for kind in logged] == [fate for fate in ends.values() if fate == item.fate], item
    noted = [
        entry["type"]
        for entry in books.journal
        if entry["type"] in ends and entry["data"].get("item_id") == item.item_id and entry["outcome"] is None
    ]
    if item.mode == Mode.STEER:
        assert noted == logged, item
    else:
        assert item.fate in (Fate.OWN_RUN, Fate.DROPPED, Fate.WITHDRAWN), item
        assert noted == [], item


def _source_of(event: EventRow) -> str | None:
    return event.metadata["steering"]["source_event_id"]
