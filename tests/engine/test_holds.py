"""Holds at calls: before they are made, before their replies go, and what a person puts in."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from engine.access.desk import ACTIONS
from engine.access.holding import checked
from engine.api import CannotHold, Elsewhere, FactsError, NotFound, Point, Stage
from engine.protocol import AgentAPIException
from engine.resources.interfaces import ResourceError
from engine.run.points import GROUPS, NAMES_OF
from tests.engine.holding import SKY, House, holds_in, reached, told
from tests.support import Engines, Played, delta, done, forever, journal_of, message, played, said, send, waits

ASKED = [{"role": "user", "content": "and tomorrow?"}]
GREY = {"result": {"sky": "grey"}}


@pytest.fixture
async def house(open_engine: Engines) -> AsyncIterator[House]:
    opened = House(open_engine)
    yield opened
    await opened.close()


async def asks(ctx: Any) -> AsyncIterator[Any]:
    """Calls the tool and says what it answered."""
    yield done(str(await ctx.api.call_tool("weather", {"place": "here"})))


def answer_of(run: Played) -> Any:
    return run.one("run.completed").data["message"]["content"]


# Points


@pytest.mark.parametrize(
    ("words", "point"),
    [
        ("pull", Point("pull")),
        ("steering_pull", Point("pull")),
        (" tool ", Point("tool")),
        ("call_tool#2", Point("call_tool", 2)),
        ("tool.call.started#10", Point("tool.call.started", 10)),
    ],
)
def test_a_point_is_read_from_its_words(words: str, point: Point):
    assert Point.parse(words) == point
    assert Point.parse(str(point)) == point


@pytest.mark.parametrize("words", ["tool#0", "tool#-1", "tool#x", "tool#", "tool#1.5", "tool#²", "tool#12345678901"])
def test_what_stands_behind_the_hash_is_a_count(words: str):
    with pytest.raises(CannotHold, match="behind # stands which time of the run is meant"):
        Point.parse(words)


@pytest.mark.parametrize("words", ["", "tools", "call_tol", "tool.call.start#2", "steering", "run.finished"])
def test_a_word_that_is_no_point_is_answered_with_those_that_are(words: str):
    with pytest.raises(CannotHold) as error:
        Point.parse(words)
    for known in ("pull", "knowledge", "call_tool", "message.completed", "#n"):
        assert known in str(error.value)


def test_a_near_miss_is_recognised():
    with pytest.raises(CannotHold, match=r"Did you mean tool\.call\.started\?"):
        Point.parse("tool.call.start#2")


def test_every_call_of_the_host_is_in_one_group_or_is_the_pull():
    assert set(NAMES_OF) == set(ACTIONS)
    assert sum(len(calls) for calls in GROUPS.values()) + 1 == len(ACTIONS)


# Before a call


async def test_a_call_is_held_before_it_is_made_and_made_when_released(house: House):
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))

    held = await reached(engine, run_id)
    assert (held.point, held.stage, held.call_id, held.action) == ("tool", Stage.BEFORE, "c1", "call_tool")
    assert held.arguments == {"tool_name": "weather", "parameters": {"place": "here"}}
    assert (held.original, held.edit, house.tool.asked) == (None, None, [])

    house.clock.advance(2.5)
    await engine.release(run_id)
    assert await engine.held(run_id) is None
    run = await played(engine, run_id)
    assert answer_of(run) == str(SKY)
    assert house.tool.asked == [{"place": "here"}]
    assert [(entry.source, entry.type) for entry in run.journal if entry.type.startswith(("hold.", "call."))] == [
        ("person", "hold.armed"),
        ("runner", "call.requested"),
        ("host", "call.decided"),
        ("host", "hold.reached"),
        ("person", "hold.released"),
        ("host", "call.replied"),
    ]
    reach = {"when": "tool", "stage": "before", "call_id": "c1", "action": "call_tool"}
    assert run.one("hold.armed").data == {"when": "tool", "once": False}
    assert run.one("hold.reached").data == reach
    assert run.one("hold.released").data == {**reach, "seconds": 2.5, "how": "release"}


async def test_a_call_that_is_answered_before_it_is_made_is_not_made(house: House):
    engine = await house(asks)
    run_id = await send(engine, holds=("call_tool",))
    await reached(engine, run_id)

    assert (await engine.edit_held(run_id, GREY)).edit == GREY
    assert (await engine.held(run_id)).edit == GREY, "an edit does not let the run go on"
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert answer_of(run) == str(GREY["result"])
    assert house.tool.asked == []
    edited = run.one("hold.edited")
    assert edited.source == "person"
    assert edited.data == {"call_id": "c1", "original": None, "edit": GREY, "editor": "local"}
    assert run.one("call.replied").data == {"call_id": "c1", "reply": GREY}


async def test_a_step_makes_the_call_and_holds_its_reply_which_can_be_edited(house: House):
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)

    await engine.step(run_id)
    held = await reached(engine, run_id, 2)
    assert (held.point, held.stage, held.call_id, held.original) == ("step", Stage.REPLY, "c1", {"result": SKY})
    assert len(house.tool.asked) == 1
    await engine.edit_held(run_id, GREY, editor="ann")
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert answer_of(run) == str(GREY["result"])
    assert run.one("hold.edited").data == {
        "call_id": "c1", "original": {"result": SKY}, "edit": GREY, "editor": "ann",
    }  # fmt: skip
    assert run.one("call.replied").data["reply"] == GREY
    assert [entry.data["how"] for entry in run.all("hold.released")] == ["step", "release"]


async def test_a_reply_that_is_not_edited_goes_as_it_came(house: House):
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    await engine.step(run_id)
    await reached(engine, run_id, 2)
    await engine.release(run_id)

    assert answer_of(await played(engine, run_id)) == str(SKY)
    assert len(house.tool.asked) == 1


async def test_a_later_edit_replaces_an_earlier_one_and_both_are_in_the_journal(house: House):
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    await engine.edit_held(run_id, {"result": "first"})
    await engine.edit_held(run_id, {"result": "second"})
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert answer_of(run) == "second"
    assert [entry.data["edit"]["result"] for entry in run.all("hold.edited")] == ["first", "second"]


async def test_what_a_person_does_to_an_edit_after_giving_it_changes_nothing(house: House):
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    mine: dict[str, Any] = {"result": ["grey"]}
    await engine.edit_held(run_id, mine)
    mine["result"].append("blue")
    await engine.release(run_id)

    assert answer_of(await played(engine, run_id)) == "['grey']"


async def test_an_edit_that_cannot_be_is_refused_and_the_call_stays_held(house: House):
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    with pytest.raises(CannotHold, match="must be a JSON object, not list"):
        await engine.edit_held(run_id, [1])

    assert (await engine.held(run_id)).edit is None
    await engine.release(run_id)
    run = await played(engine, run_id)
    assert answer_of(run) == str(SKY)
    assert run.all("hold.edited") == []


@pytest.mark.parametrize(
    ("action", "reply", "words"),
    [
        ("state_get", None, "must be a JSON object, not NoneType"),
        ("state_get", {"value": float("nan")}, "cannot be sent: not JSON"),
        ("state_get", {"value": "x" * (16 << 20)}, "more than 16773120"),
        ("call_tool", {}, r"reply\.result: field required"),
        ("call_tool", {"result": 1, "extra": 2}, r"reply\.extra: unknown key"),
        ("invoke_llm", {"message": "hello"}, r"reply\.message: .*object|reply\.message: .*dictionary"),
        ("invoke_llm", {"message": {"content": "hello"}}, r"reply\.message\.role: field required"),
        ("invoke_llm", {"message": {"role": "assistant"}, "usage": 3}, r"reply\.usage: should be an object"),
        ("invoke_llm_stream", {}, "is either a message or frames"),
        ("invoke_llm_stream", {"message": {"role": "assistant"}, "frames": []}, "is either a message or frames"),
        ("invoke_llm_stream", {"frames": [{"chunk": {"content": "x"}}]}, r"reply\.frames\[0\]\.chunk\.role"),
    ],
)
def test_an_answer_is_checked_and_what_is_wrong_is_named(action: str, reply: object, words: str):
    with pytest.raises(CannotHold, match=words):
        checked(action, reply)


async def test_a_large_original_and_edit_are_kept_beside_the_journal_where_no_runner_reads_them(house: House):
    readable: list[str] = []

    async def asks_twice(ctx: Any) -> AsyncIterator[Any]:
        text = await ctx.api.call_tool("weather", {})
        entries = await ctx.api.run_events_page()
        (edited,) = (entry for entry in entries.items if entry.type == "hold.edited")
        for name in ("original_ref", "edit_ref"):
            try:
                await ctx.api.artifact_read(edited.data[name])
                readable.append(name)
            except AgentAPIException:
                pass
        yield done(text[:5])

    house.tool.answer = "a" * 40_000
    engine = await house(asks_twice)
    run_id = await send(engine, holds=("tool#1",))
    await reached(engine, run_id)
    await engine.step(run_id)
    await reached(engine, run_id, 2)
    await engine.edit_held(run_id, {"result": "b" * 50_000})
    await engine.release(run_id)

    run = await played(engine, run_id)
    edited = run.one("hold.edited").data
    assert answer_of(run) == "bbbbb"
    assert (edited["original_size"], edited["edit_size"], readable) == (40_013, 50_013, [])
    assert await engine.artifact_bytes(edited["original_ref"], limit=14) == b'{"result":"aaa'


async def test_a_failed_call_is_held_with_its_error_and_can_be_answered_after_all(house: House):
    house.tool.error = ResourceError("no signal")
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    await engine.step(run_id)
    held = await reached(engine, run_id, 2)
    assert held.original["error"]["message"] == "no signal"
    await engine.edit_held(run_id, GREY)
    await engine.release(run_id)

    assert answer_of(await played(engine, run_id)) == str(GREY["result"])


async def test_a_failed_call_that_is_not_answered_fails(house: House):
    house.tool.error = ResourceError("no signal")
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    await engine.step(run_id)
    await reached(engine, run_id, 2)
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert (run.row.status, run.finished["error"]) == ("failed", "AgentAPIException: no signal")
    assert run.one("call.replied").outcome == "failed"


async def test_a_call_that_the_gate_refuses_is_not_held(house: House):
    async def oversteps(ctx: Any) -> AsyncIterator[Any]:
        try:
            await ctx.api.call_tool("launch", {})
        except AgentAPIException as refusal:
            yield done(refusal.error.code)

    engine = await house(oversteps)
    run = await played(engine, await send(engine, holds=("tool",)))
    assert answer_of(run) == "unauthorized"
    assert run.all("hold.reached") == []


async def test_secrets_are_marks_in_what_is_shown_of_a_held_call_and_the_tool_gets_them_whole(house: House):
    async def unlocks(ctx: Any) -> AsyncIterator[Any]:
        yield done(str(await ctx.api.call_tool("weather", {"word": ctx.config["api_key"]})))

    engine = await house(unlocks)
    run_id = await send(engine, holds=("tool",))
    held = await reached(engine, run_id)
    assert held.arguments["parameters"] == {"word": "‹secret api_key›"}
    await engine.release(run_id)
    await played(engine, run_id)
    assert house.tool.asked == [{"word": "sesame-77"}]


# A model's answer


async def test_a_models_whole_answer_can_be_edited(house: House):
    async def talks(ctx: Any) -> AsyncIterator[Any]:
        yield done((await ctx.api.invoke_llm("m", ASKED)).content)

    engine = await house(talks)
    run_id = await send(engine, holds=("model",))
    await reached(engine, run_id)
    await engine.step(run_id)
    held = await reached(engine, run_id, 2)
    assert held.original == {"message": {"role": "assistant", "content": "it will rain"}, "usage": {"total_tokens": 3}}
    await engine.edit_held(run_id, {"message": {"role": "assistant", "content": "it will snow"}})
    await engine.release(run_id)

    assert answer_of(await played(engine, run_id)) == "it will snow"


async def streams(ctx: Any) -> AsyncIterator[Any]:
    """Says each piece of the model's answer."""
    yield done("|".join([chunk.content async for chunk in ctx.api.invoke_llm_stream("m", ASKED)]))


