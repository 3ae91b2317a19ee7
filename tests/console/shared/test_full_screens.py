"""Over the panes: toasts leave free what one needs, keys are named where they are needed, a session has one name."""

from collections.abc import Callable
from functools import partial

import pytest
from textual.geometry import Region
from textual.widgets._toast import Toast

from console.launch import LaunchOptions
from console.ui.sessions.screen import SessionsScreen
from console.ui.shared.browser import Browser
from console.ui.state.edit import EditValue
from tests.console.settings_form.test_form_screen import needs
from tests.console.settings_form.test_form_screen import opened as with_form
from tests.console.shared.test_toasts import on_screen
from tests.console.state.test_state_screen import KEPT, on_key, opened
from tests.console.state.test_state_screen import parrot as keeper
from tests.support.console.browser_data import begun, browsing, parrot, talked
from tests.support.console.form_app import to_the_form
from tests.support.console.pilot import at_both_sizes, at_the_screen, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.engines import Engines

Size = tuple[int, int]
SMALL = [(80, 24), (60, 15)]
ALL = [(160, 45), (120, 35), *SMALL]


async def to_sessions(pilot, app: RecordingConsole) -> SessionsScreen:
    await begun(pilot, app)
    await pilot.press("ctrl+l")
    await until(pilot, lambda: isinstance(app.screen, SessionsScreen) and app.screen.list.source.height > 0)
    assert isinstance(app.screen, SessionsScreen)
    return app.screen


async def toasts_of(pilot, app: RecordingConsole) -> list[Region]:
    """Where they are, once they are there."""
    await until(pilot, lambda: any(on_screen(toast).area for toast in app.screen.query(Toast)))
    return [region for toast in app.screen.query(Toast) if (region := on_screen(toast)).area]


@pytest.mark.parametrize("size", ALL)
async def test_toasts_leave_the_search_the_first_rows_and_the_footer_free(open_engine: Engines, size: Size):
    app = browsing(open_engine, *KEPT)
    async with at_the_screen(app, size) as pilot:
        screen = await to_sessions(pilot, app)
        app.services.show_toast("this was told a moment ago, and it is not that short")
        for toast in await toasts_of(pilot, app):
            first_rows = on_screen(screen.list)._replace(height=4)
            for part in (on_screen(screen.search), first_rows, on_screen(screen.title_line), on_screen(screen.footer)):
                assert part.area
                assert not toast.overlaps(part)


@pytest.mark.parametrize("size", SMALL)
async def test_toasts_leave_a_line_free_that_asks(open_engine: Engines, size: Size):
    app = browsing(open_engine, *KEPT)
    async with at_the_screen(app, size) as pilot:
        screen = await to_sessions(pilot, app)
        await pilot.press("r")
        await until(pilot, lambda: on_screen(screen.ask_line).area > 0)
        app.services.show_toast("this was told a moment ago")
        for toast in await toasts_of(pilot, app):
            assert not toast.overlaps(on_screen(screen.ask_line))


@pytest.mark.parametrize("size", ALL)
async def test_what_the_form_says_at_its_field_is_not_told_over_it(open_engine: Engines, size: Size):
    app = with_form(open_engine, needs)
    async with at_the_screen(app, size) as pilot:
        await sees(pilot, "model is required")
        await to_the_form(pilot, app)
        await sees(pilot, "required")
        assert not [toast for toast in app._notifications if "required" in toast.message]


@at_both_sizes
async def test_a_toast_that_names_undo_goes_with_it(open_engine: Engines, size: Size):
    app = browsing(open_engine, *KEPT, runner=keeper)
    async with at_the_screen(app, size) as pilot:
        await to_sessions(pilot, app)
        await pilot.press("d")
        await sees(pilot, "u undoes it")
        await pilot.press("u")
        await sees(pilot, "is restored.")
        assert "u undoes it" not in shown(app)
        await pilot.press("escape")
        await on_key(pilot, await opened(pilot, app), "said")
        await pilot.press("d")
        await sees(pilot, "Deleted said · u undoes it")
        await pilot.press("u")
        await sees(pilot, "Undone: 1 key")
        assert "u undoes it" not in shown(app)


async def test_a_session_without_a_title_has_one_name(open_engine: Engines):
    async def with_one():
        engine = await open_engine(parrot)
        await talked(engine, "ses_01", "Plan a trip")
        await engine.sessions.rename("ses_01", None)
        return engine

    app = RecordingConsole(LaunchOptions(session="ses_01"), with_one)
    async with at_the_screen(app) as pilot:
        await sees(pilot, "You said: Plan a trip")
        await until(pilot, lambda: "Plan a trip" in shown(app).splitlines()[0])
        rail = app.main.rail
        await until(pilot, lambda: [card.title for card in rail._shown.sessions] == ["Plan a trip"])
        screen = await to_sessions(pilot, app)
        await sees(pilot, "› ", "Plan a trip", "you are here")
        await pilot.press("slash", *"said")
        await until(
            pilot, lambda: screen.found is not None and screen.found.query == "said" and bool(screen.found.hits)
        )
        await sees(pilot, "Plan a trip  agent: ")
        assert "untitled" not in shown(app)


