"""Data of the run's own conversation and of foreign ones, and a harness that makes calls from inside a run.

A place is a conversation key: conversation, thread, bot and workspace.
"""

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from engine.api import Engine, EventEnvelope
from engine.protocol import AgentAPIException
from engine.protocol.errors import AgentAPIError
from engine.store import artifacts, tables
from engine.store.artifacts import ArtifactRow, Storage
from engine.store.row_mapping import ConversationKey
from tests.support.engines import (
    START,
    Engines,
    FinishedRun,
    JournalEntry,
    declares,
    done,
    journal_of,
    message,
    read_database,
    run_event,
)

FOREIGN_TEXT = "walnut-42"
"""Part of all foreign data. A reply that contains it has revealed something that the run may not read."""
OWN_PLACE = ConversationKey("ours", "t1", "b1", "w1")
FOREIGN_PLACES = {
    "conversation": replace(OWN_PLACE, conversation_id="theirs"),
    "thread": replace(OWN_PLACE, thread_id="t2"),
    "no thread": replace(OWN_PLACE, thread_id=None),
    "bot": replace(OWN_PLACE, bot_id="b2"),
    "workspace": replace(OWN_PLACE, workspace_id="w2"),
}
FULL_MANIFEST: dict[str, Any] = {
    "capabilities": {"tool_calling": True, "knowledge_retrieval": True, "steering": True},
    "permissions": {
        "models": ["invoke", "stream", "rerank"],
        "tools": ["detail", "call"],
        "knowledge_bases": ["list", "retrieve"],
        "history": ["page", "search"],
        "events": ["get", "page"],
        "artifacts": ["metadata", "read"],
        "storage": ["plugin", "workspace"],
        "files": ["config"],
    },
    "config": [
        {"name": "model", "type": "llm-model-selector"},
        {"name": "rerank", "type": "rerank-model-selector"},
        {"name": "files", "type": "array[file]"},
        {"name": "prompt", "type": "prompt-editor"},
        {"name": "api_key", "type": "string"},
    ],
}
POLICY: dict[str, Any] = {
    "allowed_tool_names": ["weather"],
    "allowed_kb_uuids": ["notes"],
    "allow_workspace_storage": True,
}
RESOURCES: dict[str, Any] = {
    "models": [
        {"id": "m", "kind": "scripted", "otherwise": {"text": "sunny today", "usage": {"total_tokens": 7}}},
        {"id": "m2", "kind": "scripted", "otherwise": {"text": FOREIGN_TEXT}},
        {"id": "rank", "kind": "scripted", "type": "rerank"},
    ],
    "tools": [
        {"name": "weather", "kind": "scripted", "description": "The sky.", "otherwise": {"result": {"sky": "blue"}}},
        {"name": "launch", "kind": "scripted", "otherwise": {"result": FOREIGN_TEXT}},
    ],
    "knowledge_bases": [
        {"id": "notes", "kind": "scripted", "documents": [{"id": "d", "text": "bring an umbrella"}]},
        {"id": "secrets", "kind": "scripted", "documents": [{"text": FOREIGN_TEXT}]},
    ],
    "file_roots": ["files"],
}

Work = Callable[[Any], Awaitable[Any]]
_numbers = count(1)


@dataclass(frozen=True)
class CallOutcome:
    """The result or the error of calls inside a run, and the run, which continued afterwards."""

    value: Any
    error: AgentAPIError | None
    run: FinishedRun

    @property
    def decision(self) -> JournalEntry:
        """The last decision of the gate before the final `run_get`."""
        return [entry for entry in self.run.all("call.decided") if entry.data["call_id"] != self._final_call][-1]

    @property
    def reply(self) -> JournalEntry:
        return [entry for entry in self.run.all("call.replied") if entry.data["call_id"] != self._final_call][-1]

    @property
    def _final_call(self) -> str:
        return self.run.all("call.requested")[-1].data["call_id"]


