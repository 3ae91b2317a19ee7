"""State edits by the user, and past events that are read back."""

import asyncio
import base64
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from engine.api import Expected, Fate, NotFound, RunOptions, Scope, StateConflict, StateRefused, draft_of
from engine.intake.attachments import DATA_LIMIT
from engine.intake.envelope import EventEnvelope
from engine.store import tables
from engine.store.errors import HostRefused
from tests.support.engines import (
    Engines,
    FakeClock,
    ScriptRunner,
    declares,
    done,
    events_of,
    message,
    run_event,
    said,
    send,
    state_updated,
    wait_for_entry,
    wait_for_run,
    waits,
)

FILE = {
    "artifact_id": "a1",
    "artifact_type": "file",
    "source": "platform",
    "name": "note.txt",
    "content": base64.b64encode(b"hello").decode(),
}


# State


async def counts(ctx: Any) -> AsyncIterator[Any]:
    """A runner that counts its runs in the state."""
    count = (await ctx.api.state_get("conversation", "count") or 0) + 1
    await ctx.api.state_set("conversation", "count", count)
    yield state_updated("seen", count)
    yield done(str(count))


async def test_state_in_memory_works_as_usual_and_is_gone_with_its_engine(open_engine: Engines):
    engine = await open_engine(counts)
    await run_event(engine, message(session="talk"))
    await open_engine.close(engine)

    engine = await open_engine(state="memory")
    for _ in range(2):
        run = await run_event(engine, message(session="talk"))
    assert {kept.key: kept.value for kept in await engine.state.read()} == {"count": 2, "seen": 2}
    scope = (await engine.state.scopes_of_run(run.run_id))[Scope.CONVERSATION]
    edit = await engine.state.set(scope, "count", 9)
    await engine.state.restore(edit.edit_id)
    assert [change.glimpse for change in await engine.state.history(scope, "count")] == ["2", "9", "2", "1"]
    await engine.sessions.delete("talk")
    assert await engine.state.read() == []
    await run_event(engine, message(session="other"))
    await open_engine.close(engine)

    with closing(sqlite3.connect(open_engine.db)) as driver:
        assert driver.execute("SELECT count(*) FROM state_changes").fetchone() == (2,)
        assert driver.execute("SELECT state_key, value FROM state").fetchall() == [("count", "1"), ("seen", "1")]


async def test_engine_with_state_in_memory_must_be_the_only_host(open_engine: Engines):
    stored = await open_engine(counts)
    with pytest.raises(HostRefused, match=r"process \d+ hosts runs on this database, .* must be the only host\. End"):
        await open_engine(state="memory")
    await open_engine.close(stored)

    in_memory = await open_engine(state="memory")
    with pytest.raises(HostRefused, match=r"keeps the state of this database in memory, .* --db"):
        await open_engine()
    with pytest.raises(HostRefused):
        await open_engine(state="memory")
    await run_event(in_memory)
    reader = await open_engine(mode="read")
    assert len(await reader.runs.list()) == 1
    await open_engine.close(in_memory)

    await run_event(await open_engine())
    with pytest.raises(ValueError, match="leave out mode='read'"):
        await open_engine(mode="read", state="memory")


async def test_run_in_progress_sees_state_edit_with_its_next_call(open_engine: Engines):
    asked, edited, seen = asyncio.Event(), asyncio.Event(), []

    async def looks(ctx):
        seen.append(await ctx.api.state_get("conversation", "mood"))
        asked.set()
        await edited.wait()
        seen.append(await ctx.api.state_get("conversation", "mood"))
        yield done("ok")

    engine = await open_engine(looks)
    run_id = await send(engine)
    await asked.wait()

    scope = (await engine.state.scopes_of_run(run_id))[Scope.CONVERSATION]
    await engine.state.set(scope, "mood", "calm")
    edited.set()
    await engine.runs.wait_for_end(run_id)

    assert seen == [None, "calm"]


