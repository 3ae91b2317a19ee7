"""The open session is deleted in another process."""

import asyncio
from typing import Any

import pytest

from console.data.conversation_loader import ConversationLoader
from console.data.errors import SessionDeleted
from console.launch import LaunchOptions
from tests.support.console.browser_data import browsing, parrot, talked
from tests.support.console.pilot import at_both_sizes, at_the_screen, becomes, say, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.console.sessions_browser import open_session_browser, session_ids
from tests.support.engines import Engines

GONE = "was deleted in another process. This is a new session."


async def skip_check() -> None:
    """Never check the session."""


def second_console(open_engine: Engines) -> RecordingConsole:
    return RecordingConsole(LaunchOptions(session="kyoto"), lambda: open_engine(parrot))


@at_both_sizes
async def test_deletion_is_reported_and_the_draft_moves_to_a_new_session(open_engine: Engines, size: tuple[int, int]):
    one, other = browsing(open_engine, ("kyoto", ("the castle",))), second_console(open_engine)
    async with at_the_screen(one) as pilot, at_the_screen(other, size) as there:
        await sees(there, "You said: the castle")
        await there.press(*"and then")
        await open_session_browser(pilot, one)
        await pilot.press("d")
        await becomes(pilot, lambda: session_ids(one.active_session.engine), set[str]())
        await until(there, lambda: any(f"“the castle” {GONE}" in words for words in other.toasts))
        await sees(there, "was deleted in another process", "your first message")
        await until(there, lambda: "You said: the castle" not in shown(other))
        assert (other.main.prompt.text, other.active_session.session_id != "kyoto") == ("and then", True)
        await there.press("enter")
        await sees(there, "You said: and then")
        await becomes(there, lambda: session_ids(other.active_session.engine), {other.active_session.session_id})


async def test_message_sent_before_the_deletion_is_noticed_returns_to_the_prompt(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    app = second_console(open_engine)
    engine = await open_engine(parrot)
    await talked(engine, "kyoto", "the castle")

    monkeypatch.setattr(app.controllers.sessions, "check_deleted_session", skip_check)
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: app.services.updater.run_list.title == "the castle")
        await sees(pilot, "You said: the castle")
        await engine.sessions.delete("kyoto")
        await say(pilot, "and then")
        await until(pilot, lambda: app.toasts == [f"“the castle” {GONE}"] and app.main.prompt.full_text == "and then")
        assert (await engine.runs.list(), app.active_session.session_id != "kyoto") == ([], True)
        await pilot.press("enter")
        await sees(pilot, "You said: and then")


async def test_new_session_does_not_count_as_deleted(open_engine: Engines):
    app = second_console(open_engine)
    async with at_the_screen(app) as pilot:
        await app.controllers.sessions.check_deleted_session()
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await app.controllers.sessions.check_deleted_session()
        assert app.active_session.session_id == "kyoto"
        assert not any(GONE in words for words in app.toasts)


async def test_a_new_session_is_not_one_that_is_gone_while_the_one_before_is_still_shown(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    app = browsing(open_engine, ("kyoto", ("the castle",)))
    may_read = asyncio.Event()
    read_end = ConversationLoader.read_end

    async def reads_late(loader: ConversationLoader) -> None:
        await may_read.wait()
        await read_end(loader)

    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        monkeypatch.setattr(ConversationLoader, "read_end", reads_late)
        await app.action_perform("app.new_session")
        session = app.active_session.session_id
        await app.controllers.sessions.check_deleted_session()
        await say(pilot, "and then")
        may_read.set()
        await sees(pilot, "You said: and then")
        assert app.active_session.session_id == session
        assert not any(GONE in words for words in app.toasts)


async def test_messages_keep_their_order_while_the_first_is_slow(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    app = second_console(open_engine)
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await until(pilot, lambda: app.services.situation.can_run_again)
        order, go = list[str](), asyncio.Event()

        async def send(text: str, *_: Any, **__: Any) -> Any:
            if text == "one":
                await go.wait()
            order.append(text)
            raise RuntimeError("not today")

        monkeypatch.setattr(app.active_session, "send", send)
        await say(pilot, "one")
        await say(pilot, "two")
        await until(pilot, lambda: len(app.controllers.sender.sending) == 2)
        go.set()
        await until(pilot, lambda: len(order) == 2)
        assert order == ["one", "two"]


async def test_message_to_a_deleted_session_that_the_user_left_returns_with_the_reason(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    app = second_console(open_engine)
    async with at_the_screen(app) as pilot:

        async def send(*_: Any, **__: Any) -> Any:
            app.active_session.start_session()
            raise SessionDeleted("Session kyoto was deleted.")

        monkeypatch.setattr(app.active_session, "send", send)
        await say(pilot, "and then")
        await until(pilot, lambda: any("Not sent: the session was deleted" in words for words in app.toasts))
        assert (app.main.prompt.full_text, app.controllers.drafts.unsent) == ("and then", "and then")


@pytest.mark.parametrize("is_noticed", [False, True])
async def test_composed_event_does_not_create_a_deleted_session_again(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch, is_noticed: bool
):
    app = second_console(open_engine)
    engine = await open_engine(parrot)
    await talked(engine, "kyoto", "the castle")

    check = app.controllers.sessions.check_deleted_session
    monkeypatch.setattr(app.controllers.sessions, "check_deleted_session", skip_check)
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: app.services.updater.run_list.title == "the castle")
        await sees(pilot, "You said: the castle")
        await pilot.press("ctrl+n")
        await sees(pilot, "New event")
        await pilot.press(*"and then")
        await engine.sessions.delete("kyoto")
        if is_noticed:
            await check()
        await pilot.press("f9")
        await sees(pilot, "Not sent: the session was deleted in another process.")
        session = app.active_session.session_id
        assert (app.toasts, session != "kyoto", await engine.runs.list()) == ([f"“the castle” {GONE}"], True, [])

        await pilot.press("f9")
        await sees(pilot, "You said: and then")
        await becomes(pilot, lambda: session_ids(engine), {session})
