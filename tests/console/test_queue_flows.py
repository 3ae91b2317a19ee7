"""What waits to be said, changed with the keys; and what the runner got of it."""

from typing import Any

import pytest

from console.app import Trackside
from console.opening import Opening
from engine.api import AlreadyDecided
from tests.console.driving import Cue, at_both_sizes, at_the_screen, becomes, listener, say, sees, shown, until, waiting
from tests.support import Engines, FakeClock, journal_of

Size = tuple[int, int]


def steered(*texts: str) -> list[tuple[str, str, str]]:
    return [(text, "steer", "queued") for text in texts]


async def at_work(pilot: Any, app: Trackside, *texts: str) -> None:
    """A run that has been told these while it works."""
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
async def test_the_runner_gets_the_edited_text_in_the_new_order(open_engine: Engines, size: Size):
    cue, heard = Cue(), []
    app = Trackside(Opening(), lambda: open_engine(listener(cue, heard)))
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
async def test_leaving_an_edit_changes_nothing_and_gives_the_draft_back(open_engine: Engines, size: Size):
    app = Trackside(Opening(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app, size) as pilot:
        await at_work(pilot, app, "one")
        await pilot.press("up", "enter", *"!!")
        assert app.main.prompt.text == "one!!"
        await pilot.press("escape")
        assert (app.main.prompt.text, await waiting(app)) == ("", steered("one"))
        assert "esc again" not in shown(app)


@at_both_sizes
async def test_what_was_withdrawn_is_never_said_and_u_says_it_after_all(open_engine: Engines, size: Size):
    cue, heard = Cue(), []
    app = Trackside(Opening(), lambda: open_engine(listener(cue, heard)))
    async with at_the_screen(app, size) as pilot:
        await at_work(pilot, app, "one", "two", "three")

        await pilot.press("up", "d")
        await becomes(pilot, lambda: waiting(app), steered("one", "two"))
        await sees(pilot, "u brings it back")
        await pilot.press("u")
        await becomes(pilot, lambda: waiting(app), steered("one", "two", "three"))
        await until(pilot, lambda: "u brings it back" not in shown(app) and len(app.main.queue.items) == 3)

        await pilot.press("k", "d")
        await becomes(pilot, lambda: waiting(app), steered("one", "three"))
        cue.go()
        await until(pilot, lambda: len(heard) == 2)
        assert heard == ["one", "three"]


@at_both_sizes
async def test_all_is_withdrawn_at_once_and_comes_back_as_it_was(open_engine: Engines, size: Size):
    app = Trackside(Opening(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app, size) as pilot:
        await at_work(pilot, app, "one", "two", "three")
        await pilot.press("up", "h", "k", "t")
        were = [("one", "steer", "queued"), ("two", "after", "queued"), ("three", "steer", "held")]
        await becomes(pilot, lambda: waiting(app), were)
        await until(pilot, lambda: [item.fate for item in app.main.queue.items] == ["queued", "queued", "held"])

        await pilot.press("D")
        await sees(pilot, "withdrew 3 messages; u in the queue brings back all of it")
        assert await waiting(app) == []
        await until(pilot, lambda: [item.fate for item in app.main.queue.items] == ["withdrawn"] * 3)
        await pilot.press("D")
        await sees(pilot, "nothing waits that could be withdrawn")

        await pilot.press("u")
        await becomes(pilot, lambda: waiting(app), were)


async def test_the_palette_withdraws_all_and_has_it_back(open_engine: Engines):
    app = Trackside(Opening(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await at_work(pilot, app, "one", "two")
        await pilot.press("ctrl+p", *"withdraw all", "enter")
        await becomes(pilot, lambda: waiting(app), [])
        await until(pilot, lambda: [item.fate for item in app.main.queue.items] == ["withdrawn"] * 2)
        await pilot.press("ctrl+p", *"undo the withdrawal", "enter")
        await becomes(pilot, lambda: waiting(app), steered("one", "two"))


async def test_what_the_runner_took_meanwhile_is_told(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    app = Trackside(Opening(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await at_work(pilot, app, "one", "two")
        engine = app.stage.engine
        first, withdraw = app.main.queue.items[0].item_id, engine.withdraw_item

        async def taken(item_id: str) -> Any:
            if item_id == first:
                raise AlreadyDecided("it has it")
            return await withdraw(item_id)

        monkeypatch.setattr(engine, "withdraw_item", taken)
        await pilot.press("up", "D")
        await sees(pilot, "withdrew 1 message", "1 had been taken by the runner")
        assert await waiting(app) == steered("one")


async def test_a_withdrawal_can_be_undone_for_five_seconds_only(open_engine: Engines, clock: FakeClock):
    app = Trackside(Opening(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await at_work(pilot, app, "one", "two")
        await pilot.press("up", "d")
        await sees(pilot, "u brings it back")
        clock.advance(5)
        await until(pilot, lambda: "u brings it back" not in shown(app))
        await pilot.press("u")
        await sees(pilot, "nothing was withdrawn in the last 5 seconds")
        assert await waiting(app) == steered("one")


@at_both_sizes
async def test_what_is_kept_back_is_not_said_until_it_is_released(open_engine: Engines, size: Size):
    cue, heard = Cue(), []
    app = Trackside(Opening(), lambda: open_engine(listener(cue, heard, turns=2)))
    async with at_the_screen(app, size) as pilot:
        await at_work(pilot, app, "one", "two")
        await pilot.press("up", "k", "h")
        await becomes(pilot, lambda: waiting(app), [("one", "steer", "held"), ("two", "steer", "queued")])
        await sees(pilot, "kept back")

        cue.go()
        await sees(pilot, "Then you said: two")
        assert heard == ["two"]

        await until(pilot, lambda: len(app.main.queue.items) == 1)
        await pilot.press("h")
        await becomes(pilot, lambda: waiting(app), steered("one"))
        cue.go()
        await until(pilot, lambda: heard == ["two", "one"])


@at_both_sizes
async def test_a_steer_turned_to_after_gets_a_run_of_its_own(open_engine: Engines, size: Size):
    cue, heard = Cue(), []
    app = Trackside(Opening(), lambda: open_engine(listener(cue, heard)))
    async with at_the_screen(app, size) as pilot:
        await at_work(pilot, app, "one")
        await pilot.press("up", "t")
        await becomes(pilot, lambda: waiting(app), [("one", "after", "queued")])
        await sees(pilot, "after", "when the run ends")

        cue.go()
        cue.go()
        await sees(pilot, "You said: one")
        assert heard == []
        assert len(await app.stage.engine.runs()) == 2


@at_both_sizes
async def test_what_was_said_for_after_can_be_turned_into_the_run(open_engine: Engines, size: Size):
    cue, heard = Cue(), []
    app = Trackside(Opening(), lambda: open_engine(listener(cue, heard)))
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


async def test_what_the_runner_has_pulled_cannot_be_changed_and_it_says_why(open_engine: Engines):
    cue = Cue()
    app = Trackside(Opening(), lambda: open_engine(listener(cue)))
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
