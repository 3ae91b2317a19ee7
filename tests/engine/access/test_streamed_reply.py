"""Streamed replies are recorded as they were sent, whatever the model yields and however slow the disk is."""

import threading
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest

from engine.api import Engine
from engine.protocol.errors import AgentAPIException
from engine.resources.interfaces import ModelFrame, ModelRequest
from engine.store import writer
from tests.support.engines import FinishedRun, done, run_event, send, wait_for_run
from tests.support.paused_runs import MODEL_REQUEST, FixedModel, ToolEngines
from tests.support.store_samples import wait_until


class FrameModel(FixedModel):
    """A model that streams these chunks. An exception among them is raised."""

    def __init__(self, chunks: Iterable[Any]) -> None:
        super().__init__()
        self.sent = 0
        self._chunks = chunks

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelFrame]:
        for chunk in self._chunks:
            if isinstance(chunk, Exception):
                raise chunk
            self.sent += 1
            yield ModelFrame({"role": "assistant", "content": "", **chunk})


async def streams(ctx: Any) -> AsyncIterator[Any]:
    count, error = 0, None
    try:
        async for _ in ctx.api.invoke_llm_stream("m", MODEL_REQUEST):
            count += 1
    except AgentAPIException as caught:
        error = caught.error.code
    yield done(f"{count} frames, {error}")


async def run_stream(tool_engines: ToolEngines, *chunks: Any) -> FinishedRun:
    tool_engines.model = FrameModel(chunks)
    return await run_event(await tool_engines(streams))


def answer(run: FinishedRun) -> str:
    return run.one("run.completed").data["message"]["content"]


async def test_any_error_of_a_model_is_the_error_of_the_reply(tool_engines: ToolEngines):
    run = await run_stream(tool_engines, {"content": "a"}, ValueError("no such line"))

    replied = run.one("call.replied")
    assert replied.data["streamed"]["frames"] == len(run.frames()) == 1
    assert (replied.outcome, replied.data["error"]["code"]) == ("failed", "runtime_error")
    assert "no such line" in replied.data["error"]["message"]
    assert answer(run) == "1 frames, runtime_error"


async def test_half_a_surrogate_pair_is_recorded_as_the_runner_gets_it(tool_engines: ToolEngines):
    run = await run_stream(tool_engines, {"content": "a"}, {"content": "\ud83d"}, {"content": "b"})

    assert [frame["chunk"]["content"] for frame in run.frames()] == ["a", "�", "b"]
    assert answer(run) == "3 frames, None"


@pytest.mark.parametrize(
    ("chunk", "code"),
    [({"extra": {1, 2}}, "runtime_error"), ({"content": "x" * (16 << 20)}, "payload_too_large")],
    ids=["not JSON", "too large"],
)
async def test_frame_that_cannot_be_sent_is_not_recorded(tool_engines: ToolEngines, chunk: Any, code: str):
    run = await run_stream(tool_engines, {"content": "a"}, chunk, {"content": "b"})

    replied = run.one("call.replied")
    assert replied.data["streamed"]["frames"] == len(run.frames()) == 1
    assert replied.data["error"]["code"] == code
    assert answer(run) == f"1 frames, {code}"


async def test_stream_that_fills_the_journal_stops_the_run(tool_engines: ToolEngines, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("engine.journal.recorder.JOURNAL_LIMIT", 100_000)
    run = await run_stream(tool_engines, *({"content": "x" * 1_000} for _ in range(1_000)))

    assert run.one("run.stopped").data["reason"] == "journal"
    assert run.one("call.replied").data["streamed"]["frames"] < 200


async def test_stream_waits_while_the_disk_does(tool_engines: ToolEngines, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(writer, "MAX_QUEUED_BYTES", 100_000)
    disk = threading.Event()
    model = tool_engines.model = FrameModel({"content": "x" * 1_000} for _ in range(1_000))
    model_stream, engine = model.stream, await tool_engines(streams)

    def stream(request: ModelRequest) -> AsyncIterator[ModelFrame]:
        block(engine, disk)
        return model_stream(request)

    monkeypatch.setattr(model, "stream", stream)
    run_id = await send(engine)
    queue = engine._core.require_host().writer
    await wait_until(lambda: queue.full)
    sent = model.sent
    disk.set()
    run = await wait_for_run(engine, run_id)

    assert sent < 200
    assert answer(run) == "1000 frames, None"
    assert len(run.frames()) == 1_000


def block(engine: Engine, disk: threading.Event) -> None:
    """Let the writer wait for the event, as if the disk did not respond."""
    engine._core.require_host().writer.submit(lambda _: disk.wait(60))
