"""Shared by all tests: a fake clock, counting ids, engines on real SQLite, sample events and results, runs to read.

async def test_…(open_engine):
    async def greets(ctx):
        yield said("hello")

    engine = await open_engine(greets)
    run = await perform(engine, "hi")

    assert run.row.status == "completed"
    assert run.texts("message.completed") …
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from sqlalchemy import Connection, select

from console.testing.clock_and_ids import START as START
from console.testing.clock_and_ids import CountingIds, FakeClock
from engine.api import Engine, EventEnvelope, RunOptions, RunRow
from engine.resources.catalog import Catalog
from engine.runtimes.inprocess import InProcessRuntime
from engine.runtimes.runtime import Runtime
from engine.store import entries, tables
from engine.store.database import Database
from engine.store.event_log import EventRow
from engine.store.row_mapping import every
from tests.support.limits import MAX_WAIT_SECONDS

T = TypeVar("T")
Runner = Callable[..., AsyncIterator[Any]]

# Runners


def declares(
    *,
    capabilities: Mapping[str, bool] | None = None,
    permissions: Mapping[str, list[str]] | None = None,
    config: list[dict[str, Any]] | None = None,
) -> Callable[[Runner], Runner]:
    """Declare the manifest of a runner that is defined in a test. Undeclared capabilities and permissions are off."""

    def declare(runner: Runner) -> Runner:
        runner.declared = {"capabilities": capabilities, "permissions": permissions, "config": config}  # type: ignore[attr-defined]
        return runner

    return declare


def write_runner(folder: Path, runner: Runner) -> Path:
    """Write the file that discovery finds for a runner that is a function of the test."""
    declared: dict[str, Any] = getattr(runner, "declared", {})
    lines = [f"{name} = {value!r}" for name, value in declared.items() if value is not None]
    path = folder / f"{runner.__name__}.py"
    path.write_text("\n".join([*lines, "async def run(ctx):", "    yield", ""]))
    return path


@cache
def _empty_database() -> bytes:
    with TemporaryDirectory(prefix="trackside-empty-") as folder:
        path = Path(folder) / "empty.db"
        Database.open(path, write=True).close()
        return path.read_bytes()


def copy_empty_database(path: Path) -> None:
    """Make a new database at `path` from a copy, which takes 1 ms; creating its tables takes 15."""
    path.write_bytes(_empty_database())


class Engines:
    """Opens engines on one database in the test's folder, and closes those still open at the end of the test."""

    def __init__(self, root: Path, clock: FakeClock, ids: CountingIds | None = None) -> None:
        self.folder = root / "project"
        self.folder.mkdir(exist_ok=True)
        self.db = root / "facts.db"
        self.clock = clock
        self.ids = ids or CountingIds()
        self._runners: dict[str, Runner] = {}
        self._open: list[Engine] = []

    async def __call__(
        self,
        *runners: Runner,
        mode: Any = "host",
        state: Any = "database",
        catalog: Catalog | None = None,
        runtime: Callable[[Mapping[str, Runner]], Runtime] = InProcessRuntime,
        **project: Any,
    ) -> Engine:
        """Open an engine. `project` is the content of trackside.yaml, such as `agents=[…]`."""
        for runner in runners:
            self._runners[runner.__name__] = runner
            write_runner(self.folder, runner)
        if project or not (self.folder / "trackside.yaml").exists():
            (self.folder / "trackside.yaml").write_text(json.dumps(project))
        if mode == "host" and self.db.parent.is_dir() and not self.db.exists():
            copy_empty_database(self.db)
        engine = await Engine.open(
            self.folder,
            db=self.db,
            mode=mode,
            runtime=runtime(self._runners),
            clock=self.clock,
            ids=self.ids,
            catalog=catalog,
            state=state,
        )
        self._open.append(engine)
        return engine

    async def close(self, engine: Engine) -> None:
        """Close an engine before the end of the test."""
        self._open.remove(engine)
        await engine.close()

    async def close_all(self) -> None:
        while self._open:
            await self.close(self._open[-1])


# Events

_events = count(1)


def event(event_type: str = "message.received", **fields: Any) -> EventEnvelope:
    """Make an event from a platform. Every field can be set."""
    given = {"event_id": f"event-{next(_events)}", "event_type": event_type, "source": "platform"} | fields
    return EventEnvelope.model_validate(given)


def message(text: str = "hi", session: str | None = "s", **fields: Any) -> EventEnvelope:
    """Make a message that a user sends to a session."""
    given = {"conversation_id": session, "input": {"text": text}, "actor": {"actor_type": "user", "actor_id": "ann"}}
    return event("message.received", **given | fields)


# Results


def delta(content: Any = None, **chunk: Any) -> dict[str, Any]:
    return {"type": "message.delta", "data": {"chunk": {"role": "assistant", "content": content} | chunk}}


def said(content: Any, **message: Any) -> dict[str, Any]:
    return {"type": "message.completed", "data": {"message": {"role": "assistant", "content": content} | message}}


def done(content: Any = None, reason: str = "stop") -> dict[str, Any]:
    message = {} if content is None else {"message": {"role": "assistant", "content": content}}
    return {"type": "run.completed", "data": {"finish_reason": reason} | message}


def failed(error: str = "no", **data: Any) -> dict[str, Any]:
    return {"type": "run.failed", "data": {"error": error} | data}


