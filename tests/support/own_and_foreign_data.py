"""A place of the run's own, the same things in places that are not its own, and a way to ask from inside a run."""

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
from tests.support.engines import START, Engines, Played, Seen, declares, done, facts, journal_of, message, perform

HIDDEN = "walnut-42"
"""Stands in everything that is not the run's own; a reply that holds it has shown too much."""
OWN = ConversationKey("ours", "t1", "b1", "w1")
OTHERS = {
    "conversation": replace(OWN, conversation_id="theirs"),
    "thread": replace(OWN, thread_id="t2"),
    "no thread": replace(OWN, thread_id=None),
    "bot": replace(OWN, bot_id="b2"),
    "workspace": replace(OWN, workspace_id="w2"),
}
EVERYTHING: dict[str, Any] = {
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
        {"id": "m2", "kind": "scripted", "otherwise": {"text": HIDDEN}},
        {"id": "rank", "kind": "scripted", "type": "rerank"},
    ],
    "tools": [
        {"name": "weather", "kind": "scripted", "description": "The sky.", "otherwise": {"result": {"sky": "blue"}}},
        {"name": "launch", "kind": "scripted", "otherwise": {"result": HIDDEN}},
    ],
    "knowledge_bases": [
        {"id": "notes", "kind": "scripted", "documents": [{"id": "d", "text": "bring an umbrella"}]},
        {"id": "secrets", "kind": "scripted", "documents": [{"text": HIDDEN}]},
    ],
    "file_roots": ["files"],
}

Work = Callable[[Any], Awaitable[Any]]
_numbers = count(1)


@dataclass(frozen=True)
class Asked:
    """What the work of a run came to, and the run, which went on afterwards."""

    value: Any
    error: AgentAPIError | None
    run: Played

    @property
    def decided(self) -> Seen:
        """The last decision of the gate before the closing question."""
        return [entry for entry in self.run.all("call.decided") if entry.data["call_id"] != self._closing][-1]

    @property
    def replied(self) -> Seen:
        return [entry for entry in self.run.all("call.replied") if entry.data["call_id"] != self._closing][-1]

    @property
    def _closing(self) -> str:
        return self.run.all("call.requested")[-1].data["call_id"]


class World:
    """An engine whose runners `asks` and `other` do what a test hands them."""

    def __init__(self, engines: Engines) -> None:
        self.engines = engines
        self.clock = engines.clock
        self.files = engines.folder / "files"
        self._works: dict[str, Work] = {}
        self._outcomes: dict[str, tuple[Any, AgentAPIError | None]] = {}
        self.resources = RESOURCES
        self.engine: Engine

    async def open(self, **changes: Any) -> "World":
        """`changes` are keys of the agent `asks`, such as `state={…}`."""
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
            await ctx.api.run_get()  # whatever was refused, the run goes on
            yield done("still here")

        run.__name__ = name
        return declares(**EVERYTHING)(run)

    async def ask(self, work: Work, event: EventEnvelope | None = None, runner: str = "asks") -> Asked:
        """Do this inside a run of the place's own."""
        event = event or own("please")
        self._works[event.event_id] = work
        run = await perform(self.engine, event, runner=runner)
        assert event.event_id in self._outcomes, run.finished
        value, error = self._outcomes[event.event_id]
        assert run.row.status == "completed", run.finished
        return Asked(value, error, run)

    async def give(self, work: Work, event: EventEnvelope | None = None, runner: str = "asks") -> Any:
        """The same where it must be answered."""
        asked = await self.ask(work, event, runner)
        assert asked.error is None, asked.error
        return asked.value

    def write(self, operation: Callable[[Connection], Any]) -> Awaitable[Any]:
        """Put something among the facts that no runner can."""
        return self.engine._core.edit(lambda tx: operation(tx.connection))

    async def keep(
        self, artifact_id: str, content: bytes = b"content", place: ConversationKey = OWN, **row: Any
    ) -> None:
        made = ArtifactRow(
            **{"artifact_id": artifact_id, "artifact_type": "file", "storage": Storage.BLOB, "source": "runner"}
            | {"created_at": START, **place_fields(place)}
            | row
        )
        await self.write(lambda conn: artifacts.register(conn, made, content))

    def everything_else(self) -> str:
        """All that is not the run's own, as one text: it must be the same before and after."""
        return facts(self.engine, _foreign)


def own(text: str = "hi", place: ConversationKey = OWN, **fields: Any) -> EventEnvelope:
    """Something said in a place."""
    given = place_fields(place)
    return message(text, given.pop("conversation_id"), **{**given, "event_id": f"said-{next(_numbers)}"} | fields)


def place_fields(place: ConversationKey) -> dict[str, Any]:
    return {name: getattr(place, name) for name in ("conversation_id", "thread_id", "bot_id", "workspace_id")}


async def inhabit(world: World, place: ConversationKey, name: str) -> dict[str, str]:
    """Someone else's conversation: a line, an artifact, state and storage, all of them hidden; gives their ids."""

    async def live(ctx: Any) -> dict[str, str]:
        await ctx.api.state_set("conversation", "k", HIDDEN)
        await ctx.api.set_plugin_storage("k", HIDDEN.encode())
        await ctx.api.set_workspace_storage(f"of {place.workspace_id}", HIDDEN.encode())
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

    known = await world.give(live, own(HIDDEN, place), "other")
    await world.keep(f"art-{name}", HIDDEN.encode(), place)
    return {**known, "artifact": f"art-{name}"}


def raw(ctx: Any, action: str, **data: Any) -> Awaitable[Any]:
    """A call as only a forger makes it: nothing is filled in."""
    return ctx.api._caller.call(action, data)


def collected(chunks: AsyncIterator[Any]) -> Awaitable[list[Any]]:
    async def collect() -> list[Any]:
        return [chunk async for chunk in chunks]

    return collect()


def base64_of(content: bytes) -> str:
    return base64.b64encode(content).decode()


def write_file(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


async def whole_journal(engine: Engine, run: Played) -> str:
    """Every word that the run's journal has, the large replies included."""
    rows = facts(engine, lambda conn: artifacts.page(conn, run_id=run.run_id, now=START))
    large = [await engine.artifacts.read_bytes(row.artifact_id) for row in rows if row.artifact_type == "call.replied"]
    return " ".join([*(repr(entry.data) for entry in await journal_of(engine, run.run_id)), *map(repr, large)])


def _foreign(conn: Connection) -> str:
    digest = hashlib.sha256()
    for table in (tables.transcript, tables.events, tables.artifacts):
        for row in conn.execute(select(table).where(~OWN.within(table))):
            digest.update(repr(tuple(row)).encode())
    state = select(tables.state).where(tables.state.c.runner_id != "plugin:local/asks/default")
    storage = select(tables.storage).where(tables.storage.c.owner.not_in(["plugin:local/asks", "workspace:w1"]))
    for query in (state, storage):
        for row in conn.execute(query):
            digest.update(repr(tuple(row)).encode())
    return digest.hexdigest()


async def meanwhile(*works: Awaitable[Any]) -> list[Any]:
    """Their results, refusals among them."""
    return await asyncio.gather(*works, return_exceptions=True)
