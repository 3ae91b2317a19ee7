"""Queued messages, changed with the keys, and the messages that the runner then receives."""

from typing import Any

import pytest

from console.app import Trackside
from console.launch import LaunchOptions
from engine.api import AlreadyDecided
from tests.support.console.pilot import (
    Cue,
    at_both_sizes,
    at_the_screen,
    becomes,
    listener,
    say,
    sees,
    shown,
    until,
    waiting,
)
from tests.support.engines import Engines, FakeClock, journal_of

Size = tuple[int, int]


def steered(*texts: str) -> list[tuple[str, str, str]]:
    return [(text, "steer", "queued") for text in texts]


async def at_work(pilot: Any, app: Trackside, *texts: str) -> None:
    """Start a run and send it these messages while it is in progress."""
    await say(pilot, "hello")
    await sees(pilot, "You said: hello")
    for text in texts:
        await say(pilot, text)
    await becomes(pilot, lambda: waiting(app), steered(*texts))
    await until(pilot, lambda: len(app.main.queue.items) == len(texts))


async def types_of(app: Trackside) -> list[str]:
    view = app.hearing.view
    assert view is not None
    return [entry.type for entry in await journal_of(app.stage.engine, view.run_id)]


@at_both_sizes
async def test_runner_gets_edited_messages_in_the_new_order(open_engine: Engines, size: Size):
    cue, heard = Cue(), []
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(cue, heard)))
    async with at_the_screen(app, size) as pilot:
        await at_work(pilot, app, "one", "two", "three")

        await pilot.press("up", "k", "enter")
        assert app.main.prompt.text == "two"
        assert "editing" in shown(app)
        await say(pilot, " and a half")
        await becomes(pilot, lambda: waiting(app), steered("one", "two and a half", "three"))
        assert app.main.prompt.text == ""

        await pilot.press("up", "K")
        await becomes(pilot, lambda: waiting(app), steered("one", "three", "two and a half"))
        await until(pilot, lambda: [item.text for item in app.main.queue.items][1] == "three")
        await pilot.press("K")
        await becomes(pilot, lambda: waiting(app), steered("three", "one", "two and a half"))

        cue.go()
        await until(pilot, lambda: len(heard) == 3)
        assert heard == ["three", "one", "two and a half"]
        await sees(pilot, "Then you said: two and a half")
        assert {"steering.edited", "steering.moved"} <= set(await types_of(app))


@at_both_sizes
async def test_leaving_an_edit_changes_nothing_and_restores_the_draft(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app, size) as pilot:
        await at_work(pilot, app, "one")
        await pilot.press("up", "enter", *"!!")
        assert app.main.prompt.text == "one!!"
        await pilot.press("escape")
        assert (app.main.prompt.text, await waiting(app)) == ("", steered("one"))
        assert "esc again" not in shown(app)


@at_both_sizes
async def test_withdrawn_message_is_not_delivered_unless_undone(open_engine: Engines, size: Size):
    cue, heard = Cue(), []
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(cue, heard)))
    async with at_the_screen(app, size) as pilot:
        await at_work(pilot, app, "one", "two", "three")

        await pilot.press("up", "d")
        await becomes(pilot, lambda: waiting(app), steered("one", "two"))
        await sees(pilot, "u restores it")
        await pilot.press("u")
        await becomes(pilot, lambda: waiting(app), steered("one", "two", "three"))
        await until(pilot, lambda: "u restores it" not in shown(app) and len(app.main.queue.items) == 3)

        await pilot.press("k", "d")
        await becomes(pilot, lambda: waiting(app), steered("one", "three"))
        cue.go()
        await until(pilot, lambda: len(heard) == 2)
        assert heard == ["one", "three"]


@at_both_sizes
async def test_all_messages_can_be_withdrawn_and_restored(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app, size) as pilot:
        await at_work(pilot, app, "one", "two", "three")
        await pilot.press("up", "h", "k", "t")
        were = [("one", "steer", "queued"), ("two", "after", "queued"), ("three", "steer", "paused")]
        await becomes(pilot, lambda: waiting(app), were)
        await until(pilot, lambda: [item.fate for item in app.main.queue.items] == ["queued", "queued", "paused"])

        await pilot.press("D")
        await sees(pilot, "withdrew 3 messages; u in the queue brings back all of it")
        assert await waiting(app) == []
        await until(pilot, lambda: [item.fate for item in app.main.queue.items] == ["withdrawn"] * 3)
        await pilot.press("D")
        await sees(pilot, "No queued message can be withdrawn.")

        await pilot.press("u")
        await becomes(pilot, lambda: waiting(app), were)


