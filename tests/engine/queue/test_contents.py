"""Attachments, long texts and masked secrets of steering messages."""

import base64
from typing import Any

import pytest

from engine.api import Engine, Mode, RunOptions
from engine.store import tables
from engine.store.errors import CannotSteer
from tests.support.engines import Engines, done, journal_of, message, read_database, wait_for_run
from tests.support.queue.steering import ControlledRun, SteeringHarness, open_steering

SECRET = "walnut-4711-walnut"
MARK = "‹secret api_key›"


def attached(artifact_id: str, content: bytes = b"hi", **fields: Any) -> dict[str, Any]:
    encoded = base64.b64encode(content).decode()
    return {"artifact_id": artifact_id, "artifact_type": "file", "source": "user", "content": encoded} | fields


# Attachments


async def test_attachments_become_artifacts_of_the_claiming_run_and_the_runner_gets_references(
    steering: SteeringHarness,
):
    run = await steering.start()
    await steering.send_claimed("", input={"text": "look", "attachments": [attached("a", b"a cat", name="cat.txt")]})

    async def looks(ctx: Any) -> Any:
        (item,) = (await ctx.api.steering_pull()).items
        (reference,) = item.input.attachments
        return reference, await ctx.api.artifact_read(reference.artifact_id)

    reference, read = await run.do(looks)
    assert (reference.artifact_id, reference.name, reference.content) == ("a", "cat.txt", None)
    assert base64.b64decode(read.content_base64) == b"a cat"
    (row,) = await steering.engine.artifacts.list(run_id=run.run_id)
    assert (row.artifact_id, row.run_id, row.runner_id) == ("a", run.run_id, "plugin:local/controlled/default")
    await run.end(done())


async def test_attachments_are_stored_at_the_claim_even_without_a_pull(steering: SteeringHarness):
    run = await steering.start()
    await steering.send_claimed("", input={"text": "look", "attachments": [attached("a")]})
    assert await steering.engine.artifacts.read_bytes("a") == b"hi"
    await run.end(done())

    (line,) = [line for line in await steering.engine.sessions.transcript("s") if line.content == "look"]
    assert list(line.artifact_refs) == ["a"]
    assert line.content_json is not None
    assert line.content_json["attachments"][0]["content_redacted"] is True


async def test_journal_lists_attachments_of_claimed_and_of_turned_messages(
    steering: SteeringHarness,
):
    run = await steering.start()
    file = attached("a", b"a cat", name="cat.txt", mime_type="text/plain", size=5)
    ticket = await steering.send("", input={"text": "look", "attachments": [file]})
    for mode in (Mode.AFTER, Mode.STEER):
        await steering.engine.queue.set_mode(str(ticket.item_id), mode)
    over = await run.end(done())

    queued_data = [over.one("steering.queued").data, over.all("steering.turned")[-1].data]
    wanted = {"artifact_id": "a", "artifact_type": "file", "name": "cat.txt", "mime_type": "text/plain", "size": 5}
    assert [data["attachments"] for data in queued_data] == [[wanted]] * 2


async def test_an_attachment_whose_id_is_taken_is_left_out_and_recorded(steering: SteeringHarness):
    run = await steering.start(input={"text": "go", "attachments": [attached("a", b"first")]})
    ticket = await steering.send("", input={"text": "look", "attachments": [attached("a", b"second")]})
    assert ticket.claimed_by == run.run_id
    over = await run.end(done())

    assert over.one("steering.queued").data["warnings"] == [
        "attachment 'a' was left out: its artifact id is already used",
    ]
    assert await steering.engine.artifacts.read_bytes("a") == b"first"


async def test_item_turned_into_its_own_run_keeps_its_attachments(steering: SteeringHarness):
    run = await steering.start()
    ticket = await steering.send("", input={"text": "look", "attachments": [attached("a")]})
    await steering.engine.queue.set_mode(str(ticket.item_id), Mode.AFTER)
    await run.end(done())
    own = await wait_for_run(steering.engine, await ticket.started)

    assert own.warnings == []
    assert own.context["input"]["attachments"][0]["artifact_id"] == "a"


