"""Creating sessions and editing their metadata in the session browser."""

from console.ui.sessions.new import NewSession
from console.ui.state.edit import EditValue
from tests.support.console.browser_data import browsing, listed
from tests.support.console.pilot import at_both_sizes, at_the_screen, say, sees, shown, until
from tests.support.console.sessions_browser import open_session_browser
from tests.support.engines import Engines


@at_both_sizes
async def test_session_is_created_with_id_title_user_and_metadata(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, ("kyoto", ("plan a day",)))
    async with at_the_screen(app, size) as pilot:
        await open_session_browser(pilot, app)
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, NewSession))
        await pilot.press(*"kyoto", "enter")
        await sees(pilot, "Session kyoto exists already; choose another id.")
        await pilot.press("ctrl+u", *"19960@chatroom", "tab", *"Group", "tab", *"ann", "tab", *"[1]", "enter")
        await sees(pilot, "etadata must be an object")
        assert isinstance(app.screen, NewSession), "what was typed stays"
        await pilot.press("ctrl+u", *'{"a": 1}', "enter")
        await until(pilot, lambda: app.screen is app.main and app.active_session.session_id == "19960@chatroom")
        engine = app.active_session.engine
        session = (await engine.sessions.get("19960@chatroom")).session
        assert (session.title, session.user_id, session.metadata) == ("Group", "ann", {"a": 1})
        assert (session.depth, session.message_count) == (0, 0)

        await say(pilot, "first")
        await sees(pilot, "You said: first")
        assert (await engine.sessions.get("19960@chatroom")).session.title == "Group"


async def test_child_is_spawned_and_metadata_is_edited(open_engine: Engines):
    app = browsing(open_engine, ("kyoto", ("plan a day",)))
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        engine = app.active_session.engine
        await until(pilot, lambda: screen.node is not None)
        await pilot.press("c")
        await sees(pilot, "New child of “plan a day”")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, NewSession))
        await pilot.press(*"aside", "tab", "tab", *"bob", "enter")
        await until(pilot, lambda: app.screen is app.main and app.active_session.session_id == "aside")
        child = (await engine.sessions.get("aside")).session
        assert (child.parent_session_id, child.root_session_id, child.user_id) == ("kyoto", "kyoto", "bob")

        screen = await open_session_browser(pilot, app)
        await until(pilot, lambda: listed(screen) == ["kyoto", "aside"])
        assert screen.node.row.session.session_id == "aside"
        await engine.sessions.set_metadata("aside", {"city": "Kyoto", "days": 2})
        await sees(pilot, "user bob", 'metadata {"city": "Kyoto", "days": 2}')
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, EditValue))
        app.screen.area.text = "[1]"
        await pilot.press("f4")
        await sees(pilot, "etadata must be an object")
        app.screen.area.text = '{"days": 3}'
        await pilot.press("f4")
        await until(pilot, lambda: app.screen is screen)
        assert (await engine.sessions.get("aside")).session.metadata == {"days": 3}
        await sees(pilot, 'metadata {"days": 3}')

        await pilot.press("slash", *"plan", "enter", "down", "down")
        await until(pilot, lambda: screen.hit is not None)
        assert screen.why_not("spawn") == "This is a message, not a session. esc shows the sessions."
        assert screen.why_not("set") == "This is a message, not a session. esc shows the sessions."
        assert screen.why_not("new") is None


async def test_long_id_is_shown_by_its_first_24_columns(open_engine: Engines):
    wide = "群聊" * 20
    app = browsing(open_engine, ("x" * 255, ("one",)), (wide, ("two",)))
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        engine = app.active_session.engine
        for session_id in ("x" * 255, wide):
            await engine.sessions.rename(session_id, None)
        await sees(pilot, "x" * 24, wide[:12])
        assert "x" * 25 not in shown(app)
        assert wide[:13] not in shown(app)
        await pilot.press("g", "y")
        await until(pilot, lambda: app.clipboard == screen.node.row.session.session_id)
