"""The context, the results and the stops of a run are recorded whole."""

import asyncio
import base64
import hashlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from engine.api import Engine
from engine.events import RunStarted
from engine.journal.stored_context import restore_context
from engine.protocol import AgentRunContext
from engine.resources.interfaces import ModelFrame
from tests.support.engines import (
    Engines,
    FakeClock,
    FinishedRun,
    artifact_created,
    declares,
    done,
    message,
    read_database,
    run_event,
    said,
    send,
    wait_for_entry,
    wait_for_run,
    wait_forever,
)
from tests.support.paused_runs import MODEL_REQUEST, FixedModel, ToolEngines

PICTURE = bytes(range(256)) * 40
SECRET = "sk-0123456789-abcdef"


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def message_with_bytes(*texts: str) -> Any:
    contents = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{encoded(PICTURE)}"}},
        *({"type": "file_base64", "file_base64": text, "file_name": "notes.txt"} for text in texts),
    ]
    return message("look", input={"text": "look", "contents": contents})


def restored(engine: Engine, run: FinishedRun) -> dict[str, Any]:
    started = RunStarted(run.one("run.started").data)
    context, lost = read_database(engine, lambda conn: restore_context(conn, run.run_id, started))
    assert lost == 0
    return dict(context)


async def test_bytes_in_the_context_come_back_as_they_were_sent(open_engine: Engines):
    sent: list[dict[str, Any]] = []

    async def looks(ctx: Any):
        sent.append(ctx.model_dump(mode="json"))
        yield done("seen")

    engine = await open_engine(looks)
    run = await run_event(engine, message_with_bytes(encoded(b"notes")))

    recorded = run.context
    AgentRunContext.model_validate(recorded)
    assert encoded(PICTURE) not in json.dumps(recorded)
    assert restored(engine, run) == sent[0]


async def test_secrets_in_the_bytes_of_the_context_are_masked(open_engine: Engines):
    @declares(config=[{"name": "api_key", "type": "string", "label": {}, "default": SECRET}])
    async def looks(ctx: Any):
        yield done("seen")

    engine = await open_engine(looks)
    run = await run_event(engine, message_with_bytes(encoded(f"the key is {SECRET}.".encode())))

    context = restored(engine, run)
    AgentRunContext.model_validate(context)
    assert base64.b64decode(context["input"]["contents"][2]["file_base64"]) == "the key is ‹secret api_key›.".encode()
    assert context["input"]["contents"][1]["image_url"]["url"].endswith(encoded(PICTURE))
    stored = read_database(engine, lambda conn: conn.exec_driver_sql("SELECT content FROM parts").scalars().all())
    assert not any(SECRET.encode() in part or encoded(SECRET.encode())[:-4].encode() in part for part in stored)


@pytest.mark.parametrize(
    "encode",
    [
        lambda content: base64.encodebytes(content).decode(),
        lambda content: base64.urlsafe_b64encode(content).decode(),
        lambda content: encoded(content).rstrip("="),
        lambda content: encoded(content * 2_000),
    ],
    ids=["in lines", "for URLs", "without padding", "many times"],
)
async def test_secrets_are_masked_however_the_bytes_are_written(open_engine: Engines, encode: Callable[[bytes], str]):
    @declares(config=[{"name": "api_key", "type": "string", "label": {}, "default": SECRET}])
    async def looks(ctx: Any):
        yield done("seen")

    engine = await open_engine(looks)
    run = await run_event(engine, message_with_bytes(encode(f"{SECRET} ÿþ?".encode())))

    content = base64.b64decode(restored(engine, run)["input"]["contents"][2]["file_base64"])
    assert content.startswith("‹secret api_key› ÿþ?".encode())
    assert SECRET.encode() not in content


async def test_event_with_a_picture_can_be_sent_again(open_engine: Engines):
    async def looks(ctx: Any):
        yield done("seen")

    engine = await open_engine(looks)
    run = await run_event(engine, message_with_bytes())

    past = await engine.runs.event(run.run_id)
    assert past.lost == ()
    assert past.envelope.input.contents[1].image_url.url.endswith(encoded(PICTURE))


