"""The session browser: search, open, rename, fork, send again."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import console.data.paged
import console.data.sessions
from console.model.sessions.tree import SessionTree
from console.model.text.glyphs import GLYPHS
from tests.support.console.browser_data import begun, browsing, listed
from tests.support.console.pilot import SIZES, at_both_sizes, at_the_screen, becomes, say, sees, shown, until
from tests.support.console.sessions_browser import TRIPS, open_session_browser
from tests.support.engines import Engines

BEFORE = ["plan a day in Kyoto", "You said: plan a day in Kyoto", "use metric", "You said: use metric"]


async def transcript_texts(app, session: str) -> list[str | None]:
    """The contents of a session's transcript, oldest first."""
    return [line.content for line in await app.active_session.engine.sessions.transcript(session, after=0)]


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_found_message_opens_in_its_session(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app, size) as pilot:
        await open_session_browser(pilot, app)
        await sees(pilot, "museum of gold", "plan a day in Kyoto")
        await pilot.press("slash", *"metric", "enter")
        await sees(pilot, "Messages", "You said: use metric")
        await until(pilot, lambda: app.screen.hit is not None)
        assert app.screen.hit.line.role == "assistant"
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main and app.main.conversation.cursor is not None)
        assert app.active_session.session_id == "kyoto"
        assert app.main.conversation.cursor.markdown() == "You said: use metric"


async def test_chinese_message_is_found_and_opens_in_its_session(open_engine: Engines):
    app = browsing(open_engine, ("trip", ("我想去京都旅行", "好的")), ("rain", ("下雨吗",)), *TRIPS)
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        await pilot.press("slash", *"京都", "enter")
        await sees(pilot, "Found: 1 title · 2 messages", "agent: You said: 我想去京都旅行")
        await pilot.press("down", "down")
        await until(pilot, lambda: screen.hit is not None and screen.hit.line.role == "user")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main and app.main.conversation.cursor is not None)
        assert (app.active_session.session_id, app.main.conversation.cursor.markdown()) == ("trip", "我想去京都旅行")
        await sees(pilot, "我想去京都旅行")


@at_both_sizes
async def test_old_message_of_a_long_session_opens_at_its_place(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, ("long", ("the needle in it", *(f"message {number}" for number in range(40)))))
    async with at_the_screen(app, size) as pilot:
        screen = await open_session_browser(pilot, app)
        await pilot.press("slash", *"needle", "enter")
        await sees(pilot, "Found: 1 title · 2 messages")
        await pilot.press("down", "down")
        await until(pilot, lambda: screen.hit is not None and screen.hit.line.role == "user")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main and app.main.conversation.cursor is not None)
        await sees(pilot, "the needle in it", "You said: the needle in it")
        assert "You said: message 39" not in shown(app)


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_current_row_is_marked_while_the_user_types_a_search(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app, size) as pilot:
        await open_session_browser(pilot, app)
        await pilot.press("slash", *"gold")
        await sees(pilot, "Found: 1 title · 2 messages")
        marked = [line for line in shown(app).splitlines() if line.startswith(GLYPHS["cursor"])]
        assert len(marked) == 1
        assert "museum of gold" in marked[0]
        await pilot.press("down")
        await until(pilot, lambda: shown(app).splitlines().index(marked[0].replace("›", " ", 1)) > 0)
        assert app.screen.search.has_focus


async def test_enter_resumes_a_session(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        assert screen.node.row.session.session_id == "lima"
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.screen is app.main and app.active_session.session_id == "kyoto")
        await sees(pilot, "You said: use metric")
        assert app.main.where() == "prompt"


