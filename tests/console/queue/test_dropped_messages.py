"""Dropped messages stay in the queue until they are sent again or dismissed; withdrawals can be undone."""

from typing import Any

from console.app import Trackside
from console.launch import LaunchOptions
from tests.support.console.pilot import (
    Cue,
    at_both_sizes,
    at_the_screen,
    becomes,
    go_to,
    listener,
    say,
    sees,
    shown,
    until,
    waiting,
)
from tests.support.engines import Engines

Size = tuple[int, int]


def in_queue(app: Trackside) -> list[tuple[str, str]]:
    return [(item.text, item.fate) for item in app.main.queue.items]


def dropped(*texts: str) -> list[tuple[str, str]]:
    return [(text, "dropped") for text in texts]


async def queue_messages(pilot: Any, app: Trackside, *texts: str) -> None:
    """Queue these messages for the run in progress, one after the other."""
    for text in texts:
        count = len(app.main.queue.items)
        await say(pilot, text)
        await until(pilot, lambda count=count: len(app.main.queue.items) > count)


async def queue_messages_and_stop(pilot: Any, app: Trackside, *texts: str) -> None:
    """Queue these messages and stop the run before it pulls any."""
    await say(pilot, "hello")
    await sees(pilot, "You said: hello")
    await queue_messages(pilot, app, *texts)
    await pilot.press("f8")
    await until(pilot, lambda: in_queue(app) == dropped(*texts))


# Dropped messages


@at_both_sizes
async def test_dropped_messages_stay_in_the_queue_during_the_next_run(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await queue_messages(pilot, app, "one", "two")
        await pilot.press("ctrl+t")
        await queue_messages(pilot, app, "afterwards")
        await pilot.press("ctrl+t", "f8")
        await sees(
            pilot,
            "You said: afterwards",
            "2 messages were not delivered. Press up, then enter to edit one in the prompt.",
        )
        await until(pilot, lambda: in_queue(app) == dropped("one", "two"))

        await pilot.press("up")
        await sees(pilot, "enter to prompt", "d dismiss")
        await pilot.press("enter")
        assert app.main.prompt.text == "two"
        await sees(pilot, "enter steer")
        await pilot.press("enter")
        await becomes(pilot, lambda: waiting(app), [("two", "steer", "queued")])
        await until(pilot, lambda: in_queue(app) == [("two", "queued"), *dropped("one")])


@at_both_sizes
async def test_dropped_message_can_be_edited_and_sent_again(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app, size) as pilot:
        await queue_messages_and_stop(pilot, app, "one", "two")
        first = (await app.active_session.engine.runs.list())[0]

        await pilot.press("up", "enter")
        await sees(pilot, "enter send again")
        await say(pilot, " and a half")
        await sees(pilot, "You said: two and a half")
        await until(pilot, lambda: in_queue(app) == dropped("one"))

        one, two = (await app.active_session.engine.queue.receipts(first.run_id)).receipts
        run = (await app.active_session.engine.runs.list())[0]
        assert (one.sent_again_as, two.sent_again_as) == (None, run.event_id)


async def test_escape_leaves_a_dropped_message_and_restores_the_draft(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await queue_messages_and_stop(pilot, app, "one")
        await pilot.press("up", "enter", *"!!")
        assert app.main.prompt.text == "one!!"
        await pilot.press("escape")

        assert (app.main.prompt.text, in_queue(app)) == ("", dropped("one"))
        assert len(await app.active_session.engine.runs.list()) == 1


async def test_conversation_offers_a_dropped_message_until_it_is_sent(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await queue_messages_and_stop(pilot, app, "one")
        await sees(pilot, "enter back to the prompt")
        await go_to(pilot, app, "conversation")
        await pilot.press("alt+up", "alt+up", "enter")
        await until(pilot, lambda: app.main.prompt.text == "one")
        assert in_queue(app) == dropped("one")
        await pilot.press("enter")
        await sees(pilot, "You said: one")

        await until(pilot, lambda: not app.main.queue.items and "enter back to the prompt" not in shown(app))
        (receipt,) = (
            await app.active_session.engine.queue.receipts((await app.active_session.engine.runs.list())[-1].run_id)
        ).receipts
        assert receipt.sent_again_as is not None


async def test_dropped_messages_survive_a_restart_unless_dismissed(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await queue_messages_and_stop(pilot, app, "one", "two")
        await pilot.press("up", "d")
        await until(pilot, lambda: in_queue(app) == dropped("one"))

    app = Trackside(LaunchOptions(continue_last=True), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: in_queue(app) == dropped("one"))


# Withdrawn messages


@at_both_sizes
async def test_undo_restores_mode_pause_and_place(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await queue_messages(pilot, app, "one", "two")
        await pilot.press("up", "k", "t")
        await becomes(pilot, lambda: waiting(app), [("one", "after", "queued"), ("two", "steer", "queued")])
        await pilot.press("h")
        as_it_was = [("one", "after", "paused"), ("two", "steer", "queued")]
        await becomes(pilot, lambda: waiting(app), as_it_was)
        await until(pilot, lambda: in_queue(app)[0] == ("one", "paused"))

        await pilot.press("d")
        await until(pilot, lambda: in_queue(app)[-1] == ("one", "withdrawn"))
        await pilot.press("u")
        await becomes(pilot, lambda: waiting(app), as_it_was)
        await until(pilot, lambda: in_queue(app) == [("one", "paused"), ("two", "queued")])


async def test_each_recent_withdrawal_can_be_undone(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await queue_messages(pilot, app, "one", "two", "three")
        app.main.queue.post_message(app.main.queue.Withdraw(app.main.queue.items[0].item_id))
        app.main.queue.post_message(app.main.queue.Withdraw(app.main.queue.items[1].item_id))
        gone = [("three", "queued"), ("one", "withdrawn"), ("two", "withdrawn")]
        await until(pilot, lambda: in_queue(app) == gone)

        await pilot.press("up", "u")
        await until(pilot, lambda: in_queue(app) == [("two", "queued"), ("three", "queued"), ("one", "withdrawn")])
        await pilot.press("u")
        await until(pilot, lambda: in_queue(app) == [(text, "queued") for text in ("one", "two", "three")])