async def test_attachments_do_not_count_for_the_size_limit_of_a_pull(steering: SteeringHarness):
    run = await steering.start()
    for name in "ab":
        files = [attached(f"{name}{number}", bytes(1 << 20)) for number in range(7)]
        await steering.send_claimed("", input={"text": name, "attachments": files})

    assert await run.pull() == ["a", "b"]
    await run.end(done())


# Long texts


async def test_messages_beyond_the_size_of_one_reply_come_with_the_next_pull(steering: SteeringHarness):
    run = await steering.start()
    texts = [letter * (6 << 20) for letter in "abc"]
    await steering.send_claimed(*texts)

    assert [[text[0] for text in await run.pull()] for _ in range(3)] == [["a", "b"], ["c"], []]
    await run.end(done())


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"in": value}
    return value


UNFIT: dict[str, tuple[dict[str, Any], str]] = {
    "too long": ({"input": {"text": "x" * (16 << 20)}}, "KiB; the limit is 16256 KiB"),
    "too much about": (
        {"subject": {"subject_type": "message", "subject_id": "m", "data": {"x": "x" * (16 << 20)}}},
        "KiB; the limit is 16256 KiB",
    ),
    "too deep": ({"data": nested(97)}, "the message is nested deeper than 100 levels"),
    "no number": (
        {"subject": {"subject_type": "message", "subject_id": "m", "data": {"n": 2**70}}},
        "the message cannot be encoded",
    ),
}


@pytest.mark.parametrize(("fields", "why"), UNFIT.values(), ids=UNFIT)
async def test_a_message_too_large_for_a_pull_waits_for_the_slot_and_blocks_no_other(
    steering: SteeringHarness, fields: dict[str, Any], why: str
):
    run = await steering.start()
    ticket = await steering.send("unfit", **fields)

    assert ticket.claimed_by is None
    assert why in str(ticket.not_claimed_reason)
    await steering.send_claimed("fit")
    assert await run.pull() == ["fit"]
    await steering.engine.queue.withdraw(str(ticket.item_id))
    await run.end(done())


async def test_message_of_the_maximum_nesting_depth_is_claimed(steering: SteeringHarness):
    run = await steering.start()
    await steering.send_claimed("deep", data=nested(95))

    assert await run.pull() == ["deep"]
    await run.end(done())


# Secrets


def everything_recorded(engine: Engine) -> str:
    """The text of the journal, the transcript as it is shown, the event log and the queue."""
    rows: list[Any] = []
    for table in (tables.events, tables.queue):
        rows += read_database(engine, lambda conn, table=table: [tuple(row) for row in conn.execute(table.select())])
    for statement in ("SELECT data, reason FROM journal", "SELECT content, content_json FROM transcript"):
        rows += read_database(engine, lambda conn, text=statement: [tuple(row) for row in conn.exec_driver_sql(text)])
    return repr(rows)


async def keyed(steering: SteeringHarness) -> ControlledRun:
    return await steering.start(config={"api_key": SECRET})


async def say_secret(steering: SteeringHarness, *, after: bool = False) -> str:
    choice = RunOptions(runner="controlled", config={"api_key": SECRET})
    return str((await steering.engine.runs.submit(message(f"use {SECRET}"), choice, after=after)).item_id)


async def test_secrets_in_pulled_messages_are_masked_in_journal_transcript_and_log(steering: SteeringHarness):
    run = await keyed(steering)
    item_id = await say_secret(steering)
    await steering.engine.queue.edit(item_id, f"or rather {SECRET}")
    assert await run.pull() == [f"or rather {SECRET}"], "the runner gets what was said"
    await run.end(done())

    (receipt,) = (await steering.engine.queue.receipts(run.run_id)).receipts
    assert receipt.text == f"or rather {MARK}"
    recorded = everything_recorded(steering.engine)
    assert SECRET not in recorded
    assert recorded.count(f"or rather {MARK}") >= 3