async def test_state_writes_of_user_and_runner_are_distinguished(run_script: ScriptRunner):
    run = await run_script(state_updated("mood", "wild"), done())
    scope = (await run_script.engine.state.scopes_of_run(run.run_id))[Scope.CONVERSATION]

    edit = await run_script.engine.state.set(scope, "mood", "calm")
    await run_script.engine.state.restore(edit.edit_id)

    changes = await run_script.engine.state.history(scope, "mood")
    assert [(one.editor, one.run_id, one.position, one.glimpse) for one in changes] == [
        ("user", None, None, '"wild"'),
        ("user", None, None, '"calm"'),
        ("runner", run.run_id, run.one("state.updated").position, '"wild"'),
    ]
    assert await run_script.engine.state.value(scope, "mood", change=changes[1].number) == "calm"
    assert [row.actor_id for row in events_of(run_script.engine, "state.set")] == ["local"]


async def test_state_at_entry_excludes_later_edits(run_script: ScriptRunner):
    run = await run_script(state_updated("mood", "wild"), done())
    scope = (await run_script.engine.state.scopes_of_run(run.run_id))[Scope.CONVERSATION]

    await run_script.engine.state.clear(scope)

    then = await run_script.engine.state.read_at(run.run_id, run.one("run.finished").position)
    assert then["conversation"]["mood"].value == "wild"
    assert await run_script.engine.state.browse() == []


async def test_reader_can_edit_state_and_gets_refusals(open_engine: Engines):
    async def keeps(ctx):
        yield state_updated("mood", 1)
        yield done()

    host = await open_engine(keeps)
    run = await run_event(host)
    await open_engine.close(host)
    reader = await open_engine(mode="read")
    (row,) = await reader.state.browse(conversation_id="s")

    await reader.state.delete(row.identity, row.key)

    assert await reader.state.browse() == []
    assert await reader.state.scopes_of_run("last") == await reader.state.scopes_of_run(run.run_id)
    with pytest.raises(StateRefused, match="the limit is 262144"):
        await reader.state.set(row.identity, "mood", "x" * (256 << 10))


async def test_second_edit_of_the_same_expected_value_conflicts(run_script: ScriptRunner, open_engine: Engines):
    run = await run_script(state_updated("mood", "wild"), done())
    scope = (await run_script.engine.state.scopes_of_run(run.run_id))[Scope.CONVERSATION]
    reader = await open_engine(mode="read")

    tried = await asyncio.gather(
        run_script.engine.state.set(scope, "mood", "calm", expected="wild"),
        reader.state.set(scope, "mood", "sad", expected="wild"),
        return_exceptions=True,
    )

    (moved,) = [one for one in tried if isinstance(one, StateConflict)]
    assert moved.change is not None
    assert (moved.now, moved.change.editor) == (await run_script.engine.state.value(scope, "mood"), "user")
    assert len(await run_script.engine.state.history(scope, "mood")) == 2
    with pytest.raises(StateConflict):
        await reader.state.set(scope, "mood", 1, expected=Expected.NOTHING)
    await reader.state.delete(scope, "mood", expected=moved.now)


# Events that came in


async def test_past_event_is_read_back_with_its_bytes(run_script: ScriptRunner):
    sent = message(
        "see",
        event_time="2026-01-01T00:00:00Z",
        bot_id="b",
        thread_id="t",
        subject={"subject_type": "message", "subject_id": "m1"},
        source_event_type="chat.post",
        input={
            "text": "see",
            "attachments": [FILE, {**FILE, "artifact_id": "a2", "content": None, "url": "https://x"}],
        },
        data={"n": 1},
    )
    run = await run_script(done("x"), event=sent)

    for name in (sent.event_id, run.run_id, "last"):
        past = await run_script.engine.runs.event(name)
        assert (past.lost, past.envelope.time) == ((), sent.time)
        assert past.envelope.model_copy(update={"event_time": sent.event_time}) == sent