async def streamed(house: House) -> tuple[Any, str]:
    """A run whose streamed answer is held as a whole."""
    engine = await house(streams)
    run_id = await send(engine, holds=("model",))
    await reached(engine, run_id)
    await engine.step(run_id)
    await reached(engine, run_id, 2)
    return engine, run_id


async def test_a_streamed_answer_is_gathered_and_flows_as_it_came_when_released(house: House):
    engine, run_id = await streamed(house)
    held = await engine.held(run_id)
    frames = [*({"chunk": {"role": "assistant", "content": word}} for word in ("it ", "will ", "rain"))]
    assert held.original == {"frames": [*frames, {"usage": {"total_tokens": 3}}]}
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert answer_of(run) == "it |will |rain"
    assert run.one("call.replied").data["reply"] == held.original


async def test_an_edited_message_goes_as_one_chunk_of_the_stream(house: House):
    engine, run_id = await streamed(house)
    await engine.edit_held(run_id, {"message": {"role": "assistant", "content": "it will snow"}})
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert answer_of(run) == "it will snow"
    chunk = {"role": "assistant", "content": "it will snow", "is_final": True}
    assert run.one("call.replied").data["reply"] == {"frames": [{"chunk": chunk}]}


async def test_edited_frames_go_as_they_are(house: House):
    engine, run_id = await streamed(house)
    pieces = [{"chunk": {"role": "assistant", "content": word}} for word in ("a", "b")]
    await engine.edit_held(run_id, {"frames": pieces})
    await engine.release(run_id)

    assert answer_of(await played(engine, run_id)) == "a|b"