def artifact_created(artifact_type: str = "file", **data: Any) -> dict[str, Any]:
    return {"type": "artifact.created", "data": {"artifact_type": artifact_type} | data}


def state_updated(key: str, value: Any, scope: str = "conversation") -> dict[str, Any]:
    return {"type": "state.updated", "data": {"scope": scope, "key": key, "value": value}}


# Runs


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """An entry of the journal with its data decoded."""

    position: int
    source: str
    type: str
    data: Any
    outcome: str | None
    reason: str | None
    sequence: int | None
    turn: int
    usage: Any = None


async def journal_of(engine: Engine, run_id: str) -> list[JournalEntry]:
    """Read the whole journal of a run."""
    return [
        JournalEntry(
            *(e.position, e.source, e.type, json.loads(e.data), e.outcome, e.reason, e.sequence, e.turn),
            usage=None if e.usage is None else json.loads(e.usage),
        )
        async for e in engine.runs.entries(run_id)
    ]


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run that has ended."""

    row: RunRow
    journal: list[JournalEntry] = field(repr=False)

    @property
    def run_id(self) -> str:
        return self.row.run_id

    @property
    def types(self) -> list[str]:
        return [entry.type for entry in self.journal]

    def all(self, kind: str) -> list[JournalEntry]:
        return [entry for entry in self.journal if entry.type == kind]

    def one(self, kind: str) -> JournalEntry:
        """Return the only entry of a type."""
        (entry,) = self.all(kind)
        return entry

    def frames(self, call_id: str = "c1") -> list[dict[str, Any]]:
        """Return the frames of a streamed reply."""
        groups = (entry.data["frames"] for entry in self.all("call.streamed") if entry.data["call_id"] == call_id)
        return [frame for group in groups for _, frame in group]

    @property
    def context(self) -> dict[str, Any]:
        """The context that the runner received."""
        return self.one("run.started").data["context"]

    @property
    def finished(self) -> dict[str, Any]:
        return self.one("run.finished").data

    @property
    def warnings(self) -> list[str]:
        return [entry.data["message"] for entry in self.all("warning")]


async def send(engine: Engine, what: EventEnvelope | str = "hi", **choice: Any) -> str:
    """Submit an event. Returns the id of its run once that has started."""
    ticket = await engine.runs.submit(message(what) if isinstance(what, str) else what, RunOptions(**choice))
    return await ticket.started


async def wait_for_run(engine: Engine, run_id: str) -> FinishedRun:
    """Wait for the end of a run and read it."""
    return FinishedRun(await engine.runs.wait_for_end(run_id), await journal_of(engine, run_id))


async def run_event(engine: Engine, what: EventEnvelope | str = "hi", **choice: Any) -> FinishedRun:
    """Submit an event and wait for the end of its run."""
    return await wait_for_run(engine, await send(engine, what, **choice))


async def wait_for_entry(engine: Engine, run_id: str, kind: str) -> JournalEntry:
    """Wait until a run's first entry of a type is on disk."""
    async with asyncio.timeout(MAX_WAIT_SECONDS), engine.subscribe(run_id=run_id) as news:
        async for batch in news:
            for announced in batch:
                if announced.entry.type == kind:
                    found = [entry for entry in await journal_of(engine, run_id) if entry.type == kind]
                    return found[0]
    raise AssertionError(f"the engine was closed before {kind} came")


async def lines_of(engine: Engine, session: str = "s") -> list[tuple[str, str | None]]:
    """Return role and text of a conversation's lines, oldest first."""
    return [(line.role, line.content) for line in await engine.sessions.transcript(session, after=0)]


def read_database(engine: Engine, query: Callable[[Connection], T]) -> T:
    """Read the database directly, without the engine."""
    database = Database.open(engine.database_path, write=False)
    try:
        return database.read_now(query)
    finally:
        database.close()


def journal_bytes(engine: Engine, run: FinishedRun) -> int:
    """Count the stored journal of a run entry by entry."""
    found = read_database(engine, lambda conn: entries.page(conn, run.run_id, limit=100_000))
    return sum(len(each.data.encode()) + len((each.usage or "").encode()) + entries.ROW_BYTES for each in found)


def events_of(engine: Engine, event_type: str) -> list[EventRow]:
    """Return the rows of one type in the event log, oldest first."""
    query = select(tables.events).where(tables.events.c.event_type == event_type).order_by(tables.events.c.seq)
    return read_database(engine, lambda conn: every(conn, query, EventRow))


class ScriptRunner:
    """An engine with one runner, which yields the results that the test gives."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.script: list[Any] = []

    async def __call__(self, *results: Any, event: EventEnvelope | str = "hi", **choice: Any) -> FinishedRun:
        """Run an event with these results and return the run."""
        self.script[:] = results
        return await run_event(self.engine, event, **choice)


async def open_script_runner(engines: Engines, **project: Any) -> ScriptRunner:
    script: list[Any] = []

    async def play(ctx: Any) -> AsyncIterator[Any]:
        for result in tuple(script):
            yield result

    runner = ScriptRunner(await engines(play, **project))
    runner.script = script
    return runner


async def wait_forever() -> None:
    """Wait until cancelled."""
    await asyncio.Event().wait()


async def waits(ctx: Any) -> AsyncIterator[Any]:
    """A runner that sends one delta and waits until it is stopped."""
    yield delta("…")
    await wait_forever()
