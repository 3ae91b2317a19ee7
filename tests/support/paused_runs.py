"""Runs that can be paused: a tool and a model that record their calls, and functions that wait for a pause."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any

from engine.api import Engine, Pause
from engine.resources.catalog import ModelFact, ToolFact
from engine.resources.interfaces import ModelFrame, ModelReply, ModelRequest, ResourceError
from engine.resources.resource_set import ResourceSet
from engine.runtimes.inprocess import InProcessRuntime
from tests.support.engines import (
    CountingIds,
    Engines,
    FinishedRun,
    JournalEntry,
    declares,
    delta,
    done,
    journal_of,
    said,
    write_runner,
)
from tests.support.limits import MAX_WAIT_SECONDS

MODEL_REQUEST = [{"role": "user", "content": "and tomorrow?"}]
EDITED_REPLY = {"result": {"sky": "grey"}}
"""The reply that the user enters instead of the tool's."""
TOOL_RESULT = {"sky": "blue"}
MANIFEST: dict[str, Any] = {
    "capabilities": {"tool_calling": True, "steering": True},
    "permissions": {"tools": ["call"], "models": ["invoke", "stream"], "artifacts": ["read"]},
    "config": [{"name": "model", "type": "llm-model-selector"}, {"name": "api_key", "type": "string"}],
}


class WeatherTool:
    """A tool that records its calls and can block or fail."""

    def __init__(self) -> None:
        self.fact = ToolFact("weather", "test", "")
        self.calls: list[Mapping[str, Any]] = []
        self.answer: Any = TOOL_RESULT
        self.error: ResourceError | None = None
        self.called = asyncio.Event()
        self.may_return = asyncio.Event()
        self.may_return.set()

    def detail(self) -> dict[str, Any]:
        return {"name": "weather", "description": "", "parameters": {}}

    async def call(self, parameters: Mapping[str, Any]) -> Any:
        self.calls.append(parameters)
        self.called.set()
        await self.may_return.wait()
        if self.error is not None:
            raise self.error
        return self.answer


class FixedModel:
    """A model with one fixed reply, whole or streamed; it counts its calls and can fail in the middle of a stream."""

    def __init__(self) -> None:
        self.fact = ModelFact("m", "test")
        self.calls = 0
        self.fails_midway = False

    async def invoke(self, request: ModelRequest) -> ModelReply:
        self.calls += 1
        return ModelReply({"role": "assistant", "content": "it will rain"}, {"total_tokens": 3})

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelFrame]:
        self.calls += 1
        for number, word in enumerate(("it ", "will ", "rain")):
            if self.fails_midway and number:
                raise ResourceError("the line went dead")
            yield ModelFrame({"role": "assistant", "content": word})
        yield ModelFrame(usage={"total_tokens": 3})

    async def rerank(self, query: str, documents: Sequence[str], top_k: int | None) -> list[dict[str, Any]]:
        raise NotImplementedError

    async def count_tokens(self, request: ModelRequest) -> int:
        return 3


class ToolEngines:
    """Opens engines whose runners may use the tool and the model."""

    def __init__(self, engines: Engines) -> None:
        self.clock = engines.clock
        self.tool = WeatherTool()
        self.model = FixedModel()
        self._engines = engines
        self._open: list[Engine] = []
        self._others = 0

    async def __call__(self, *runners: Any, mode: Any = "host") -> Engine:
        folder = self._engines.folder
        agents: list[dict[str, Any]] = []
        for runner in runners:
            write_runner(folder, _allowed(runner))
            resources = {"allowed_tool_names": ["weather"]}
            name = runner.__name__
            config = {"model": "m", "api_key": "sesame-77"}
            agents.append({"id": name, "runner": name, "config": config, "resources": resources})
        (folder / "trackside.yaml").write_text(json.dumps({"agents": agents}))
        self._others += 1
        engine = await Engine.open(
            folder,
            db=self._engines.db,
            mode=mode,
            runtime=InProcessRuntime({runner.__name__: runner for runner in runners}),
            clock=self.clock,
            ids=CountingIds(f"{self._others}-"),
            resources=ResourceSet(tools=[self.tool], models=[self.model]),
        )
        self._open.append(engine)
        return engine

    async def close(self) -> None:
        while self._open:
            await self._open.pop().close()


def _allowed(runner: Any) -> Any:
    """Return a copy of the runner with all permissions; the runner itself is shared by tests and stays unchanged."""
    allowed: Any = partial(runner)
    allowed.__name__ = runner.__name__
    return declares(**MANIFEST)(allowed)


async def wait_for_pause(engine: Engine, run_id: str, number: int = 1) -> Pause:
    """Wait until a run is paused for the nth time, and return the pause."""
    await wait_for_nth_entry(engine, run_id, "pause.started", number)
    held = await engine.runs.current_pause(run_id)
    assert held is not None
    return held


async def wait_for_nth_entry(engine: Engine, run_id: str, kind: str, number: int = 1) -> None:
    """Wait for the nth entry of a type in a run."""
    async with asyncio.timeout(MAX_WAIT_SECONDS), engine.subscribe(run_id=run_id) as news:
        async for batch in news:
            number -= sum(one.entry.type == kind for one in batch)
            if number <= 0:
                return


async def pause_entries(engine: Engine, run_id: str) -> list[JournalEntry]:
    return [entry for entry in await journal_of(engine, run_id) if entry.type.startswith(("breakpoint.", "pause."))]


async def asks(ctx: Any) -> AsyncIterator[Any]:
    """A runner that calls the tool and completes with its result."""
    yield done(str(await ctx.api.call_tool("weather", {"place": "here"})))


def final_text(run: FinishedRun) -> Any:
    return run.one("run.completed").data["message"]["content"]


async def speaks(ctx: Any) -> AsyncIterator[Any]:
    """A runner that sends a delta and two messages."""
    yield delta("a")
    yield said("one")
    yield said("two")
    yield done()