async def test_a_stream_that_is_answered_before_it_is_made_is_not_made(house: House):
    engine = await house(streams)
    run_id = await send(engine, holds=("invoke_llm_stream",))
    await reached(engine, run_id)
    await engine.edit_held(run_id, {"message": {"role": "assistant", "content": "nothing"}})
    await engine.release(run_id)

    assert answer_of(await played(engine, run_id)) == "nothing"
    assert house.model.asked == 0


async def test_a_stream_that_breaks_off_is_held_with_what_came_and_breaks_off_when_released(house: House):
    house.model.breaks_off = True
    engine, run_id = await streamed(house)
    held = await engine.held(run_id)
    assert (len(held.original["frames"]), held.original["error"]["message"]) == (1, "the line went dead")
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert run.finished["error"] == "AgentAPIException: the line went dead"
    assert len(run.one("call.replied").data["reply"]["frames"]) == 1


# Pulls


async def pulls(ctx: Any) -> AsyncIterator[Any]:
    """Says what it was told."""
    found = await ctx.api.steering_pull()
    yield done("|".join(item.input.to_text() for item in found.items))


async def test_what_is_sent_and_edited_while_a_pull_is_held_is_in_it(house: House):
    engine = await house(pulls)
    run_id = await send(engine, message("go"), holds=("pull",))
    held = await reached(engine, run_id)
    assert (held.stage, held.action) == (Stage.BEFORE, "steering_pull")

    first = await engine.submit(message("in feet"))
    second = await engine.submit(message("and short"))
    await engine.edit_item(first.item_id, "in metres")
    await engine.move_item(second.item_id, before=first.item_id)
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert answer_of(run) == "and short|in metres"
    assert run.types.index("hold.released") < run.types.index("steering.pulled")