class AccessHarness:
    """An engine whose runners `asks` and `other` do what a test passes to them."""

    def __init__(self, engines: Engines) -> None:
        self.engines = engines
        self.clock = engines.clock
        self.files = engines.folder / "files"
        self._works: dict[str, Work] = {}
        self._outcomes: dict[str, tuple[Any, AgentAPIError | None]] = {}
        self.resources = RESOURCES
        self.claim: dict[str, Any] | None = None
        """The usage that the last result of a run claims."""
        self.engine: Engine

    async def open(self, **changes: Any) -> "AccessHarness":
        """Open the engine. `changes` are keys of the agent `asks`, such as `state={…}`."""
        self.files.mkdir(exist_ok=True)
        config = {"model": "m", "rerank": "rank", "files": ["notes.txt", "../outside.txt"], "prompt": "Be kind."}
        agent = {"id": "asks", "runner": "asks", "config": config, "resources": POLICY}
        agent |= {"state": {"state_scopes": ["conversation", "actor", "subject"]}} | changes
        other = {"id": "other", "runner": "other", "config": config, "resources": POLICY}
        runners = [self._runner("asks"), self._runner("other")]
        self.engine = await self.engines(*runners, agents=[agent, other], **RESOURCES | self.resources)
        return self

    def _runner(self, name: str) -> Any:
        async def run(ctx: Any) -> AsyncIterator[Any]:
            value = error = None
            try:
                value = await self._works[ctx.event.event_id](ctx)
            except AgentAPIException as refusal:
                error = refusal.error
            self._outcomes[ctx.event.event_id] = value, error
            await ctx.api.run_get()  # the run continues, even if a call was refused
            yield done("still here") | {"usage": self.claim}

        run.__name__ = name
        return declares(**FULL_MANIFEST)(run)

    async def try_in_run(self, work: Work, event: EventEnvelope | None = None, runner: str = "asks") -> CallOutcome:
        """Run `work` inside a run, by default one of the run's own place. Returns its result or its error."""
        event = event or own_message("please")
        self._works[event.event_id] = work
        run = await run_event(self.engine, event, runner=runner)
        assert event.event_id in self._outcomes, run.finished
        value, error = self._outcomes[event.event_id]
        assert run.row.status == "completed", run.finished
        return CallOutcome(value, error, run)

    async def do_in_run(self, work: Work, event: EventEnvelope | None = None, runner: str = "asks") -> Any:
        """Run `work` like `try_in_run`, and return its result. Fails if a call was refused."""
        outcome = await self.try_in_run(work, event, runner)
        assert outcome.error is None, outcome.error
        return outcome.value

    def write(self, operation: Callable[[Connection], Any]) -> Awaitable[Any]:
        """Write to the database directly, also what no runner could write."""
        return self.engine._core.edit(lambda tx: operation(tx.connection))

    async def store_artifact(
        self, artifact_id: str, content: bytes = b"content", place: ConversationKey = OWN_PLACE, **row: Any
    ) -> None:
        made = ArtifactRow(
            **{"artifact_id": artifact_id, "artifact_type": "file", "storage": Storage.BLOB, "source": "runner"}
            | {"created_at": START, **place_fields(place)}
            | row
        )
        await self.write(lambda conn: artifacts.register(conn, made, content))

    def digest_foreign_data(self) -> str:
        """Return a digest of all foreign data, which must be the same before and after an attack."""
        return read_database(self.engine, _foreign)


def own_message(text: str = "hi", place: ConversationKey = OWN_PLACE, **fields: Any) -> EventEnvelope:
    """Make a message in a place, by default the run's own."""
    given = place_fields(place)
    return message(text, given.pop("conversation_id"), **{**given, "event_id": f"said-{next(_numbers)}"} | fields)


def place_fields(place: ConversationKey) -> dict[str, Any]:
    return {name: getattr(place, name) for name in ("conversation_id", "thread_id", "bot_id", "workspace_id")}


async def add_foreign_conversation(harness: AccessHarness, place: ConversationKey, name: str) -> dict[str, str]:
    """Add a line, an artifact, state and storage to a foreign conversation. Returns their ids and cursors."""

    async def write_everything(ctx: Any) -> dict[str, str]:
        await ctx.api.state_set("conversation", "k", FOREIGN_TEXT)
        await ctx.api.set_plugin_storage("k", FOREIGN_TEXT.encode())
        await ctx.api.set_workspace_storage(f"of {place.workspace_id}", FOREIGN_TEXT.encode())
        page = await ctx.api.history_page(limit=1)
        events = await ctx.api.event_page(limit=1)
        entries = await ctx.api.run_events_page(limit=1)
        cursors = {
            "history": page.items[0].cursor,
            "events": events.items[0].cursor,
            "entries": entries.prev_cursor,
            "event_id": ctx.event.event_id,
            "run_id": ctx.run_id,
        }
        return {key: value or "" for key, value in cursors.items()}

    known = await harness.do_in_run(write_everything, own_message(FOREIGN_TEXT, place), "other")
    await harness.store_artifact(f"art-{name}", FOREIGN_TEXT.encode(), place)
    return {**known, "artifact": f"art-{name}"}


def raw_call(ctx: Any, action: str, **data: Any) -> Awaitable[Any]:
    """Make a call with exactly these arguments; the API adds nothing."""
    return ctx.api._caller.call(action, data)


def collect(chunks: AsyncIterator[Any]) -> Awaitable[list[Any]]:
    async def collect() -> list[Any]:
        return [chunk async for chunk in chunks]

    return collect()


def base64_of(content: bytes) -> str:
    return base64.b64encode(content).decode()


def write_file(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


async def whole_journal(engine: Engine, run: FinishedRun) -> str:
    """Return the text of the run's journal, including large replies that are stored beside it."""
    rows = read_database(engine, lambda conn: artifacts.page(conn, run_id=run.run_id, now=START))
    large = [await engine.artifacts.read_bytes(row.artifact_id) for row in rows if row.artifact_type == "call.replied"]
    return " ".join([*(repr(entry.data) for entry in await journal_of(engine, run.run_id)), *map(repr, large)])


def _foreign(conn: Connection) -> str:
    digest = hashlib.sha256()
    for table in (tables.transcript, tables.events, tables.artifacts):
        for row in conn.execute(select(table).where(~OWN_PLACE.within(table))):
            digest.update(repr(tuple(row)).encode())
    state = select(tables.state).where(tables.state.c.runner_id != "plugin:local/asks/default")
    storage = select(tables.storage).where(tables.storage.c.owner.not_in(["plugin:local/asks", "workspace:w1"]))
    for query in (state, storage):
        for row in conn.execute(query):
            digest.update(repr(tuple(row)).encode())
    return digest.hexdigest()


async def gather_results(*works: Awaitable[Any]) -> list[Any]:
    """Wait for all, and return their results or exceptions."""
    return await asyncio.gather(*works, return_exceptions=True)