async def test_event_of_a_run_that_was_recorded_with_times_as_text_is_read_back(run_script: ScriptRunner):
    sent = message("see", event_time="2026-01-01T00:00:00Z")
    run = await run_script(done("x"), event=sent)
    context = run.context
    context["trigger"]["timestamp"] = context["event"]["event_time"] = "2026-01-01T00:00:00.000000Z"
    context["runtime"]["deadline_at"] = "2026-01-01T00:05:00.000000Z"
    data = json.dumps({**run.one("run.started").data, "context": context})
    await run_script.engine._core.edit(
        lambda tx: tx.connection.execute(
            tables.journal.update().where(tables.journal.c.position == 1).values(data=data)
        )
    )

    past = await run_script.engine.runs.event(run.run_id)

    assert (past.lost, past.envelope.time) == ((), sent.time)


async def test_large_event_data_is_read_back(run_script: ScriptRunner):
    data = {"blob": "x" * DATA_LIMIT}
    run = await run_script(done("x"), event=message(data=data))

    past = await run_script.engine.runs.event(run.run_id)

    assert (past.envelope.data, past.envelope.raw_ref) == (data, None)


async def test_past_event_lists_parts_that_are_gone(run_script: ScriptRunner, clock: FakeClock):
    picture = {"type": "image_base64", "image_base64": FILE["content"]}
    sent = message(input={"contents": [{"type": "text", "text": "see"}, picture], "attachments": [FILE]})
    run = await run_script(done("x"), event=sent)
    _expire(run_script, "a1", clock)
    await run_script.engine._core.require_host().writer.submit(
        lambda tx: tx.connection.exec_driver_sql("DELETE FROM parts")
    )

    past = await run_script.engine.runs.event(run.run_id)

    assert past.lost == (
        "attachment 'note.txt' is not stored any more",
        "a picture or file inside the message is not stored",
    )
    assert [part.type for part in past.envelope.input.contents] == ["text"]
    assert past.envelope.input.attachments == []


async def test_bytes_of_another_event_with_the_same_artifact_id_are_not_read(run_script: ScriptRunner):
    await run_script(done("x"), event=message(input={"text": "one", "attachments": [FILE]}))
    second = await run_script(done("x"), event=message(input={"text": "two", "attachments": [FILE]}))

    past = await run_script.engine.runs.event(second.run_id)

    assert (past.envelope.input.attachments, len(past.lost)) == ([], 1)


async def test_secret_stays_masked_in_past_event_and_is_reported(open_engine: Engines):
    @declares(config=[{"name": "api_key", "type": "string", "label": {"en_US": "Key"}}])
    async def knows(ctx):
        yield done("x")

    engine = await open_engine(knows)
    run = await run_event(engine, "my key is hunter22", config={"api_key": "hunter22"})

    past = await engine.runs.event(run.run_id)

    assert past.envelope.input.text == "my key is ‹secret api_key›"
    assert past.lost == ("a secret is masked in the database; enter it again",)


async def test_large_data_of_a_past_event_is_masked(open_engine: Engines):
    async def knows(ctx):
        yield done("x")

    engine = await open_engine(knows)
    large = message("hi", data={"note": "hunter22", "rest": "x" * 400_000})
    run = await run_event(engine, large, config={"api_key": "hunter22"})

    past = await engine.runs.event(run.run_id)

    assert past.envelope.data["note"] == "‹secret api_key›"
    assert past.lost == ("a secret is masked in the database; enter it again",)


async def test_queued_message_is_read_back_with_its_edited_text(open_engine: Engines):
    engine = await open_engine(waits)
    await send(engine, "one")
    late = message("two", input={"text": "two", "attachments": [FILE]})
    ticket = await engine.runs.submit(late)
    await engine.queue.edit(str(ticket.item_id), "three")

    past = await engine.runs.event(late.event_id)

    assert past.envelope.input.to_text() == "three"
    assert past.envelope.input.attachments[0].content == FILE["content"]
    assert (await engine.queue.list())[0].fate == Fate.QUEUED


