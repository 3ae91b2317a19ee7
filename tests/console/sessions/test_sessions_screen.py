"""The session browser as a person uses it: find, open, rename, delete, fork, send again."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import console.data.paged
import console.data.sessions
from console.model.sessions.tree import Tree
from console.model.text.glyphs import GLYPHS
from console.ui.sessions.screen import SessionsScreen
from tests.support.console.browser_data import begun, browsing, listed
from tests.support.console.pilot import SIZES, at_both_sizes, at_the_screen, becomes, say, sees, shown, until
from tests.support.engines import Engines

TRIPS = (("kyoto", ("plan a day in Kyoto", "use metric")), ("lima", ("where is the museum of gold",)))


BEFORE = ["plan a day in Kyoto", "You said: plan a day in Kyoto", "use metric", "You said: use metric"]


async def said(app, session: str) -> list[str | None]:
    """What was said in a session, the oldest first."""
    return [line.content for line in await app.stage.engine.sessions.transcript(session, after=0)]


async def opened(pilot, app, key: str = "ctrl+l") -> SessionsScreen:
    await pilot.press(key)
    await until(pilot, lambda: isinstance(app.screen, SessionsScreen))
    await until(pilot, lambda: app.screen.list.current is not None)
    return app.screen


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_a_session_is_found_by_what_was_said_and_opens_at_the_place(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app, size) as pilot:
        await opened(pilot, app)
        await sees(pilot, "museum of gold", "plan a day in Kyoto")
        await pilot.press("slash", *"metric", "enter")
        await sees(pilot, "Lines", "You said: use metric")
        await until(pilot, lambda: app.screen.hit is not None)
        assert app.screen.hit.line.role == "assistant"
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main and app.main.conversation.cursor is not None)
        assert app.stage.session == "kyoto"
        assert app.main.conversation.cursor.markdown() == "You said: use metric"


async def test_chinese_is_found_and_opens_at_the_place(open_engine: Engines):
    app = browsing(open_engine, ("trip", ("我想去京都旅行", "好的")), ("rain", ("下雨吗",)), *TRIPS)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await pilot.press("slash", *"京都", "enter")
        await sees(pilot, "Found: 1 title · 2 lines", "agent: You said: 我想去京都旅行")
        await pilot.press("down", "down")
        await until(pilot, lambda: screen.hit is not None and screen.hit.line.role == "user")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main and app.main.conversation.cursor is not None)
        assert (app.stage.session, app.main.conversation.cursor.markdown()) == ("trip", "我想去京都旅行")
        await sees(pilot, "我想去京都旅行")


@at_both_sizes
async def test_a_line_far_up_in_a_long_talk_is_gone_to(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, ("long", ("the needle in it", *(f"message {number}" for number in range(40)))))
    async with at_the_screen(app, size) as pilot:
        screen = await opened(pilot, app)
        await pilot.press("slash", *"needle", "enter")
        await sees(pilot, "Found: 1 title · 2 lines")
        await pilot.press("down", "down")
        await until(pilot, lambda: screen.hit is not None and screen.hit.line.role == "user")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main and app.main.conversation.cursor is not None)
        await sees(pilot, "the needle in it", "You said: the needle in it")
        assert "You said: message 39" not in shown(app)


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_the_row_that_keys_act_on_has_a_sign_while_one_types(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app, size) as pilot:
        await opened(pilot, app)
        await pilot.press("slash", *"gold")
        await sees(pilot, "Found: 1 title · 2 lines")
        marked = [line for line in shown(app).splitlines() if line.startswith(GLYPHS["cursor"])]
        assert len(marked) == 1
        assert "museum of gold" in marked[0]
        await pilot.press("down")
        await until(pilot, lambda: shown(app).splitlines().index(marked[0].replace("›", " ", 1)) > 0)
        assert app.screen.search.has_focus


async def test_enter_goes_on_with_a_session(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        assert screen.branch.row.session.session_id == "lima"
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.screen is app.main and app.stage.session == "kyoto")
        await sees(pilot, "You said: use metric")
        assert app.main.where() == "prompt"


@pytest.mark.parametrize("read", ["list", "last_position"])
async def test_who_opens_two_sessions_quickly_sees_the_one_they_are_in(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch, read: str
):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        engine, go, held = app.stage.engine, asyncio.Event(), list[str]()
        at_once = getattr(engine.runs, read)

        async def slowly(*args: Any, **options: Any) -> Any:
            answer = await at_once(*args, **options)
            if app.stage.session == "kyoto" and not go.is_set():
                held.append("kyoto")
                await go.wait()
            return answer

        monkeypatch.setattr(engine.runs, read, slowly)
        first = asyncio.ensure_future(app.resume("kyoto"))
        await until(pilot, lambda: bool(held))
        await app.resume("lima")
        go.set()
        await first
        await sees(pilot, "You said: where is the museum of gold")
        assert app.hearing.view is not None
        assert app.hearing.talk.run_ids == (app.hearing.view.run_id,)
        assert (await engine.runs.get(app.hearing.view.run_id)).conversation_id == "lima"


async def test_esc_goes_back_step_by_step_and_nothing_is_lost(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await pilot.press(*"half a th")
        session = app.stage.session
        screen = await opened(pilot, app)
        await pilot.press("slash", *"gold")
        await until(pilot, lambda: screen.found is not None and screen.found.query == "gold")
        await pilot.press("escape")
        await until(pilot, lambda: screen.found is None and screen.list.has_focus)
        await pilot.press("r")
        await until(pilot, lambda: screen.line.is_open)
        await pilot.press("escape")
        await until(pilot, lambda: not screen.line.is_open)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert (app.main.prompt.text, app.stage.session, app.main.where()) == ("half a th", session, "prompt")


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_what_is_told_of_a_session_is_gone_through_and_left(open_engine: Engines, size: tuple[int, int]):
    text = "\n".join(f"line {number}" for number in range(60))
    app = browsing(open_engine, TRIPS[0], ("long", (text,)))
    async with at_the_screen(app, size) as pilot:
        screen = await opened(pilot, app)
        await pilot.press("tab")
        await sees(pilot, "1 exchange · 2 lines", "line 0")
        await pilot.press("G")
        await sees(pilot, "line 59")
        await pilot.press("y")
        await until(pilot, lambda: app.clipboard == f"You said: {text}")
        assert screen.branch.row.session.session_id == "long", "the list stays where it was"
        await pilot.press("escape", "down", "tab")
        await sees(pilot, "kyoto", "2 exchanges · 4 lines")
        await pilot.press("G")
        await sees(pilot, "You said: use metric")
        await pilot.press("tab", "escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_where_there_is_room_again_it_is_told_at_the_side(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app, (80, 24)) as pilot:
        await opened(pilot, app)
        assert "1 exchange · 2 lines" not in shown(app)
        await pilot.resize_terminal(160, 45)
        await sees(pilot, "You said: where is the museum of gold")


async def test_the_rest_is_read_though_all_of_a_page_is_folded_away(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    def folded() -> Tree:
        tree = Tree()
        tree.fold("parent", is_open=False)
        return tree

    monkeypatch.setattr(console.data.sessions, "PAGE_ROWS", 2)
    monkeypatch.setattr(console.data.paged, "PAGE_ROWS", 2)
    monkeypatch.setattr(console.data.sessions, "Tree", folded)
    app = browsing(open_engine, ("parent", ("hello",)))
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        for _ in range(9):
            await app.stage.engine.sessions.fork("parent")
        screen = await opened(pilot, app)
        await until(pilot, lambda: screen.desk.is_complete)
        assert (listed(screen), len(screen.desk.tree)) == (["parent"], 10)


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_a_title_that_a_terminal_would_obey_is_renamed_as_text(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        await app.stage.engine.sessions.rename("lima", "red \x1b[31m[/b] alert")
        screen = await opened(pilot, app)
        await sees(pilot, "[31m[/b] alert")
        await pilot.press("r")
        await sees(pilot, "New title", "enter takes it")
        assert screen.line.value == "red \x1b[31m[/b] alert"
        assert "\x1b" not in shown(app)
        await pilot.press("end", "!", "enter")
        await sees(pilot, "alert!")


async def test_a_title_is_taken_away(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await app.stage.engine.sessions.rename("lima", "Gold")
        await opened(pilot, app)
        await sees(pilot, "Gold")
        await pilot.press("r", "backspace", "enter")

        async def title() -> str | None:
            return (await app.stage.engine.sessions.get("lima")).session.title

        await becomes(pilot, title, None)


async def test_a_session_gets_another_title(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await opened(pilot, app)
        await pilot.press("r", *"Gold", "enter")
        await sees(pilot, "Gold")

        async def title() -> str | None:
            return (await app.stage.engine.sessions.get("lima")).session.title

        await becomes(pilot, title, "Gold")


async def test_a_fork_stands_under_its_parent_and_goes_on_from_there(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await opened(pilot, app)
        await pilot.press("down", "f")
        await until(pilot, lambda: app.screen is app.main and app.stage.session not in ("kyoto", "lima"))
        await sees(pilot, "forked here from", "You said: use metric")
        fork = app.stage.session
        screen = await opened(pilot, app)
        assert listed(screen) == ["kyoto", fork, "lima"]
        await pilot.press("g", "space")
        await until(pilot, lambda: listed(screen) == ["kyoto", "lima"])
        await pilot.press("space")
        await until(pilot, lambda: listed(screen) == ["kyoto", fork, "lima"])


async def test_a_fork_and_its_parent_go_on_each_by_itself(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await opened(pilot, app)
        await pilot.press("down", "f")
        await until(pilot, lambda: app.screen is app.main and app.stage.session not in ("kyoto", "lima"))
        fork = app.stage.session
        await say(pilot, "only here")
        await sees(pilot, "You said: only here")
        await until(pilot, lambda: not app.situation.is_running)
        screen = await opened(pilot, app)
        assert listed(screen) == ["kyoto", fork, "lima"]
        await pilot.press("g", "enter")
        await until(pilot, lambda: app.screen is app.main and app.stage.session == "kyoto")
        await say(pilot, "only there")
        await sees(pilot, "You said: only there")
        assert "only here" not in [block.markdown() for block in app.hearing.talk.blocks]
        assert await said(app, fork) == [*BEFORE, "only here", "You said: only here"]
        assert await said(app, "kyoto") == [*BEFORE, "only there", "You said: only there"]


async def test_forked_at_a_message_of_ones_own_it_is_in_the_prompt_and_not_in_the_fork(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await pilot.press("slash", *"metric", "enter", "down")
        await until(pilot, lambda: screen.hit is not None and screen.hit.line.role == "user")
        await pilot.press("f")
        await until(pilot, lambda: app.main.prompt.text == "use metric")
        lines = await app.stage.engine.sessions.transcript(app.stage.session)
        assert [line.content for line in lines] == ["You said: plan a day in Kyoto", "plan a day in Kyoto"]


async def test_forked_at_a_message_of_ones_own_it_is_said_what_of_it_did_not_come_along(
    open_engine: Engines, tmp_path: Path
):
    (tmp_path / "map.txt").write_text("north")
    app = browsing(open_engine)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        stage = app.stage
        ticket = await stage.send("open it with ‹secret PASSWORD›", stage.address, files=[str(tmp_path / "map.txt")])
        await stage.engine.runs.wait_for_end(await ticket.started)
        (first, *_) = await stage.engine.sessions.transcript(stage.session, after=0)
        await app.fork(stage.session, first)
        assert app.main.prompt.text == "open it with ‹secret PASSWORD›"
        lost = "map.txt was not copied. Attach it again. A secret is masked in the database. Enter it again."
        assert app.told[-1] == lost


async def test_the_last_message_is_sent_again_in_its_session(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await opened(pilot, app)
        await pilot.press("down", "s")

        await until(pilot, lambda: app.stage.session == "kyoto" and len(app.hearing.talk.run_ids) == 3)
        await becomes(pilot, lambda: said(app, "kyoto"), [*BEFORE, "use metric", "You said: use metric"])


async def test_what_cannot_be_read_is_said_and_read_as_soon_as_it_can(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    async def refuse(**_: object) -> list[object]:
        raise OSError("the disk is away")

    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app, (60, 15)) as pilot:
        await begun(pilot, app)
        with monkeypatch.context() as away:
            away.setattr(app.stage.engine.sessions, "browse", refuse)
            await pilot.press("ctrl+l")
            await sees(pilot, "It cannot be read: the disk is away")
        await sees(pilot, "museum of gold", "2 sessions")
        with monkeypatch.context() as away:
            away.setattr(app.stage.engine.sessions, "browse", refuse)
            app.told.clear()
            await pilot.press("slash", *"gold")
            await until(pilot, lambda: "the disk is away" in app.told)
        await sees(pilot, "Found: 1 title · 2 lines")


async def test_an_empty_browser_says_what_to_do(open_engine: Engines):
    app = browsing(open_engine)
    async with at_the_screen(app) as pilot:
        await pilot.press("ctrl+l")
        await sees(pilot, "There is no session yet")
        await pilot.press("enter")
        await until(pilot, lambda: "there is nothing here" in app.told)


async def test_it_opens_on_the_session_one_is_in(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await app.resume("kyoto")
        screen = await opened(pilot, app)
        assert listed(screen) == ["lima", "kyoto"]
        assert screen.branch is not None
        assert screen.branch.row.session.session_id == "kyoto"


async def test_keys_of_the_panes_wait_until_one_is_back(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await opened(pilot, app)
        await pilot.press("f2")
        await until(pilot, lambda: any("esc goes back" in told for told in app.told))
        assert not app.main.has_class("-zoom-left")
        assert "f2" not in shown(app).splitlines()[-1]


async def chosen(pilot, app, words: str) -> None:
    """Choose the block that says this."""
    app.main.go_to("conversation")
    for _ in range(20):
        await pilot.press("alt+up")
        if app.main.conversation.cursor is not None and app.main.conversation.cursor.markdown() == words:
            return
    said = [block.markdown() for block in app.hearing.talk.blocks]
    raise AssertionError(f"no block says {words}: {said}")


@pytest.mark.parametrize(
    ("words", "kept", "typed"),
    [
        ("You said: plan a day in Kyoto", ["You said: plan a day in Kyoto", "plan a day in Kyoto"], ""),
        ("use metric", ["You said: plan a day in Kyoto", "plan a day in Kyoto"], "use metric"),
        ("plan a day in Kyoto", [], "plan a day in Kyoto"),
    ],
)
async def test_a_block_is_forked_from(open_engine: Engines, words: str, kept: list[str], typed: str):
    app = browsing(open_engine, TRIPS[0])
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await app.resume("kyoto")
        await sees(pilot, "You said: use metric")
        await chosen(pilot, app, words)
        await pilot.press("f")
        await until(pilot, lambda: app.stage.session != "kyoto" and app.main.prompt.text == typed)
        assert [line.content for line in await app.stage.engine.sessions.transcript(app.stage.session)] == kept


async def test_a_fork_is_forked_at_what_it_began_with(open_engine: Engines):
    app = browsing(open_engine, TRIPS[0])
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await app.fork("kyoto")
        fork = app.stage.session
        await sees(pilot, "You said: use metric", "forked here")
        await chosen(pilot, app, "You said: plan a day in Kyoto")
        await pilot.press("f")
        await until(pilot, lambda: app.stage.session not in ("kyoto", fork))
        lines = await app.stage.engine.sessions.transcript(app.stage.session)
        assert [line.content for line in lines] == ["You said: plan a day in Kyoto", "plan a day in Kyoto"]