async def test_a_pull_is_never_held_behind_what_it_took(house: House):
    engine = await house(pulls)
    run_id = await send(engine, message("go"), holds=("pull",))
    await reached(engine, run_id)
    await engine.submit(message("in feet"))
    await engine.step(run_id)

    held = await reached(engine, run_id, 2)
    assert (held.stage, held.type) == (Stage.RESULT, "run.completed")
    await engine.release(run_id)
    assert answer_of(await played(engine, run_id)) == "in feet"


async def test_a_pull_takes_what_waits_so_its_answer_cannot_be_edited(house: House):
    engine = await house(pulls)
    run_id = await send(engine, message("go"), holds=("pull",))
    await reached(engine, run_id)
    with pytest.raises(CannotHold, match="a pull takes what waits in the queue"):
        await engine.edit_held(run_id, {"items": []})
    await engine.release(run_id)
    assert (await played(engine, run_id)).row.status == "completed"


# Arming, steps and order


async def calls_thrice(ctx: Any) -> AsyncIterator[Any]:
    for number in range(3):
        await ctx.api.call_tool("weather", {"number": number})
    yield done("called")


async def test_without_a_number_a_point_holds_each_time_until_it_is_disarmed(house: House):
    engine = await house(calls_thrice)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    await engine.release(run_id)
    await reached(engine, run_id, 2)
    await engine.disarm(run_id, "tool")
    assert await engine.holds(run_id) == ()
    assert await engine.held(run_id) is not None, "what is held stays held"
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert len(run.all("hold.reached")) == 2
    assert run.one("hold.disarmed").data == {"when": "tool", "once": False}