async def test_unknown_or_never_started_run_has_no_past_event(run_script: ScriptRunner):
    await run_script(done("x"), event=message(event_id="e1"))
    edit = await run_script.engine.state.set((await run_script.engine.state.scopes_of_run("last"))[Scope.ACTOR], "a", 1)

    with pytest.raises(NotFound, match="no run nothing"):
        await run_script.engine.runs.event("nothing")
    with pytest.raises(NotFound, match="never started as a run, so its input is not stored"):
        await run_script.engine.runs.event(edit.edit_id)


async def test_run_again_has_its_own_copies_of_attached_files(run_script: ScriptRunner):
    sent = message(event_time="2026-01-01T00:00:00Z", input={"text": "see", "attachments": [FILE]})
    first = await run_script(done("x"), event=sent)

    ticket = await run_script.engine.runs.run_again(first.run_id)
    second = await wait_for_run(run_script.engine, await ticket.started)

    (row,) = await run_script.engine.artifacts.list(run_id=second.run_id)
    assert (row.artifact_id != "a1", row.name) == (True, "note.txt")
    assert await run_script.engine.artifacts.read_bytes(row.artifact_id) == b"hello"
    assert second.warnings == []
    assert second.context["event"]["event_time"] is None


async def test_past_event_can_be_edited_and_sent_again(run_script: ScriptRunner):
    first = await run_script(done("x"), event=message("old", input={"text": "old", "attachments": [FILE]}))
    past = await run_script.engine.runs.event(first.run_id)

    second = await _edited(run_script, past.envelope, text="new")

    assert second.context["input"]["text"] == "new"
    assert second.warnings == []
    assert len(await run_script.engine.artifacts.list(run_id=second.run_id)) == 1


async def _edited(run_script: ScriptRunner, envelope: EventEnvelope, **fields: Any) -> Any:
    composed = run_script.engine.runs.compose(replace(draft_of(envelope), **fields))
    ticket = await run_script.engine.runs.submit(composed, RunOptions())
    return await wait_for_run(run_script.engine, await ticket.started)


def _expire(run_script: ScriptRunner, artifact_id: str, clock: FakeClock) -> None:
    with closing(sqlite3.connect(run_script.engine.database_path)) as driver, driver:
        driver.execute("UPDATE artifacts SET expires_at = ? WHERE artifact_id = ?", (clock.now(), artifact_id))


# Artifacts


async def test_expired_artifacts_are_listed_only_on_request(run_script: ScriptRunner, clock: FakeClock):
    run = await run_script(done("x"), event=message(input={"attachments": [FILE, {**FILE, "artifact_id": "a2"}]}))
    _expire(run_script, "a1", clock)

    listed = await run_script.engine.artifacts.list(run_id=run.run_id, expired=True)

    assert {row.artifact_id: row.has_expired(clock.now()) for row in listed} == {"a1": True, "a2": False}
    assert [row.artifact_id for row in await run_script.engine.artifacts.list(conversation_id="s")] == ["a2"]
    assert (await run_script.engine.artifacts.get("a1", expired=True)).name == "note.txt"
    for ask in (run_script.engine.artifacts.get, run_script.engine.artifacts.read_bytes):
        with pytest.raises(NotFound, match="It does not exist or has expired"):
            await ask("a1")


# Sessions and their transcripts


async def test_live_session_is_marked_and_hit_has_its_journal_entry(open_engine: Engines):
    engine = await open_engine(waits)
    run_id = await send(engine, "about the train")
    await wait_for_entry(engine, run_id, "run.started")

    (row,) = await engine.sessions.browse(text="s")
    (hit,) = (await engine.search.hits("train")).hits

    assert (row.live_run, row.lines, row.beginning) == (run_id, 1, "about the train")
    assert (hit.line.run_id, hit.position) == (run_id, 1)


async def test_hit_in_reply_has_the_entry_of_its_message(run_script: ScriptRunner):
    run = await run_script(said("first the train"), said("then the tram"), done())

    found = {hit.line.content: hit.position for hit in (await run_script.engine.search.hits("the")).hits}

    positions = [entry.position for entry in run.all("message.completed")]
    assert found == dict(zip(("first the train", "then the tram"), positions, strict=True))