@pytest.mark.parametrize("size", SMALL)
@pytest.mark.parametrize("name", ["sessions", "states"])
async def test_the_way_to_the_details_is_named_where_they_are_not_seen(open_engine: Engines, size: Size, name: str):
    app = browsing(open_engine, *KEPT, runner=keeper)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        await app.action_perform(f"app.{name}")
        await until(pilot, lambda: isinstance(app.screen, Browser) and app.screen.list.source.height > 0)
        await sees(pilot, "tab details", "esc back")
        await pilot.press("tab")
        await sees(pilot, "esc back to list")


@pytest.mark.parametrize("size", SMALL)
async def test_no_key_leads_to_the_details_of_nothing(open_engine: Engines, size: Size):
    app = RecordingConsole(LaunchOptions(), lambda: open_engine(parrot))
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        await pilot.press("ctrl+l")
        await sees(pilot, "No sessions yet.")
        await pilot.press("tab")
        await sees(pilot, "The list is empty.", "No sessions yet.")


@pytest.mark.parametrize("size", ALL)
async def test_the_history_is_seen_from_the_details_too(open_engine: Engines, size: Size):
    app = browsing(open_engine, *KEPT, runner=keeper)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        screen = await opened(pilot, app)
        await on_key(pilot, screen, "said")
        await pilot.press("tab", "h")
        await until(pilot, lambda: screen.history is not None and screen.list.source.height == 2)
        await until(pilot, lambda: screen.list.has_focus and on_screen(screen.list).area > 0)


@pytest.mark.parametrize("size", ALL)
async def test_a_dialog_names_its_keys_in_the_footer(open_engine: Engines, size: Size):
    app = browsing(open_engine, *KEPT, runner=keeper)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        await on_key(pilot, await opened(pilot, app), "said")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, EditValue))
        await until(pilot, lambda: "f4 save  esc close  ^q quit" in shown(app).splitlines()[size[1] - 1])


@pytest.mark.parametrize("name", ["sessions", "states", "artifacts"])
async def test_keys_are_heard_before_a_browser_has_read_anything(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch, name: str
):
    app = browsing(open_engine, *KEPT, runner=keeper)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        held: list[Callable[[], object]] = []
        monkeypatch.setattr(Browser, "call_after_refresh", lambda _, call, *args: held.append(partial(call, *args)))
        await app.action_perform(f"app.{name}")
        await until(pilot, lambda: isinstance(app.screen, Browser) and app.screen.list.has_focus and bool(held))
        screen = app.screen
        await pilot.press("w", "u", "d", "h", "n", "y", "down", "r", "f")
        if isinstance(screen, SessionsScreen):
            screen.finish_delete("kyoto", is_deleted=True)
        assert app.screen is screen
        monkeypatch.undo()
        for call in held:
            call()
        await until(pilot, lambda: screen.reading == 0)
        assert not any("attribute" in words for words in app.toasts)


@pytest.mark.parametrize("size", ALL)
async def test_a_line_that_is_typed_in_names_its_keys_in_the_footer(open_engine: Engines, size: Size):
    app = browsing(open_engine, *KEPT, runner=keeper)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        await to_sessions(pilot, app)
        await pilot.press("slash")
        await until(pilot, lambda: footer(app).startswith("enter back to list") and "esc back to list" in footer(app))
        await pilot.press(*"said")
        await until(pilot, lambda: footer(app).startswith("enter to the results") and "esc clear" in footer(app))
        await pilot.press("enter")
        await until(pilot, lambda: footer(app).startswith("enter open") and "esc clear" in footer(app))
        await pilot.press("escape")
        await until(pilot, lambda: "esc back" in footer(app))
        await pilot.press("r")
        await until(pilot, lambda: footer(app).startswith("enter accept") and "esc cancel" in footer(app))
        await pilot.press("escape", "escape")

        screen = await opened(pilot, app)
        await on_key(pilot, screen, "said")
        await pilot.press("n")
        await until(pilot, lambda: footer(app).startswith("enter accept") and "esc cancel" in footer(app))
        await pilot.press("escape", "h")
        await until(pilot, lambda: "esc to the keys" in footer(app))


@pytest.mark.parametrize("size", ALL)
async def test_what_is_chosen_from_by_typing_names_its_keys_in_the_footer(open_engine: Engines, size: Size):
    app = browsing(open_engine, *KEPT, runner=keeper)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        for command, keys in {
            "app.palette": "enter run  esc close",
            "prompt.history": "enter select  esc close",
            "app.theme": "enter select  esc close",
            "app.help": "t tour  esc close",
        }.items():
            await app.action_perform(command)
            await until(pilot, lambda keys=keys: footer(app).startswith(f"{keys}  ^q quit"))
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)


def footer(app: RecordingConsole) -> str:
    """What stands in the line at the bottom."""
    line = (app.services.full_screen or app.main).footer
    return str(line.render().plain)