async def test_with_a_number_only_that_one_is_held(house: House):
    engine = await house(calls_thrice)
    run_id = await send(engine, holds=("tool#2",))
    held = await reached(engine, run_id)
    assert held.arguments["parameters"] == {"number": 1}
    assert await engine.holds(run_id) == (), "it is used up"
    with pytest.raises(CannotHold, match="tool#2 has passed: 2 came so far"):
        await engine.hold(run_id, "tool#2")
    await engine.hold(run_id, "call_tool#3")
    await engine.release(run_id)
    held = await reached(engine, run_id, 2)
    assert (held.point, held.arguments["parameters"]) == ("call_tool#3", {"number": 2})
    await engine.release(run_id)
    assert (await played(engine, run_id)).row.status == "completed"


async def test_a_point_that_is_armed_once_holds_once(house: House):
    go_on = asyncio.Event()

    async def begins_late(ctx: Any) -> AsyncIterator[Any]:
        yield delta("…")
        await go_on.wait()
        async for result in calls_thrice(ctx):
            yield result

    engine = await house(begins_late)
    run_id = await send(engine)
    await engine.hold(run_id, "tool", once=True)
    (armed,) = await engine.holds(run_id)
    assert (str(armed.point), armed.once) == ("tool", True)
    go_on.set()
    await reached(engine, run_id)
    assert await engine.holds(run_id) == ()
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert run.one("hold.armed").data == {"when": "tool", "once": True}
    assert len(run.all("hold.reached")) == 1