async def test_secrets_in_withdrawn_and_refused_messages_are_masked(steering: SteeringHarness):
    run = await keyed(steering)
    item_id = await say_secret(steering)
    await run.do(lambda ctx: ctx.api.run_get())
    await steering.engine.queue.withdraw(item_id)
    await run.end(done())
    again = await steering.engine.queue.resend(item_id, RunOptions(runner="controlled", config={"api_key": SECRET}))
    await wait_for_run(steering.engine, await again.started)

    assert SECRET not in everything_recorded(steering.engine)


@pytest.mark.parametrize("edited", [False, True], ids=["as it came", "edited"])
@pytest.mark.parametrize("after", [False, True], ids=["in the run", "for the slot"])
async def test_secrets_in_dropped_messages_are_masked(open_engine: Engines, after: bool, edited: bool):
    steering = await open_steering(open_engine)
    await keyed(steering)
    item_id = await say_secret(steering, after=after)
    if edited:
        await steering.engine.queue.edit(item_id, f"now {SECRET}")
    await open_engine.close(steering.engine)
    reader = await open_engine(mode="read")

    recorded = everything_recorded(reader)
    assert SECRET not in recorded
    assert f"{'now' if edited else 'use'} {MARK}" in recorded


async def test_secret_removed_by_an_edit_leaves_no_mask_in_journal_or_transcript(steering: SteeringHarness):
    run = await keyed(steering)
    item_id = await say_secret(steering)
    await steering.engine.queue.edit(item_id, "nothing to hide")
    await run.end(done())

    (entry,) = [entry for entry in await journal_of(steering.engine, run.run_id) if entry.type == "steering.dropped"]
    assert entry.data["text"] == "nothing to hide"
    assert [line.content for line in await steering.engine.sessions.transcript("s", after=0)] == [
        "go",
        "nothing to hide",
    ]


async def test_queue_shows_a_message_masked_and_keeps_it_in_clear_only_until_its_fate_is_decided(
    steering: SteeringHarness,
):
    run = await keyed(steering)
    claimed, waiting = await say_secret(steering), await say_secret(steering, after=True)
    shown = [item for item in await steering.engine.queue.list("s") if item.item_id in (claimed, waiting)]
    assert [item.text for item in shown] == [f"use {MARK}"] * 2
    assert SECRET not in str(shown)
    assert SECRET in str(steering.item(claimed).envelope)

    edited = await steering.engine.queue.edit(claimed, f"still {MARK}")
    assert edited.text == f"still {MARK}"
    assert await run.pull() == [f"still {SECRET}"]
    await steering.engine.queue.withdraw(waiting)
    await run.do(lambda ctx: ctx.api.run_get())
    assert SECRET not in str(steering.item(waiting))
    await run.end(done())
    assert SECRET not in str(steering.item(claimed))


async def test_withdrawn_message_is_restored_with_its_secret_or_refused(open_engine: Engines):
    steering = await open_steering(open_engine)
    run = await keyed(steering)
    item_id, other = await say_secret(steering), await say_secret(steering)
    await steering.engine.queue.withdraw(item_id)
    await steering.engine.queue.withdraw(other)
    await steering.engine.queue.restore(item_id)
    assert await run.pull() == [f"use {SECRET}"]
    await run.end(done())
    assert SECRET not in everything_recorded(steering.engine)
    await open_engine.close(steering.engine)

    later = await open_steering(open_engine)  # knows no secret
    with pytest.raises(CannotSteer, match=r"contains a secret that is no longer known\. Type the message again\."):
        await later.engine.queue.restore(other)


async def test_secret_that_only_the_message_knows_is_masked_in_the_run_that_it_joins(steering: SteeringHarness):
    run = await steering.start()
    await say_secret(steering)
    assert await run.pull() == [f"use {SECRET}"]
    await run.end(done(f"I used {SECRET}"))

    assert SECRET not in everything_recorded(steering.engine)