async def test_damaged_bytes_leave_the_rest_of_the_context_readable(open_engine: Engines):
    async def looks(ctx: Any):
        yield done("seen")

    engine = await open_engine(looks)
    run = await run_event(engine, message_with_bytes())
    await engine._core.require_host().writer.submit(
        lambda tx: tx.connection.exec_driver_sql("UPDATE parts SET content = x'00'")
    )

    past = await engine.runs.event(run.run_id)
    assert past.envelope.input.contents[0].text == "look"
    assert past.lost == ("a picture or file inside the message is not stored",)


# Results


async def test_result_with_bytes_keeps_their_digest(run_script):
    run = await run_script(
        artifact_created(content_base64=encoded(PICTURE)),
        said([{"type": "image_base64", "image_base64": encoded(b"small")}]),
        done(),
    )

    assert run.one("artifact.created").data["content_sha256"] == hashlib.sha256(PICTURE).hexdigest()
    (part,) = run.one("message.completed").data["message"]["content"]
    assert (part["image_base64"], part["content_sha256"]) == (None, hashlib.sha256(b"small").hexdigest())


async def test_artifact_without_an_id_is_recorded_with_the_id_that_the_host_gave(open_engine: Engines):
    async def makes(ctx: Any):
        yield artifact_created(content_base64=encoded(b"x"))
        yield done("made")

    engine = await open_engine(makes)
    run = await run_event(engine)

    (artifact,) = await engine.artifacts.list(run_id=run.run_id)
    assert run.one("artifact.created").data["artifact_id"] == artifact.artifact_id


# Streamed replies


class SplittingModel(FixedModel):
    """A model whose reply has a secret that is split over its frames, in its text and in a tool call."""

    async def stream(self, request: Any) -> AsyncIterator[ModelFrame]:
        for piece in ("the key is ses", "ame", "-77.", " Bye"):
            yield ModelFrame({"role": "assistant", "content": piece})
        for piece in ('{"key": "sesa', 'me-77"}'):
            call = {"index": 0, "id": "1", "type": "function", "function": {"name": "t", "arguments": piece}}
            yield ModelFrame({"role": "assistant", "content": "", "tool_calls": [call]})


async def test_secret_that_is_split_over_frames_is_masked(tool_engines: ToolEngines):
    async def streams(ctx: Any) -> AsyncIterator[Any]:
        yield done("".join([chunk.content async for chunk in ctx.api.invoke_llm_stream("m", MODEL_REQUEST)]))

    tool_engines.model = SplittingModel()
    run = await run_event(await tool_engines(streams))

    chunks = [frame["chunk"] for frame in run.frames()]
    given = "".join(call["function"]["arguments"] for chunk in chunks for call in chunk.get("tool_calls", ()))
    assert "".join(chunk["content"] for chunk in chunks) == "the key is ‹secret api_key›. Bye"
    assert given == '{"key": "‹secret api_key›"}'


# Stops


async def test_deadline_is_recorded_as_a_stop(open_engine: Engines, clock: FakeClock):
    async def waits(ctx: Any):
        yield said("waiting")
        await wait_forever()

    engine = await open_engine(waits)
    run_id = await send(engine)
    await wait_for_entry(engine, run_id, "message.completed")
    clock.advance(301)
    run = await wait_for_run(engine, run_id)

    assert run.one("run.stopped").data == {"reason": "deadline", "error": "the run took longer than 300 s"}
    assert run.types[-1] == "run.finished"


async def test_limit_of_the_journal_is_recorded_as_a_stop(run_script, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("engine.journal.recorder.JOURNAL_LIMIT", 10_000)
    run = await run_script(said("x" * 11_000), said("late"))

    assert run.one("run.stopped").data["reason"] == "journal"


async def test_protocol_error_is_recorded_as_a_stop(run_script):
    run = await run_script({"run_id": "another", "type": "message.delta", "data": {}})

    assert run.one("run.stopped").data["reason"] == "protocol"


async def test_stop_by_the_user_has_one_entry(open_engine: Engines):
    async def waits(ctx: Any):
        yield said("waiting")
        await asyncio.Event().wait()

    engine = await open_engine(waits)
    run_id = await send(engine)
    await wait_for_entry(engine, run_id, "message.completed")
    await engine.runs.stop(run_id)
    run = await wait_for_run(engine, run_id)

    assert (run.types.count("cancel.requested"), run.types.count("run.stopped")) == (1, 0)