async def test_a_step_goes_from_the_call_to_its_reply_and_on_to_each_boundary(house: House):
    async def works(ctx: Any) -> AsyncIterator[Any]:
        await ctx.api.call_tool("weather", {})
        yield delta("hm")
        await ctx.api.run_get()
        yield {"type": "tool.call.started", "data": {"tool_call_id": "1", "tool_name": "t", "parameters": {}}}
        yield {"type": "tool.call.completed", "data": {"tool_call_id": "1", "tool_name": "t", "result": 1}}
        await ctx.api.steering_pull()
        yield said("so")
        await ctx.api.invoke_llm("m", ASKED)
        yield done()

    engine = await house(works)
    run_id = await send(engine, holds=("tool#1",))
    seen = []
    for number in range(1, 10):
        held = await reached(engine, run_id, number)
        seen.append((held.point, held.stage, held.action or held.type))
        await engine.step(run_id)
    run = await played(engine, run_id)

    assert seen == [
        ("tool#1", "before", "call_tool"),
        ("step", "reply", "call_tool"),
        ("step", "result", "tool.call.started"),
        ("step", "result", "tool.call.completed"),
        ("step", "before", "steering_pull"),
        ("step", "result", "message.completed"),
        ("step", "before", "invoke_llm"),
        ("step", "reply", "invoke_llm"),
        ("step", "result", "run.completed"),
    ]
    assert run.row.status == "completed"


async def test_a_step_after_an_edit_goes_to_the_next_boundary_for_there_is_no_call_to_make(house: House):
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    await engine.edit_held(run_id, GREY)
    await engine.step(run_id)
    held = await reached(engine, run_id, 2)
    assert (held.stage, held.type, house.tool.asked) == (Stage.RESULT, "run.completed", [])
    await engine.release(run_id)
    assert answer_of(await played(engine, run_id)) == str(GREY["result"])


async def test_a_release_ends_the_stepping(house: House):
    engine = await house(calls_thrice)
    run_id = await send(engine, holds=("tool#1",))
    for number in (1, 2):
        await reached(engine, run_id, number)
        await engine.step(run_id)
    held = await reached(engine, run_id, 3)
    assert (held.point, held.arguments["parameters"]) == ("step", {"number": 1})
    await engine.release(run_id)

    async with asyncio.timeout(10):
        assert len((await played(engine, run_id)).all("hold.reached")) == 3


async def test_a_step_of_a_call_that_its_runner_takes_back_ends_at_the_next_boundary(house: House):
    async def thinks_better(ctx: Any) -> AsyncIterator[Any]:
        asking = asyncio.ensure_future(ctx.api.call_tool("weather", {}))
        await house.tool.called.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        yield said("never mind")
        yield done()

    house.tool.go_on.clear()
    engine = await house(thinks_better)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    await engine.step(run_id)
    held = await reached(engine, run_id, 2)
    assert (held.point, held.type) == ("step", "message.completed")
    await engine.release(run_id)
    assert (await played(engine, run_id)).row.status == "completed"


async def test_a_step_with_another_call_in_line_ends_there(house: House):
    async def hastes(ctx: Any) -> AsyncIterator[Any]:
        works = (ctx.api.call_tool("weather", {"number": number}) for number in range(2))
        yield done(str(await asyncio.gather(*works)))

    engine = await house(hastes)
    run_id = await send(engine, holds=("tool",))
    await told(engine, run_id, "hold.reached", 2)
    await engine.edit_held(run_id, GREY)
    await engine.step(run_id)
    assert (await engine.held(run_id)).call_id == "c2"
    await engine.release(run_id)

    async with asyncio.timeout(10):
        assert len((await played(engine, run_id)).all("hold.reached")) == 2


async def test_calls_side_by_side_stand_in_line_and_are_let_go_one_by_one(house: House):
    async def hastes(ctx: Any) -> AsyncIterator[Any]:
        works = (ctx.api.call_tool("weather", {"number": number}) for number in range(3))
        yield done(str(await asyncio.gather(*works)))

    engine = await house(hastes)
    run_id = await send(engine, holds=("tool",))
    await told(engine, run_id, "hold.reached", 3)
    for number in range(3):
        held = await engine.held(run_id)
        assert held.arguments["parameters"] == {"number": number}
        await engine.edit_held(run_id, {"result": number})
        await engine.release(run_id)
    run = await played(engine, run_id)

    assert answer_of(run) == "[0, 1, 2]"
    assert [entry.data["call_id"] for entry in run.all("hold.released")] == ["c1", "c2", "c3"]


