"""A session that another process deletes while it is shown here."""

import asyncio
from typing import Any

import pytest

import console.ui.sessions.delete
from console.launch import LaunchOptions
from tests.console.sessions.test_delete import opened, sessions
from tests.support.console.browser_data import browsing, parrot, talked
from tests.support.console.pilot import at_both_sizes, at_the_screen, becomes, say, sees, shown, until
from tests.support.console.recorded_toasts import Telling
from tests.support.engines import Engines

GONE = "was deleted in another process. This is a new session."


async def never() -> None:
    """Nobody looks around."""


def second(open_engine: Engines) -> Telling:
    return Telling(LaunchOptions(session="kyoto"), lambda: open_engine(parrot))


@at_both_sizes
async def test_it_is_said_and_what_is_typed_stays_for_a_new_session(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
):
    monkeypatch.setattr(console.ui.sessions.delete, "MOMENT", 0.05)
    one, other = browsing(open_engine, ("kyoto", ("the castle",))), second(open_engine)
    async with at_the_screen(one) as pilot, at_the_screen(other, size) as there:
        await sees(there, "You said: the castle")
        await there.press(*"and then")
        await opened(pilot, one)
        await pilot.press("d")
        await becomes(pilot, lambda: sessions(one.stage.engine), set[str]())
        await until(there, lambda: any(f"“the castle” {GONE}" in words for words in other.told))
        await sees(there, "was deleted in another process", "your first message")
        await until(there, lambda: "You said: the castle" not in shown(other))
        assert (other.main.prompt.text, other.stage.session != "kyoto") == ("and then", True)
        await there.press("enter")
        await sees(there, "You said: and then")
        await becomes(there, lambda: sessions(other.stage.engine), {other.stage.session})


async def test_what_is_sent_before_it_was_noticed_runs_nothing_and_is_in_the_prompt_again(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    app = second(open_engine)
    engine = await open_engine(parrot)
    await talked(engine, "kyoto", "the castle")

    monkeypatch.setattr(app, "mind_the_session", never)
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: app.hearing.listing.title == "the castle")
        await sees(pilot, "You said: the castle")
        await engine.sessions.delete("kyoto")
        await say(pilot, "and then")
        await until(pilot, lambda: app.told == [f"“the castle” {GONE}"] and app.main.prompt.full_text == "and then")
        assert (await engine.runs.list(), app.stage.session != "kyoto") == ([], True)
        await pilot.press("enter")
        await sees(pilot, "You said: and then")


async def test_a_new_session_is_not_one_that_is_gone(open_engine: Engines):
    app = second(open_engine)
    async with at_the_screen(app) as pilot:
        await app.mind_the_session()
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await app.mind_the_session()
        assert app.stage.session == "kyoto"
        assert not any(GONE in words for words in app.told)


async def test_messages_keep_their_order_however_long_a_look_takes(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    app = second(open_engine)
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await until(pilot, lambda: app.situation.can_run_again)
        look, order, go = app.stage.engine.sessions.exists, list[str](), asyncio.Event()
        looks = 0

        async def slowly(session: str) -> bool:
            nonlocal looks
            looks += 1
            if looks == 1:
                await go.wait()
            return await look(session)

        async def send(text: str, *_: Any, **__: Any) -> Any:
            order.append(text)
            raise RuntimeError("not today")

        monkeypatch.setattr(app, "mind_the_session", never)
        monkeypatch.setattr(app.stage.engine.sessions, "exists", slowly)
        monkeypatch.setattr(app.stage, "send", send)
        await say(pilot, "one")
        await say(pilot, "two")
        await until(pilot, lambda: len(app.sending) == 2)
        await pilot.pause(0.02)
        go.set()
        await until(pilot, lambda: len(order) == 2)
        assert order == ["one", "two"]