async def test_palette_withdraws_and_restores_all_messages(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await at_work(pilot, app, "one", "two")
        await pilot.press("ctrl+p", *"withdraw all", "enter")
        await becomes(pilot, lambda: waiting(app), [])
        await until(pilot, lambda: [item.fate for item in app.main.queue.items] == ["withdrawn"] * 2)
        await pilot.press("ctrl+p", *"undo the withdrawal", "enter")
        await becomes(pilot, lambda: waiting(app), steered("one", "two"))


async def test_messages_pulled_meanwhile_are_reported(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await at_work(pilot, app, "one", "two")
        engine = app.stage.engine
        first, withdraw = app.main.queue.items[0].item_id, engine.queue.withdraw

        async def taken(item_id: str) -> Any:
            if item_id == first:
                raise AlreadyDecided("it has it")
            return await withdraw(item_id)

        monkeypatch.setattr(engine.queue, "withdraw", taken)
        await pilot.press("up", "D")
        await sees(pilot, "withdrew 1 message", "1 had been taken by the runner")
        assert await waiting(app) == steered("one")


async def test_withdrawal_can_be_undone_for_five_seconds(open_engine: Engines, clock: FakeClock):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await at_work(pilot, app, "one", "two")
        await pilot.press("up", "d")
        await sees(pilot, "u restores it")
        clock.advance(5)
        await until(pilot, lambda: "u restores it" not in shown(app))
        await pilot.press("u")
        await sees(pilot, "No message was withdrawn in the last 5 seconds.")
        assert await waiting(app) == steered("one")


@at_both_sizes
async def test_paused_message_is_not_delivered_until_resumed(open_engine: Engines, size: Size):
    cue, heard = Cue(), []
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(cue, heard, turns=2)))
    async with at_the_screen(app, size) as pilot:
        await at_work(pilot, app, "one", "two")
        await pilot.press("up", "k", "h")
        await becomes(pilot, lambda: waiting(app), [("one", "steer", "paused"), ("two", "steer", "queued")])
        await sees(pilot, "until resumed")

        cue.go()
        await sees(pilot, "Then you said: two")
        assert heard == ["two"]

        await until(pilot, lambda: len(app.main.queue.items) == 1)
        await pilot.press("h")
        await becomes(pilot, lambda: waiting(app), steered("one"))
        cue.go()
        await until(pilot, lambda: heard == ["two", "one"])


@at_both_sizes
async def test_message_switched_to_after_becomes_a_run(open_engine: Engines, size: Size):
    cue, heard = Cue(), []
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(cue, heard)))
    async with at_the_screen(app, size) as pilot:
        await at_work(pilot, app, "one")
        await pilot.press("up", "t")
        await becomes(pilot, lambda: waiting(app), [("one", "after", "queued")])
        await sees(pilot, "after", "when the run ends")

        cue.go()
        cue.go()
        await sees(pilot, "You said: one")
        assert heard == []
        assert len(await app.stage.engine.runs.list()) == 2


@at_both_sizes
async def test_message_for_after_can_be_switched_to_steering(open_engine: Engines, size: Size):
    cue, heard = Cue(), []
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(cue, heard)))
    async with at_the_screen(app, size) as pilot:
        await at_work(pilot, app)
        await pilot.press("ctrl+t")
        await sees(pilot, "after ▸")
        await say(pilot, "one")
        await becomes(pilot, lambda: waiting(app), [("one", "after", "queued")])
        await until(pilot, lambda: bool(app.main.queue.items))

        await pilot.press("up", "t")
        await becomes(pilot, lambda: waiting(app), steered("one"))
        cue.go()
        await sees(pilot, "Then you said: one")
        assert heard == ["one"]


async def test_pulled_message_cannot_be_edited_and_shows_why(open_engine: Engines):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(cue)))
    async with at_the_screen(app) as pilot:
        await at_work(pilot, app, "one")
        item = app.main.queue.items[0]
        await pilot.press("up")
        cue.go()
        await sees(pilot, "Then you said: one")
        await until(pilot, lambda: not app.main.queue.items)
        await until(pilot, lambda: app.main.where() == "prompt")

        app.main.queue.post_message(app.main.queue.Withdraw(item.item_id))
        await sees(pilot, "can no longer be changed")
