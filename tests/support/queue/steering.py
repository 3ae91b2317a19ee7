"""Runs that a test controls step by step, and checks of the stored data when all engines are closed."""

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
from tests.support.engines import (
    Engines,
    FinishedRun,
    Runner,
    declares,
    delta,
    done,
    message,
    read_database,
    wait_for_entry,
    wait_for_run,
)
from tests.support.limits import MAX_WAIT_SECONDS

STEERING_MANIFEST: dict[str, Any] = {
    "capabilities": {"steering": True},
    "permissions": {"history": ["page"], "artifacts": ["metadata", "read"], "events": ["page"]},
    "config": [{"name": "api_key", "type": "string"}],
}
Work = Callable[[Any], Awaitable[Any]]


class ControlledRunners:
    """Runners that wait for orders of the test if their message starts with `go`, and reply at once otherwise."""

    def __init__(self) -> None:
        self._orders: defaultdict[str, asyncio.Queue[tuple[Work, asyncio.Future[Any]]]] = defaultdict(asyncio.Queue)

    def runner(self, name: str = "controlled", **declared: Any) -> Runner:
        async def play(ctx: Any) -> AsyncIterator[Any]:
            text = ctx.input.to_text()
            if not text.startswith("go"):
                yield done(f"answer to {text}")
                return
            yield delta()
            while True:
                work, result = await self._orders[ctx.run_id].get()
                try:
                    outcome = await work(ctx)
                except AgentAPIException as refusal:
                    result.set_exception(refusal)
                    continue
                except BaseException:
                    result.cancel()
                    raise
                if isinstance(outcome, _YieldResult):
                    if outcome.result is not None:
                        yield outcome.result
                    result.set_result(None)
                    if outcome.is_last:
                        return
                elif not result.done():
                    result.set_result(outcome)

        play.__name__ = name
        return declares(**STEERING_MANIFEST | declared)(play)

    def do_next(self, run_id: str, work: Work) -> "asyncio.Future[Any]":
        """Queue work for a run. The future resolves to its result."""
        result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._orders[run_id].put_nowait((work, result))
        return result


@dataclass(frozen=True)
class _YieldResult:
    result: Any
    is_last: bool


class ControlledRun:
    """A run that a test controls."""

    def __init__(self, engine: Engine, runners: ControlledRunners, run_id: str) -> None:
        self.engine = engine
        self.run_id = run_id
        self._runners = runners

    def do(self, work: Work) -> "asyncio.Future[Any]":
        """Do work inside the run. The future resolves to its result."""
        return self._runners.do_next(self.run_id, work)

    def pull_items(self, *arguments: Any, **more: Any) -> "asyncio.Future[Any]":
        """Pull once. The future resolves to the items."""

        async def pull(ctx: Any) -> Any:
            return (await ctx.api.steering_pull(*arguments, **more)).items

        return self.do(pull)

    async def pull(self, *arguments: Any, **more: Any) -> list[str]:
        """Pull once and return the texts, after the delivery is committed."""
        items = await self.pull_items(*arguments, **more)
        await self.engine._core.host.writer.flush()
        return [item.input.to_text() for item in items]

    async def yields(self, result: Any) -> None:
        async def yield_result(ctx: Any) -> _YieldResult:
            return _YieldResult(result, is_last=False)

        await self.do(yield_result)

    async def end(self, result: Any = None) -> FinishedRun:
        """End the run with this result, or without one."""

        async def yield_result(ctx: Any) -> _YieldResult:
            return _YieldResult(result, is_last=True)

        await self.do(yield_result)
        return await self.wait_for_end()

    async def wait_for_end(self) -> FinishedRun:
        return await wait_for_run(self.engine, self.run_id)


class SteeringHarness:
    """An engine with a runner that the test controls, and shortcuts to send messages to it."""

    def __init__(self, engine: Engine, runners: ControlledRunners) -> None:
        self.engine = engine
        self.runners = runners

    async def start(self, text: str = "go", **fields: Any) -> ControlledRun:
        """Start a run and wait for its first result."""
        choice = RunOptions(runner=fields.pop("runner", "controlled"), config=fields.pop("config", {}))
        ticket = await self.engine.runs.submit(message(text, **fields), choice)
        run = ControlledRun(self.engine, self.runners, await ticket.started)
        await wait_for_entry(self.engine, run.run_id, "message.delta")
        return run

    async def send(self, text: str, *, after: bool = False, runner: str = "controlled", **fields: Any) -> Ticket:
        return await self.engine.runs.submit(message(text, **fields), RunOptions(runner=runner), after=after)

    async def send_claimed(self, *texts: str, **fields: Any) -> list[str]:
        """Send messages that the run in progress must claim. Returns their item ids."""
        tickets = [await self.send(text, **fields) for text in texts]
        assert all(ticket.claimed_by for ticket in tickets), tickets
        return [str(ticket.item_id) for ticket in tickets]

    def item(self, item_id: str | None) -> QueueItem:
        return next(item for item in queue_items(self.engine) if item.item_id == item_id)

    async def queued_texts(self, session: str = "s") -> list[str | None]:
        """Return the texts of the queued messages, in order."""
        return [item.text for item in await self.engine.queue.list(session)]


