"""A run that can be held: a tool and a model that count how often they are asked, and a way to wait for the hold."""

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
"""What a person puts in for what the tool says."""
TOOL_RESULT = {"sky": "blue"}
MANIFEST: dict[str, Any] = {
    "capabilities": {"tool_calling": True, "steering": True},
    "permissions": {"tools": ["call"], "models": ["invoke", "stream"], "artifacts": ["read"]},
    "config": [{"name": "model", "type": "llm-model-selector"}, {"name": "api_key", "type": "string"}],
}


class WeatherTool:
    """A tool."""

    def __init__(self) -> None:
        self.fact = ToolFact("weather", "test", "")
        self.asked: list[Mapping[str, Any]] = []
        self.answer: Any = TOOL_RESULT
        self.error: ResourceError | None = None
        self.called = asyncio.Event()
        self.go_on = asyncio.Event()
        self.go_on.set()

    def detail(self) -> dict[str, Any]:
        return {"name": "weather", "description": "", "parameters": {}}

    async def call(self, parameters: Mapping[str, Any]) -> Any:
        self.asked.append(parameters)
        self.called.set()
        await self.go_on.wait()
        if self.error is not None:
            raise self.error
        return self.answer


class FixedModel:
    """A model that says the same three words, whole or in pieces."""

    def __init__(self) -> None:
        self.fact = ModelFact("m", "test")
        self.asked = 0
        self.breaks_off = False

    async def invoke(self, request: ModelRequest) -> ModelReply:
        self.asked += 1
        return ModelReply({"role": "assistant", "content": "it will rain"}, {"total_tokens": 3})

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelFrame]:
        self.asked += 1
        for number, word in enumerate(("it ", "will ", "rain")):
            if self.breaks_off and number:
                raise ResourceError("the line went dead")
            yield ModelFrame({"role": "assistant", "content": word})
        yield ModelFrame(usage={"total_tokens": 3})

    async def rerank(self, query: str, documents: Sequence[str], top_k: int | None) -> list[dict[str, Any]]:
        raise NotImplementedError

    async def count_tokens(self, request: ModelRequest) -> int:
        return 3


class ToolEngines:
    """Opens engines whose runners may ask the tool and the model."""

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
    """The runner with all its permissions; itself it stays as it is, for other tests have it too."""
    allowed: Any = partial(runner)
    allowed.__name__ = runner.__name__
    return declares(**MANIFEST)(allowed)


async def wait_for_pause(engine: Engine, run_id: str, number: int = 1) -> Pause:
    """What is held, once a run was held for the nth time."""
    await wait_for_nth_entry(engine, run_id, "pause.started", number)
    held = await engine.runs.current_pause(run_id)
    assert held is not None
    return held


async def wait_for_nth_entry(engine: Engine, run_id: str, kind: str, number: int = 1) -> None:
    """Wait for a run's nth entry of a type."""
    async with asyncio.timeout(MAX_WAIT_SECONDS), engine.subscribe(run_id=run_id) as news:
        async for batch in news:
            number -= sum(one.entry.type == kind for one in batch)
            if number <= 0:
                return


async def pause_entries(engine: Engine, run_id: str) -> list[JournalEntry]:
    return [entry for entry in await journal_of(engine, run_id) if entry.type.startswith(("breakpoint.", "pause."))]


async def asks(ctx: Any) -> AsyncIterator[Any]:
    """Calls the tool and says what it answered."""
    yield done(str(await ctx.api.call_tool("weather", {"place": "here"})))


def final_text(run: FinishedRun) -> Any:
    return run.one("run.completed").data["message"]["content"]


async def speaks(ctx: Any) -> AsyncIterator[Any]:
    """Says three things."""
    yield delta("a")
    yield said("one")
    yield said("two")
    yield done()