async def test_a_call_that_its_runner_takes_back_is_held_no_more(house: House):
    take_back, leave = asyncio.Event(), asyncio.Event()

    async def loses_patience(ctx: Any) -> AsyncIterator[Any]:
        asking = asyncio.ensure_future(ctx.api.call_tool("weather", {}))
        await take_back.wait()
        asking.cancel()
        await leave.wait()
        yield done("never mind")

    engine = await house(loses_patience)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    take_back.set()
    await told(engine, run_id, "call.replied")
    assert await engine.held(run_id) is None
    leave.set()
    run = await played(engine, run_id)

    assert (run.row.status, house.tool.asked) == ("completed", [])
    assert run.one("call.replied").data["error"]["message"] == "the runner stopped waiting for the answer"
    assert run.all("hold.released") == []


# Who may, and when


async def test_a_bad_point_is_refused_before_anything_is_recorded(house: House):
    engine = await house(asks)
    with pytest.raises(CannotHold, match="'tols' is no point to hold at"):
        await send(engine, holds=("tols",))
    assert await engine.runs() == []


async def test_only_a_run_at_work_can_be_held(house: House):
    engine = await house(asks)
    run_id = await send(engine)
    await engine.finished(run_id)
    for act in (engine.hold(run_id, "tool"), engine.release(run_id), engine.step(run_id), engine.edit_held(run_id, {})):
        with pytest.raises(CannotHold, match=f"run {run_id} has ended"):
            await act
    assert (await engine.held(run_id), await engine.holds(run_id)) == (None, ())
    with pytest.raises(NotFound):
        await engine.hold("run_zzz", "tool")


async def test_what_is_not_held_is_not_let_go(house: House):
    engine = await house(waits)
    run_id = await send(engine)
    for act in (engine.release(run_id), engine.step(run_id), engine.edit_held(run_id, {})):
        with pytest.raises(CannotHold, match="nothing is held in this run"):
            await act
    with pytest.raises(CannotHold, match=r"tool is not armed. Armed points: none"):
        await engine.disarm(run_id, "tool")
    assert await holds_in(engine, run_id) == []


async def test_a_run_of_another_process_is_held_there(house: House):
    first = await house(waits)
    second = await house(waits)
    run_id = await send(first)
    with pytest.raises(Elsewhere, match=f"run {run_id} is at work in another process"):
        await second.hold(run_id, "tool")
    reader = await house(waits, mode="read")
    with pytest.raises(FactsError, match="opened to read"):
        await reader.hold(run_id, "tool")


async def test_a_held_call_of_a_run_that_is_cancelled_is_interrupted_and_not_made(house: House):
    heard: list[str] = []

    async def listens(ctx: Any) -> AsyncIterator[Any]:
        try:
            await ctx.api.call_tool("weather", {})
        except AgentAPIException as refusal:
            heard.append(refusal.error.code)
        await forever()
        yield

    engine = await house(listens)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    await engine.cancel(run_id)
    run = await played(engine, run_id)

    assert (run.row.status, heard, house.tool.asked) == ("cancelled", ["cancelled"], [])
    assert run.one("call.replied").data["error"]["message"] == "the run was cancelled"
    assert [entry.position for entry in run.journal] == [*range(1, len(run.journal) + 1)]


async def test_closing_the_host_ends_a_hold_at_once(open_engine: Engines, house: House):
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    async with asyncio.timeout(5):
        await house.close()

    reader = await open_engine(mode="read")
    run = await reader.run(run_id)
    assert (run.status, run.metadata["error"]) == ("cancelled", "the host was closed")
    assert (await journal_of(reader, run_id))[-1].type == "run.finished"
    assert house.tool.asked == []
