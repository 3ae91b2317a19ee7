"""What a person does with their own hands: state that is edited, and events that are brought back."""

import asyncio
import base64
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from engine.api import Choice, Expected, Fate, NotFound, Scope, StateMoved, StateRefused, draft_of
from engine.intake.attachments import DATA_LIMIT
from engine.intake.envelope import EventEnvelope
from tests.support import (
    Engines,
    FakeClock,
    Stage,
    declares,
    done,
    events_of,
    kept,
    message,
    perform,
    played,
    said,
    send,
    until,
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


async def test_a_run_at_work_sees_an_edit_with_its_next_call(open_engine: Engines):
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

    scope = (await engine.scopes_of(run_id))[Scope.CONVERSATION]
    await engine.set_state(scope, "mood", "calm")
    edited.set()
    await engine.finished(run_id)

    assert seen == [None, "calm"]


async def test_what_a_person_and_a_runner_wrote_is_told_apart(play: Stage):
    run = await play(kept("mood", "wild"), done())
    scope = (await play.engine.scopes_of(run.run_id))[Scope.CONVERSATION]

    edit = await play.engine.set_state(scope, "mood", "calm")
    await play.engine.restore_state(edit.edit_id)

    changes = await play.engine.state_history(scope, "mood")
    assert [(one.editor, one.run_id, one.position, one.glimpse) for one in changes] == [
        ("person", None, None, '"wild"'),
        ("person", None, None, '"calm"'),
        ("runner", run.run_id, run.one("state.updated").position, '"wild"'),
    ]
    assert await play.engine.state_value(scope, "mood", change=changes[1].number) == "calm"
    assert [row.actor_id for row in events_of(play.engine, "state.set")] == ["local"]


async def test_the_state_of_an_entry_is_not_what_a_person_made_of_it_later(play: Stage):
    run = await play(kept("mood", "wild"), done())
    scope = (await play.engine.scopes_of(run.run_id))[Scope.CONVERSATION]

    await play.engine.clear_state(scope)

    then = await play.engine.state_at(run.run_id, run.one("run.finished").position)
    assert then["conversation"]["mood"].value == "wild"
    assert await play.engine.states() == []


async def test_a_reader_edits_too_and_says_what_is_refused(open_engine: Engines):
    async def keeps(ctx):
        yield kept("mood", 1)
        yield done()

    host = await open_engine(keeps)
    run = await perform(host)
    await open_engine.close(host)
    reader = await open_engine(mode="read")
    (row,) = await reader.states(conversation_id="s")

    await reader.delete_state(row.identity, row.key)

    assert await reader.states() == []
    assert await reader.scopes_of("last") == await reader.scopes_of(run.run_id)
    with pytest.raises(StateRefused, match="at most 262144 are kept"):
        await reader.set_state(row.identity, "mood", "x" * (256 << 10))


async def test_of_two_who_saw_the_same_only_the_first_writes(play: Stage, open_engine: Engines):
    run = await play(kept("mood", "wild"), done())
    scope = (await play.engine.scopes_of(run.run_id))[Scope.CONVERSATION]
    reader = await open_engine(mode="read")

    tried = await asyncio.gather(
        play.engine.set_state(scope, "mood", "calm", expected="wild"),
        reader.set_state(scope, "mood", "sad", expected="wild"),
        return_exceptions=True,
    )

    (moved,) = [one for one in tried if isinstance(one, StateMoved)]
    assert moved.change is not None
    assert (moved.now, moved.change.editor) == (await play.engine.state_value(scope, "mood"), "person")
    assert len(await play.engine.state_history(scope, "mood")) == 2
    with pytest.raises(StateMoved):
        await reader.set_state(scope, "mood", 1, expected=Expected.NOTHING)
    await reader.delete_state(scope, "mood", expected=moved.now)


# Events that came in


async def test_an_event_comes_back_as_it_came_in_with_its_bytes(play: Stage):
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
    run = await play(done("x"), event=sent)

    for name in (sent.event_id, run.run_id, "last"):
        past = await play.engine.event_of(name)
        assert (past.lost, past.envelope.time) == ((), sent.time)
        assert past.envelope.model_copy(update={"event_time": sent.event_time}) == sent


async def test_data_that_was_too_large_to_hand_on_comes_back_too(play: Stage):
    data = {"blob": "x" * DATA_LIMIT}
    run = await play(done("x"), event=message(data=data))

    past = await play.engine.event_of(run.run_id)

    assert (past.envelope.data, past.envelope.raw_ref) == (data, None)


async def test_what_is_lost_is_said(play: Stage, clock: FakeClock):
    picture = {"type": "image_base64", "image_base64": FILE["content"]}
    sent = message(input={"contents": [{"type": "text", "text": "see"}, picture], "attachments": [FILE]})
    run = await play(done("x"), event=sent)
    _expire(play, "a1", clock)

    past = await play.engine.event_of(run.run_id)

    assert past.lost == (
        "attachment 'note.txt' is not kept any more",
        "a picture or file inside the message was not kept",
    )
    assert [part.type for part in past.envelope.input.contents] == ["text"]
    assert past.envelope.input.attachments == []


async def test_bytes_of_another_event_under_the_same_id_are_not_brought_back(play: Stage):
    await play(done("x"), event=message(input={"text": "one", "attachments": [FILE]}))
    second = await play(done("x"), event=message(input={"text": "two", "attachments": [FILE]}))

    past = await play.engine.event_of(second.run_id)

    assert (past.envelope.input.attachments, len(past.lost)) == ([], 1)


async def test_a_secret_comes_back_as_its_mark_and_that_is_said(open_engine: Engines):
    @declares(config=[{"name": "api_key", "type": "string", "label": {"en_US": "Key"}}])
    async def knows(ctx):
        yield done("x")

    engine = await open_engine(knows)
    run = await perform(engine, "my key is hunter22", config={"api_key": "hunter22"})

    past = await engine.event_of(run.run_id)

    assert past.envelope.input.text == "my key is ‹secret api_key›"
    assert past.lost == ("a secret was recorded as a mark; write it in again",)


async def test_a_message_that_waits_comes_back_with_the_words_that_stand_now(open_engine: Engines):
    engine = await open_engine(waits)
    await send(engine, "one")
    late = message("two", input={"text": "two", "attachments": [FILE]})
    ticket = await engine.submit(late)
    await engine.edit_item(str(ticket.item_id), "three")

    past = await engine.event_of(late.event_id)

    assert past.envelope.input.to_text() == "three"
    assert past.envelope.input.attachments[0].content == FILE["content"]
    assert (await engine.queue())[0].fate == Fate.QUEUED


async def test_what_never_was_or_never_began_is_not_found(play: Stage):
    await play(done("x"), event=message(event_id="e1"))
    edit = await play.engine.set_state((await play.engine.scopes_of("last"))[Scope.ACTOR], "a", 1)

    with pytest.raises(NotFound, match="no run nothing"):
        await play.engine.event_of("nothing")
    with pytest.raises(NotFound, match="never began as a run, so its input is not known"):
        await play.engine.event_of(edit.edit_id)


async def test_a_run_again_has_the_files_of_the_first_as_artifacts_of_its_own(play: Stage):
    sent = message(event_time="2026-01-01T00:00:00Z", input={"text": "see", "attachments": [FILE]})
    first = await play(done("x"), event=sent)

    ticket = await play.engine.again(first.run_id)
    second = await played(play.engine, await ticket.started)

    (row,) = await play.engine.artifacts(run_id=second.run_id)
    assert (row.artifact_id != "a1", row.name) == (True, "note.txt")
    assert await play.engine.artifact_bytes(row.artifact_id) == b"hello"
    assert second.warnings == []
    assert second.context["event"]["event_time"] is None


async def test_an_event_is_changed_and_sent_again(play: Stage):
    first = await play(done("x"), event=message("old", input={"text": "old", "attachments": [FILE]}))
    past = await play.engine.event_of(first.run_id)

    second = await _edited(play, past.envelope, text="new")

    assert second.context["input"]["text"] == "new"
    assert second.warnings == []
    assert len(await play.engine.artifacts(run_id=second.run_id)) == 1


async def _edited(play: Stage, envelope: EventEnvelope, **fields: Any) -> Any:
    composed = play.engine.compose(replace(draft_of(envelope), **fields))
    ticket = await play.engine.submit(composed, Choice())
    return await played(play.engine, await ticket.started)


def _expire(play: Stage, artifact_id: str, clock: FakeClock) -> None:
    with closing(sqlite3.connect(play.engine.database_path)) as driver, driver:
        driver.execute("UPDATE artifacts SET expires_at = ? WHERE artifact_id = ?", (clock.now(), artifact_id))


# Artifacts


async def test_artifacts_that_have_expired_are_listed_where_that_is_asked_for_and_told_as_such(
    play: Stage, clock: FakeClock
):
    run = await play(done("x"), event=message(input={"attachments": [FILE, {**FILE, "artifact_id": "a2"}]}))
    _expire(play, "a1", clock)

    listed = await play.engine.artifacts(run_id=run.run_id, expired=True)

    assert {row.artifact_id: row.has_expired(clock.now()) for row in listed} == {"a1": True, "a2": False}
    assert [row.artifact_id for row in await play.engine.artifacts(conversation_id="s")] == ["a2"]
    assert (await play.engine.artifact("a1", expired=True)).name == "note.txt"
    for ask in (play.engine.artifact, play.engine.artifact_bytes):
        with pytest.raises(NotFound, match="it never was, or it has expired"):
            await ask("a1")


# Sessions and what was said in them


async def test_a_live_session_says_so_and_a_hit_leads_to_the_entry_that_said_it(open_engine: Engines):
    engine = await open_engine(waits)
    run_id = await send(engine, "about the train")
    await until(engine, run_id, "run.started")

    (row,) = await engine.browse_sessions(text="s")
    (hit,) = (await engine.hits("train")).hits

    assert (row.live_run, row.lines, row.beginning) == (run_id, 1, "about the train")
    assert (hit.line.run_id, hit.position) == (run_id, 1)


async def test_a_hit_in_an_answer_leads_to_its_message(play: Stage):
    run = await play(said("first the train"), said("then the tram"), done())

    found = {hit.line.content: hit.position for hit in (await play.engine.hits("the")).hits}

    positions = [entry.position for entry in run.all("message.completed")]
    assert found == dict(zip(("first the train", "then the tram"), positions, strict=True))
