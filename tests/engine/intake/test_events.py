"""The records of an accepted event: its row in the event log, its user line and its artifacts."""

import base64
import json

import pytest
from sqlalchemy import select

from engine.api import NotFound
from engine.events import Fate
from engine.intake.attachments import DATA_LIMIT, INLINE_LIMIT
from engine.intake.envelope import EventProblem
from engine.protocol.event import EventType
from engine.store.artifacts import Storage
from engine.store.queue import QueueItem
from engine.store.row_mapping import every
from engine.store.tables import queue
from tests.support.engines import (
    Engines,
    ScriptRunner,
    done,
    event,
    events_of,
    lines_of,
    message,
    read_database,
    run_event,
    send,
    wait_for_entry,
    wait_for_run,
    waits,
)

OTHERS = [kind for kind in EventType if kind != "message.received"]
B64 = base64.b64encode(b"hello").decode()


def attachment(**fields: object) -> dict:
    return {"artifact_id": "a1", "artifact_type": "file", "source": "platform"} | fields


# The log and the line


@pytest.mark.parametrize("kind", list(EventType))
async def test_every_event_is_logged_with_actor_place_and_subject(run_script: ScriptRunner, kind: EventType):
    given = event(
        kind,
        conversation_id="s",
        thread_id="t",
        bot_id="b",
        workspace_id="w",
        source_event_type="raw.name",
        event_time="2026-01-01T00:00:00Z",
        actor={"actor_type": "user", "actor_id": "ann", "actor_name": "Ann"},
        subject={"subject_type": "thing", "subject_id": "7"},
        input={"text": "payload"},
    )
    run = await run_script(done("x"), event=given)

    (row,) = events_of(run_script.engine, kind)
    assert (row.event_id, row.run_id, row.source) == (given.event_id, run.run_id, "platform")
    assert (row.conversation_id, row.thread_id, row.bot_id, row.workspace_id) == ("s", "t", "b", "w")
    assert (row.actor_type, row.actor_id, row.actor_name) == ("user", "ann", "Ann")
    assert (row.subject_type, row.subject_id) == ("thing", "7")
    assert (row.source_event_type, row.input_summary) == ("raw.name", "payload")
    assert row.event_time == given.time


@pytest.mark.parametrize("kind", OTHERS)
async def test_an_event_that_is_no_message_writes_no_user_line(run_script: ScriptRunner, kind: EventType):
    await run_script(done("noted"), event=event(kind, conversation_id="s", input={"text": "its payload"}))

    assert await lines_of(run_script.engine) == [("assistant", "noted")]


async def test_a_message_writes_its_user_line_as_the_run_begins(open_engine: Engines):
    engine = await open_engine(waits)
    run_id = await send(engine, "hello")
    await wait_for_entry(engine, run_id, "message.delta")

    assert await lines_of(engine) == [("user", "hello")]


async def test_the_summary_in_the_log_is_cut_to_1000_characters(run_script: ScriptRunner):
    await run_script(event="x" * 2_000)

    assert len(events_of(run_script.engine, "message.received")[0].input_summary) == 1_000


async def test_the_end_of_a_run_is_audited(run_script: ScriptRunner):
    run = await run_script(done("x"))

    (audit,) = events_of(run_script.engine, "run.finished")
    assert (audit.source, audit.run_id) == ("host", run.run_id)
    assert audit.metadata == {"status": "completed", "reason": "stop"}


# Repeated events


async def test_a_repeated_event_id_is_answered_with_its_first_run(run_script: ScriptRunner):
    first = await run_script(done("once"), event=message(event_id="e1"))

    ticket = await run_script.engine.runs.submit(message("other text", event_id="e1"))

    assert ticket.is_repeat
    assert await ticket.started == first.run_id
    assert len(await run_script.engine.runs.list()) == 1
    assert await lines_of(run_script.engine) == [("user", "hi"), ("assistant", "once")]


async def test_event_repeated_while_running_or_queued_is_answered_with_its_first_run(open_engine: Engines):
    engine = await open_engine(waits)
    running = await engine.runs.submit(message(event_id="e1"))
    waiting = await engine.runs.submit(message(event_id="e2"))

    again = [await engine.runs.submit(message(event_id=event_id)) for event_id in ("e1", "e2")]
    await engine.runs.cancel(await running.started)

    assert all(ticket.is_repeat for ticket in again)
    assert await again[0].started == await running.started
    assert await again[1].started == await waiting.started
    assert len(await engine.runs.list()) == 2


async def test_a_repeated_event_whose_message_was_dropped_raises(open_engine: Engines):
    first = await open_engine(waits)
    await send(first, message(event_id="e1"))
    await first.runs.submit(message(event_id="e2"))
    await open_engine.close(first)
    second = await open_engine(waits)

    ticket = await second.runs.submit(message(event_id="e2"))

    with pytest.raises(NotFound, match="Event e2 was accepted before and has no run"):
        await ticket.started


async def test_a_queued_message_is_dropped_when_its_host_closes_and_stays_in_the_transcript(open_engine: Engines):
    first = await open_engine(waits)
    await send(first, "one")
    await first.runs.submit(message("two"))
    await open_engine.close(first)
    reader = await open_engine(mode="read")

    (item,) = read_database(reader, lambda conn: every(conn, select(queue), QueueItem))
    assert (item.fate, item.reason) == (Fate.DROPPED, "host_closed")
    assert await lines_of(reader) == [("user", "one"), ("user", "two")]


