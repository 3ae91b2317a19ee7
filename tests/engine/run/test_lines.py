"""The transcript lines and artifacts that results write."""

import base64
import hashlib

import pytest

from engine.run.effects import MAX_INLINE_BYTES
from engine.store.artifacts import Storage
from tests.support.engines import (
    START,
    ScriptRunner,
    artifact_created,
    delta,
    done,
    events_of,
    failed,
    lines_of,
    message,
    said,
)


async def assistant_lines(run_script: ScriptRunner):
    return [line for line in await run_script.engine.sessions.transcript("s", after=0) if line.role == "assistant"]


# Lines


async def test_there_is_one_assistant_line_per_completed_message(run_script: ScriptRunner):
    run = await run_script(said("one"), said("two"), done("three"))

    assert await lines_of(run_script.engine) == [
        ("user", "hi"),
        ("assistant", "one"),
        ("assistant", "two"),
        ("assistant", "three"),
    ]
    assert {line.run_id for line in await assistant_lines(run_script)} == {run.run_id}


async def test_a_message_repeated_at_the_end_writes_no_second_line(run_script: ScriptRunner):
    await run_script(said("bye"), done("bye"))

    assert await lines_of(run_script.engine) == [("user", "hi"), ("assistant", "bye")]


async def test_message_repeated_by_message_completed_is_a_second_line(run_script: ScriptRunner):
    await run_script(said("ping"), said("ping"), done())

    assert await lines_of(run_script.engine) == [("user", "hi"), ("assistant", "ping"), ("assistant", "ping")]


async def test_only_the_same_role_and_content_as_the_last_message_is_a_repeat(run_script: ScriptRunner):
    await run_script(said("one"), said("two"), done("one"))

    assert [line.content for line in await assistant_lines(run_script)] == ["one", "two", "one"]


async def test_a_message_of_another_role_is_no_repeat(run_script: ScriptRunner):
    await run_script(said("same words", role="tool"), done("same words"))

    assert [line.content for line in await assistant_lines(run_script)] == ["same words", "same words"]


async def test_a_message_in_run_completed_is_delivered_like_any_other(run_script: ScriptRunner):
    run = await run_script(done("last words"))

    assert run.row.status_reason == "stop"
    assert await lines_of(run_script.engine) == [("user", "hi"), ("assistant", "last words")]


async def test_assistant_text_parts_join_with_a_space(run_script: ScriptRunner):
    await run_script(
        said([{"type": "text", "text": "one"}, {"type": "image_url"}, {"type": "text", "text": "two"}]), done()
    )

    assert (await assistant_lines(run_script))[0].content == "one two"


async def test_user_text_parts_join_without_a_space(run_script: ScriptRunner):
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    await run_script(done("x"), event=message(input={"contents": parts}))

    assert (await lines_of(run_script.engine))[0] == ("user", "onetwo")


async def test_long_text_is_cut_in_the_line_and_complete_in_content_json(run_script: ScriptRunner):
    await run_script(said("x" * 5_000), done(), event="y" * 5_000)

    user, assistant = await run_script.engine.sessions.transcript("s", after=0)
    assert (len(user.content), user.content[-4:]) == (4_000, "y...")
    assert user.content_json["text"] == "y" * 5_000
    assert (len(assistant.content), assistant.content[-4:]) == (4_000, "x...")
    assert assistant.content_json["content"] == "x" * 5_000


async def test_text_of_4000_characters_is_not_cut(run_script: ScriptRunner):
    await run_script(said("x" * 4_000), done())

    assert (await assistant_lines(run_script))[0].content == "x" * 4_000


async def test_inline_base64_is_null_in_the_transcript_and_marked(run_script: ScriptRunner):
    picture = {"type": "image_base64", "image_base64": "aGVsbG8="}
    await run_script(said([picture]), done(), event=message(input={"text": "look", "contents": [picture]}))

    user, assistant = await run_script.engine.sessions.transcript("s", after=0)
    gone = {"type": "image_base64", "image_base64": None, "content_redacted": True}
    assert user.content_json["contents"] == [gone]
    assert assistant.content_json["content"] == [gone]


async def test_without_a_conversation_there_is_no_transcript(run_script: ScriptRunner):
    run = await run_script(said("x"), done(), event=message(session=None))

    assert run.row.status == "completed"
    assert await run_script.engine.sessions.transcript("s") == []


# Artifacts


async def test_an_artifact_is_stored_and_audited(run_script: ScriptRunner):
    content = b"\x00hello"
    run = await run_script(
        artifact_created("image", artifact_id="a1", name="n", content_base64=base64.b64encode(content).decode()),
        done("x"),
    )

    (row,) = await run_script.engine.artifacts.list(run_id=run.run_id)
    assert (row.artifact_id, row.artifact_type, row.storage, row.source) == ("a1", "image", Storage.BLOB, "runner")
    assert (row.size_bytes, row.sha256) == (6, hashlib.sha256(content).hexdigest())
    assert (row.run_id, row.conversation_id, row.created_at) == (run.run_id, "s", START)
    assert await run_script.engine.artifacts.read_bytes("a1") == content
    (audit,) = events_of(run_script.engine, "artifact.created")
    assert (audit.run_id, audit.metadata) == (run.run_id, {"artifact_id": "a1"})