@pytest.mark.parametrize("read", ["list", "last_position"])
async def test_last_of_two_sessions_opened_quickly_is_shown(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch, read: str
):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        engine, go, held = app.active_session.engine, asyncio.Event(), list[str]()
        at_once = getattr(engine.runs, read)

        async def slowly(*args: Any, **options: Any) -> Any:
            answer = await at_once(*args, **options)
            if app.active_session.session_id == "kyoto" and not go.is_set():
                held.append("kyoto")
                await go.wait()
            return answer

        monkeypatch.setattr(engine.runs, read, slowly)
        first = asyncio.ensure_future(app.controllers.sessions.resume("kyoto"))
        await until(pilot, lambda: bool(held))
        await app.controllers.sessions.resume("lima")
        go.set()
        await first
        await sees(pilot, "You said: where is the museum of gold")
        assert app.services.updater.view is not None
        assert app.services.updater.conversation.run_ids == (app.services.updater.view.run_id,)
        assert (await engine.runs.get(app.services.updater.view.run_id)).conversation_id == "lima"


async def test_esc_goes_back_step_by_step_and_keeps_the_draft(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await pilot.press(*"half a th")
        session = app.active_session.session_id
        screen = await open_session_browser(pilot, app)
        await pilot.press("slash", *"gold")
        await until(pilot, lambda: screen.found is not None and screen.found.query == "gold")
        await pilot.press("escape")
        await until(pilot, lambda: screen.found is None and screen.list.has_focus)
        await pilot.press("r")
        await until(pilot, lambda: screen.ask_line.is_open)
        await pilot.press("escape")
        await until(pilot, lambda: not screen.ask_line.is_open)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert (app.main.prompt.text, app.active_session.session_id, app.main.where()) == (
            "half a th",
            session,
            "prompt",
        )


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_details_can_be_scrolled_copied_and_left(open_engine: Engines, size: tuple[int, int]):
    text = "\n".join(f"line {number}" for number in range(60))
    app = browsing(open_engine, TRIPS[0], ("long", (text,)))
    async with at_the_screen(app, size) as pilot:
        screen = await open_session_browser(pilot, app)
        await until(pilot, lambda: listed(screen)[:1] == ["long"])
        await pilot.press("g")
        await until(pilot, lambda: screen.node.row.session.session_id == "long")
        await pilot.press("tab")
        await sees(pilot, "1 event · 2 messages", "line 0")
        await pilot.press("G")
        await sees(pilot, "line 59")
        await pilot.press("y")
        await until(pilot, lambda: app.clipboard == f"You said: {text}")
        assert screen.node.row.session.session_id == "long", "the list stays where it was"
        await pilot.press("escape", "down", "tab")
        await sees(pilot, "kyoto", "2 events · 4 messages")
        await pilot.press("G")
        await sees(pilot, "You said: use metric")
        await pilot.press("tab", "escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_details_appear_if_the_terminal_becomes_wide_enough(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app, (80, 24)) as pilot:
        await open_session_browser(pilot, app)
        assert "1 event · 2 messages" not in shown(app)
        await pilot.resize_terminal(160, 45)
        await sees(pilot, "You said: where is the museum of gold")


async def test_next_page_is_loaded_if_a_whole_page_is_folded_away(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    def folded() -> SessionTree:
        tree = SessionTree()
        tree.set_open("parent", is_open=False)
        return tree

    monkeypatch.setattr(console.data.sessions, "PAGE_ROWS", 2)
    monkeypatch.setattr(console.data.paged, "PAGE_ROWS", 2)
    monkeypatch.setattr(console.data.sessions, "SessionTree", folded)
    app = browsing(open_engine, ("parent", ("hello",)))
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        for _ in range(9):
            await app.active_session.engine.sessions.fork("parent")
        screen = await open_session_browser(pilot, app)
        await until(pilot, lambda: screen.reader.is_complete)
        assert (listed(screen), len(screen.reader.tree)) == (["parent"], 10)


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_control_characters_of_a_title_are_edited_as_text(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        await app.active_session.engine.sessions.rename("lima", "red \x1b[31m[/b] alert")
        screen = await open_session_browser(pilot, app)
        await sees(pilot, "[31m[/b] alert")
        await pilot.press("r")
        await sees(pilot, "New title", "enter accept")
        assert screen.ask_line.value == "red \x1b[31m[/b] alert"
        assert "\x1b" not in shown(app)
        await pilot.press("end", "!", "enter")
        await sees(pilot, "alert!")


async def test_title_is_set_and_removed(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:

        async def title() -> str | None:
            return (await app.active_session.engine.sessions.get("lima")).session.title

        await open_session_browser(pilot, app)
        await pilot.press("r", *"Gold", "enter")
        await sees(pilot, "Gold")
        await becomes(pilot, title, "Gold")
        await pilot.press("r", "backspace", "enter")
        await becomes(pilot, title, None)


async def test_fork_is_listed_under_its_parent_and_folds(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await open_session_browser(pilot, app)
        await pilot.press("down", "f")
        await until(pilot, lambda: app.screen is app.main and app.active_session.session_id not in ("kyoto", "lima"))
        await sees(pilot, "forked here from", "You said: use metric")
        fork = app.active_session.session_id
        screen = await open_session_browser(pilot, app)
        assert listed(screen) == ["kyoto", fork, "lima"]
        await pilot.press("g", "space")
        await until(pilot, lambda: listed(screen) == ["kyoto", "lima"])
        await pilot.press("space")
        await until(pilot, lambda: listed(screen) == ["kyoto", fork, "lima"])


async def test_fork_and_parent_continue_independently(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await open_session_browser(pilot, app)
        await pilot.press("down", "f")
        await until(pilot, lambda: app.screen is app.main and app.active_session.session_id not in ("kyoto", "lima"))
        fork = app.active_session.session_id
        await say(pilot, "only here")
        await sees(pilot, "You said: only here")
        await until(pilot, lambda: not app.services.situation.is_running)
        screen = await open_session_browser(pilot, app)
        assert listed(screen) == ["kyoto", fork, "lima"]
        await pilot.press("g", "enter")
        await until(pilot, lambda: app.screen is app.main and app.active_session.session_id == "kyoto")
        await say(pilot, "only there")
        await sees(pilot, "You said: only there")
        assert "only here" not in [block.markdown() for block in app.services.updater.conversation.blocks]
        assert await transcript_texts(app, fork) == [*BEFORE, "only here", "You said: only here"]
        assert await transcript_texts(app, "kyoto") == [*BEFORE, "only there", "You said: only there"]


async def test_fork_at_a_user_message_puts_it_into_the_prompt(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        await pilot.press("slash", *"metric", "enter", "down")
        await until(pilot, lambda: screen.hit is not None and screen.hit.line.role == "user")
        await pilot.press("f")
        await until(pilot, lambda: app.main.prompt.text == "use metric")
        lines = await app.active_session.engine.sessions.transcript(app.active_session.session_id)
        assert [line.content for line in lines] == ["You said: plan a day in Kyoto", "plan a day in Kyoto"]


async def test_fork_at_a_user_message_names_lost_files_and_secrets(open_engine: Engines, tmp_path: Path):
    (tmp_path / "map.txt").write_text("north")
    app = browsing(open_engine)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        stage = app.active_session
        ticket = await stage.send(
            "open it with ‹secret PASSWORD›", stage.message_target, files=[str(tmp_path / "map.txt")]
        )
        await stage.engine.runs.wait_for_end(await ticket.started)
        (first, *_) = await stage.engine.sessions.transcript(stage.session_id, after=0)
        await app.controllers.sessions.fork(stage.session_id, first)
        assert app.main.prompt.text == "open it with ‹secret PASSWORD›"
        lost = "map.txt was not copied. Attach it again. A secret is masked in the database. Enter it again."
        assert app.toasts[-1] == lost


async def test_last_message_is_sent_again_in_its_session(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await open_session_browser(pilot, app)
        await pilot.press("down", "s")

        await until(
            pilot,
            lambda: app.active_session.session_id == "kyoto" and len(app.services.updater.conversation.run_ids) == 3,
        )
        await becomes(pilot, lambda: transcript_texts(app, "kyoto"), [*BEFORE, "use metric", "You said: use metric"])


async def test_failed_read_is_shown_and_retried(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    async def refuse(**_: object) -> list[object]:
        raise OSError("the disk is away")

    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app, (60, 15)) as pilot:
        await begun(pilot, app)
        with monkeypatch.context() as away:
            away.setattr(app.active_session.engine.sessions, "browse", refuse)
            await pilot.press("ctrl+l")
            await sees(pilot, "The list cannot be read: the disk is away")
        await sees(pilot, "museum of gold", "2 sessions")
        with monkeypatch.context() as away:
            away.setattr(app.active_session.engine.sessions, "browse", refuse)
            app.toasts.clear()
            await pilot.press("slash", *"gold")
            await until(pilot, lambda: "The disk is away" in app.toasts)
        await sees(pilot, "Found: 1 title · 2 messages")


async def test_empty_browser_says_how_to_start_a_session(open_engine: Engines):
    app = browsing(open_engine)
    async with at_the_screen(app) as pilot:
        await pilot.press("ctrl+l")
        await sees(pilot, "No sessions yet.")
        await pilot.press("enter")
        await until(pilot, lambda: "The list is empty." in app.toasts)


async def test_cursor_starts_on_the_open_session(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await app.controllers.sessions.resume("kyoto")
        screen = await open_session_browser(pilot, app)
        assert listed(screen) == ["lima", "kyoto"]
        assert screen.node is not None
        assert screen.node.row.session.session_id == "kyoto"


async def test_pane_commands_are_not_available_over_the_browser(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await open_session_browser(pilot, app)
        await pilot.press("f2")
        await until(pilot, lambda: any("Press esc to go back." in told for told in app.toasts))
        assert not app.main.has_class("-zoom-left")
        assert "f2" not in shown(app).splitlines()[-1]


async def select_block(pilot, app, words: str) -> None:
    """Move the cursor of the conversation to the block with this text."""
    app.main.go_to("conversation")
    for _ in range(20):
        await pilot.press("alt+up")
        if app.main.conversation.cursor is not None and app.main.conversation.cursor.markdown() == words:
            return
    texts = [block.markdown() for block in app.services.updater.conversation.blocks]
    raise AssertionError(f"no block says {words}: {texts}")


@pytest.mark.parametrize(
    ("words", "kept", "typed"),
    [
        ("You said: plan a day in Kyoto", ["You said: plan a day in Kyoto", "plan a day in Kyoto"], ""),
        ("use metric", ["You said: plan a day in Kyoto", "plan a day in Kyoto"], "use metric"),
        ("plan a day in Kyoto", [], "plan a day in Kyoto"),
    ],
)
async def test_fork_at_a_block_of_the_conversation(open_engine: Engines, words: str, kept: list[str], typed: str):
    app = browsing(open_engine, TRIPS[0])
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await app.controllers.sessions.resume("kyoto")
        await sees(pilot, "You said: use metric")
        await select_block(pilot, app, words)
        await pilot.press("f")
        await until(pilot, lambda: app.active_session.session_id != "kyoto" and app.main.prompt.text == typed)
        assert [
            line.content for line in await app.active_session.engine.sessions.transcript(app.active_session.session_id)
        ] == kept


async def test_fork_can_be_forked_at_an_inherited_message(open_engine: Engines):
    app = browsing(open_engine, TRIPS[0])
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await app.controllers.sessions.fork("kyoto")
        fork = app.active_session.session_id
        await sees(pilot, "You said: use metric", "forked here")
        await select_block(pilot, app, "You said: plan a day in Kyoto")
        await pilot.press("f")
        await until(pilot, lambda: app.active_session.session_id not in ("kyoto", fork))
        lines = await app.active_session.engine.sessions.transcript(app.active_session.session_id)
        assert [line.content for line in lines] == ["You said: plan a day in Kyoto", "plan a day in Kyoto"]