# Raw payloads


async def test_a_large_raw_payload_goes_to_an_artifact_and_raw_ref(run_script: ScriptRunner):
    data = {"blob": "x" * DATA_LIMIT}
    run = await run_script(done("x"), event=message(data=data))

    seen = run.context["event"]
    assert seen["data"] == {}
    (artifact,) = await run_script.engine.artifacts.list(run_id=run.run_id)
    assert artifact.artifact_id == seen["raw_ref"] == events_of(run_script.engine, "message.received")[0].raw_ref
    assert (artifact.storage, artifact.source, artifact.mime_type) == (Storage.BLOB, "host", "application/json")
    assert json.loads(await run_script.engine.artifacts.read_bytes(artifact.artifact_id)) == data


async def test_a_small_payload_stays_in_data(run_script: ScriptRunner):
    run = await run_script(done("x"), event=message(data={"a": 1}))

    assert (run.context["event"]["data"], run.context["event"]["raw_ref"]) == ({"a": 1}, None)


# Attachments


@pytest.mark.parametrize(
    ("fields", "storage", "location", "content"),
    [
        ({"content": B64, "url": "https://x/y", "id": "p1"}, Storage.BLOB, None, b"hello"),
        ({"content": f"data:text/plain;base64,{B64}"}, Storage.BLOB, None, b"hello"),
        ({"content": "data:text/plain,hello%20you"}, Storage.BLOB, None, b"hello you"),
        ({"url": "https://x/y", "id": "p1"}, Storage.URL, "https://x/y", b""),
        ({"id": "p1"}, Storage.PLATFORM, "p1", b""),
        ({"name": "lost.txt"}, Storage.METADATA, None, b""),
    ],
    ids=["blob", "data url", "plain data url", "url", "platform", "metadata"],
)
async def test_an_attachment_becomes_a_blob_else_a_url_else_a_reference_else_metadata(
    run_script: ScriptRunner, fields: dict, storage: Storage, location: str | None, content: bytes
):
    run = await run_script(done("x"), event=message(input={"text": "see", "attachments": [attachment(**fields)]}))

    (row,) = await run_script.engine.artifacts.list(run_id=run.run_id)
    assert (row.artifact_id, row.storage, row.location) == ("a1", storage, location)
    assert (row.source, row.conversation_id) == ("platform", "s")
    assert await run_script.engine.artifacts.read_bytes("a1") == content


async def test_the_runner_and_the_log_get_a_reference_and_no_bytes(run_script: ScriptRunner):
    run = await run_script(done("x"), event=message(input={"text": "see", "attachments": [attachment(content=B64)]}))

    assert run.context["input"]["attachments"][0]["content"] is None
    (line,) = [line for line in await run_script.engine.sessions.transcript("s") if line.role == "user"]
    assert line.artifact_refs == ["a1"]
    assert line.content_json["attachments"][0]["content"] is None
    assert line.content_json["attachments"][0]["content_redacted"] is True


async def test_the_bytes_of_an_attachment_are_read_as_an_artifact_only(open_engine: Engines):
    seen = []

    async def looks(ctx):
        seen.extend(ctx.input.attachments)
        yield done("nice")

    await run_event(await open_engine(looks), message(input={"attachments": [attachment(content=B64)]}))

    (given,) = seen
    assert (given.artifact_id, given.content) == ("a1", None)


async def test_inline_image_reaches_the_runner_and_is_stored_beside_the_journal(open_engine: Engines):
    seen = []

    async def looks(ctx):
        seen.append(ctx.input.contents[0].image_base64)
        yield done("nice")

    picture = {"type": "image_base64", "image_base64": B64}
    run = await run_event(await open_engine(looks), message(input={"contents": [picture]}))

    assert seen == [B64]
    (shown,) = run.context["input"]["contents"]
    assert shown["image_base64"].startswith("part:")


async def test_an_attachment_whose_id_is_taken_is_left_out_with_a_warning(run_script: ScriptRunner):
    given = {"text": "see", "attachments": [attachment(content=B64)]}
    await run_script(done("x"), event=message(input=given))

    run = await run_script(done("y"), event=message(input=given))

    assert run.warnings == ["attachment 'a1' was left out: its artifact id is already used"]
    assert run.row.status == "completed"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("not base64!", "input.attachments: a1: the content is neither base64 nor a data URL"),
        (
            base64.b64encode(b"x" * (INLINE_LIMIT + 1)).decode(),
            f"input.attachments: a1: {INLINE_LIMIT + 1} bytes exceed the limit for inline "
            f"content ({INLINE_LIMIT} bytes). Use a url instead.",
        ),
    ],
    ids=["bad", "large"],
)
async def test_an_attachment_that_cannot_be_kept_is_refused_before_anything_is_recorded(
    run_script: ScriptRunner, content: str, problem: str
):
    with pytest.raises(EventProblem) as caught:
        await run_script(event=message(input={"attachments": [attachment(content=content)]}))

    assert str(caught.value) == problem
    assert await run_script.engine.runs.list() == []


async def test_event_without_a_conversation_occupies_no_slot(open_engine: Engines):
    engine = await open_engine(waits)
    ids = [await send(engine, message(session=None)) for _ in range(2)]

    assert len(set(ids)) == 2
    for run_id in ids:
        await engine.runs.cancel(run_id)
        assert (await wait_for_run(engine, run_id)).row.status == "cancelled"