async def test_artifact_without_content_has_only_metadata(run_script: ScriptRunner):
    await run_script(artifact_created(artifact_id="a1", size_bytes=12), done("x"))

    (row,) = await run_script.engine.artifacts.list()
    assert (row.storage, row.size_bytes) == (Storage.METADATA, 12)
    assert await run_script.engine.artifacts.read_bytes("a1") == b""


async def test_an_artifact_without_an_id_gets_one(run_script: ScriptRunner):
    run = await run_script(artifact_created(), done("x"))

    (row,) = await run_script.engine.artifacts.list(run_id=run.run_id)
    assert row.artifact_id.startswith("art_")
    assert (await assistant_lines(run_script))[0].artifact_refs == [row.artifact_id]


BAD_ARTIFACTS = {
    "no base64": ("content_base64 is not valid base64", "not base64!"),
    "base64 with a blot": ("content_base64 is not valid base64", "aGVs*bG8="),
    "oversize": (
        f"{MAX_INLINE_BYTES + 1} bytes exceed the limit of inline content ({MAX_INLINE_BYTES})",
        base64.b64encode(b"x" * (MAX_INLINE_BYTES + 1)).decode(),
    ),
}


@pytest.mark.parametrize(("reason", "content"), BAD_ARTIFACTS.values(), ids=BAD_ARTIFACTS)
async def test_artifact_that_cannot_be_stored_is_dropped_and_the_run_continues(
    run_script: ScriptRunner, reason: str, content: str
):
    run = await run_script(artifact_created(artifact_id="bad", content_base64=content), said("fine"), done())

    entry = run.one("artifact.created")
    assert (entry.outcome, entry.reason) == ("dropped", reason)
    assert run.row.status == "completed"
    assert await run_script.engine.artifacts.list() == []
    assert (await assistant_lines(run_script))[0].artifact_refs == []


async def test_an_artifact_of_a_full_mebibyte_is_stored(run_script: ScriptRunner):
    content = b"x" * MAX_INLINE_BYTES
    run = await run_script(artifact_created(artifact_id="a", content_base64=base64.b64encode(content).decode()), done())

    assert run.one("artifact.created").outcome is None
    assert len(await run_script.engine.artifacts.read_bytes("a")) == MAX_INLINE_BYTES


async def test_artifact_with_a_wrong_digest_is_dropped(run_script: ScriptRunner):
    digest = hashlib.sha256(b"hello").hexdigest()
    run = await run_script(
        artifact_created(artifact_id="good", content_base64="aGVsbG8=", sha256=digest),
        artifact_created(artifact_id="bad", content_base64="aGVsbG8=", sha256="0" * 64),
        done("x"),
    )

    assert [(entry.outcome, entry.reason) for entry in run.all("artifact.created")] == [
        (None, None),
        ("dropped", "sha256 does not match the content"),
    ]
    assert [row.artifact_id for row in await run_script.engine.artifacts.list()] == ["good"]


async def test_an_artifact_id_that_is_taken_is_dropped_with_a_reason(run_script: ScriptRunner):
    run = await run_script(artifact_created(artifact_id="a"), artifact_created("image", artifact_id="a"), done("x"))

    first, second = run.all("artifact.created")
    assert first.outcome is None
    assert (second.outcome, second.reason) == ("dropped", "artifact id 'a' is already used")
    assert [row.artifact_type for row in await run_script.engine.artifacts.list()] == ["file"]


async def test_the_next_assistant_line_refers_to_the_artifacts_made_before_it(run_script: ScriptRunner):
    await run_script(
        artifact_created(artifact_id="a"),
        artifact_created(artifact_id="b"),
        said("one"),
        artifact_created(artifact_id="c"),
        done("two"),
    )

    assert [line.artifact_refs for line in await assistant_lines(run_script)] == [["a", "b"], ["c"]]


async def test_pending_artifact_references_are_merged_with_those_of_the_message_once_per_id(run_script: ScriptRunner):
    await run_script(
        artifact_created(artifact_id="a"),
        artifact_created(artifact_id="b"),
        said("one", artifact_refs=["b", {"artifact_id": "c"}, "c"]),
        said("two"),
        done(),
    )

    assert [line.artifact_refs for line in await assistant_lines(run_script)] == [["a", "b", "c"], []]


async def test_line_made_from_deltas_refers_to_artifacts(run_script: ScriptRunner):
    await run_script(artifact_created(artifact_id="a"), delta("x"), delta("y"), done())

    assert (await assistant_lines(run_script))[0].artifact_refs == ["a"]


async def test_artifacts_of_a_failed_run_are_kept(run_script: ScriptRunner):
    run = await run_script(artifact_created(artifact_id="a"), failed())

    assert [row.artifact_id for row in await run_script.engine.artifacts.list(run_id=run.run_id)] == ["a"]