async def open_steering(engines: Engines, *others: Runner, **project: Any) -> SteeringHarness:
    runners = ControlledRunners()
    return SteeringHarness(await engines(runners.runner(), *others, **project), runners)


def queue_items(engine: Engine) -> list[QueueItem]:
    """Return all queue items, oldest first."""
    return read_database(
        engine, lambda conn: every(conn, select(tables.queue).order_by(tables.queue.c.item_id), QueueItem)
    )


def steering_log(engine: Engine, event_type: str) -> list[dict[str, Any]]:
    """Return the steering metadata in the event log for one type of event."""
    query = select(tables.events).where(tables.events.c.event_type == event_type).order_by(tables.events.c.seq)
    rows = read_database(engine, lambda conn: every(conn, query, EventRow))
    return [row.metadata["steering"] for row in rows if "steering" in row.metadata]


# Conditions and failures


async def wait_until(condition: Callable[[], Any]) -> None:
    """Run the event loop until the condition is true."""
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        while not condition():  # noqa: ASYNC110  (each turn of the loop counts)
            await asyncio.sleep(0)


@contextmanager
def writer_blocked(engine: Engine) -> Iterator[None]:
    """Block the writer meanwhile. Operations are decided afterwards, in their order."""
    released = threading.Event()
    engine._core.host.writer.submit(lambda _: released.wait(20))
    try:
        yield
    finally:
        released.set()


@contextmanager
def failing_trigger(engine: Engine, when: str, name: str = "in_the_way") -> Iterator[None]:
    """Make SQLite refuse matching statements with `not today`, by a trigger."""
    with closing(sqlite3.connect(engine.database_path, isolation_level=None)) as other:
        other.execute(f"CREATE TRIGGER {name} {when} BEGIN SELECT RAISE(ABORT, 'not today'); END")
        yield
        other.execute(f"DROP TRIGGER {name}")


# Checks of the stored data


def check_stored_data(path: Path) -> None:
    """Check a database without hosts: each message has one fate, and no journal has a gap."""
    database = Database.open(path, write=False)
    try:
        stored = database.read_now(_read_stored_data)
    finally:
        database.close()
    for run in stored.runs:
        check_journal(run, [entry for entry in stored.journal if entry["run_id"] == run.run_id])
    check_fates(stored)


@dataclass(frozen=True)
class StoredData:
    """The tables that record messages and their fates."""

    runs: list[RunRow]
    journal: list[dict[str, Any]]
    items: list[QueueItem]
    events: list[EventRow]
    lines: list[TranscriptLine]


def _read_stored_data(conn: Connection) -> StoredData:
    columns = ("run_id", "position", "type", "data", "outcome")
    rows = conn.exec_driver_sql(f"SELECT {', '.join(columns)} FROM journal ORDER BY run_id, position")
    entries = [dict(zip(columns, row, strict=True)) for row in rows]
    return StoredData(
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


def check_fates(stored: StoredData) -> None:
    """Check that each message has exactly one final fate, and one transcript line unless it was withdrawn."""
    by_event = {item.event_id: item for item in stored.items}
    assert len(by_event) == len(stored.items), "a message waits once"
    runs_of = Counter(run.event_id for run in stored.runs)
    said = Counter(line.event_id for line in stored.lines if line.role == "user")
    deleted = {event.conversation_id for event in stored.events if event.event_type == "session.deleted"}
    for event in stored.events:
        if event.event_type != "message.received" or event.conversation_id is None:
            continue
        if event.conversation_id in deleted and runs_of[event.event_id] == 0:
            dropped = [e for e in stored.events if e.event_type == "steering.dropped"]
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
        _check_records(item, stored)


def _check_records(item: QueueItem, stored: StoredData) -> None:
    """Check that the fate of an item is recorded once in the event log, and once in the journal of its run."""
    ends = {"steering.injected": Fate.INJECTED, "steering.dropped": Fate.DROPPED, "steering.withdrawn": Fate.WITHDRAWN}
    logged = [e.event_type for e in stored.events if e.event_type in ends and _source_of(e) == item.event_id]
    assert [ends[kind] for kind in logged] == [fate for fate in ends.values() if fate == item.fate], item
    recorded = [
        entry["type"]
        for entry in stored.journal
        if entry["type"] in ends and entry["data"].get("item_id") == item.item_id and entry["outcome"] is None
    ]
    if item.mode == Mode.STEER:
        assert recorded == logged, item
    else:
        assert item.fate in (Fate.OWN_RUN, Fate.DROPPED, Fate.WITHDRAWN), item
        assert recorded == [], item


def _source_of(event: EventRow) -> str | None:
    return event.metadata["steering"]["source_event_id"]
