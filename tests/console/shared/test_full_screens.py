"""Full screens: what toasts must not cover, which keys the footer names, and the names of sessions."""

from collections.abc import Callable
from functools import partial

import pytest
from textual.geometry import Region
from textual.widgets._toast import Toast

from console.launch import LaunchOptions
from console.ui.sessions.screen import SessionsScreen
from console.ui.shared.browser import Browser
from console.ui.state.edit import EditValue
from tests.support.console.browser_data import begun, browsing, parrot, talked
from tests.support.console.form_app import to_the_form
from tests.support.console.form_runners import console_with_form, needs
from tests.support.console.pilot import at_both_sizes, at_the_screen, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.console.regions import visible_region
from tests.support.console.sessions_browser import open_session_browser
from tests.support.console.state_browser import SESSION_WITH_STATE, move_to_key, open_state_browser
from tests.support.console.state_browser import parrot as storing_parrot
from tests.support.engines import Engines

Size = tuple[int, int]
SMALL_SIZES = [(80, 24), (60, 15)]
ALL_SIZES = [(160, 45), (120, 35), *SMALL_SIZES]


async def open_sessions(pilot, app: RecordingConsole) -> SessionsScreen:
    await begun(pilot, app)
    return await open_session_browser(pilot, app)


async def toast_regions(pilot, app: RecordingConsole) -> list[Region]:
    """Wait until toasts are visible, and return their regions."""
    await until(pilot, lambda: any(visible_region(toast).area for toast in app.screen.query(Toast)))
    return [region for toast in app.screen.query(Toast) if (region := visible_region(toast)).area]


@pytest.mark.parametrize("size", ALL_SIZES)
async def test_toasts_do_not_cover_search_first_rows_title_or_footer(open_engine: Engines, size: Size):
    app = browsing(open_engine, *SESSION_WITH_STATE)
    async with at_the_screen(app, size) as pilot:
        screen = await open_sessions(pilot, app)
        app.services.show_toast("this is the text of a toast, and it is not that short")
        for toast in await toast_regions(pilot, app):
            first_rows = visible_region(screen.list)._replace(height=4)
            for part in (
                visible_region(screen.search),
                first_rows,
                visible_region(screen.title_line),
                visible_region(screen.footer),
            ):
                assert part.area
                assert not toast.overlaps(part)


@pytest.mark.parametrize("size", SMALL_SIZES)
async def test_toasts_do_not_cover_an_open_input_line(open_engine: Engines, size: Size):
    app = browsing(open_engine, *SESSION_WITH_STATE)
    async with at_the_screen(app, size) as pilot:
        screen = await open_sessions(pilot, app)
        await pilot.press("r")
        await until(pilot, lambda: visible_region(screen.ask_line).area > 0)
        app.services.show_toast("this is a toast")
        for toast in await toast_regions(pilot, app):
            assert not toast.overlaps(visible_region(screen.ask_line))


@pytest.mark.parametrize("size", ALL_SIZES)
async def test_problem_shown_at_its_field_is_not_repeated_as_a_toast(open_engine: Engines, size: Size):
    app = console_with_form(open_engine, needs)
    async with at_the_screen(app, size) as pilot:
        await sees(pilot, "model is required")
        await to_the_form(pilot, app)
        await sees(pilot, "required")
        assert not [toast for toast in app._notifications if "required" in toast.message]


@at_both_sizes
async def test_toast_that_offers_undo_is_removed_by_the_undo(open_engine: Engines, size: Size):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=storing_parrot)
    async with at_the_screen(app, size) as pilot:
        await open_sessions(pilot, app)
        await pilot.press("d")
        await sees(pilot, "u undoes it")
        await pilot.press("u")
        await sees(pilot, "is restored.")
        assert "u undoes it" not in shown(app)
        await pilot.press("escape")
        await move_to_key(pilot, await open_state_browser(pilot, app), "said")
        await pilot.press("d")
        await sees(pilot, "Deleted said · u undoes it")
        await pilot.press("u")
        await sees(pilot, "Undone: 1 key")
        assert "u undoes it" not in shown(app)


async def test_untitled_session_has_the_same_name_everywhere(open_engine: Engines):
    async def engine_with_an_untitled_session():
        engine = await open_engine(parrot)
        await talked(engine, "ses_01", "Plan a trip")
        await engine.sessions.rename("ses_01", None)
        return engine

    app = RecordingConsole(LaunchOptions(session="ses_01"), engine_with_an_untitled_session)
    async with at_the_screen(app) as pilot:
        await sees(pilot, "You said: Plan a trip")
        await until(pilot, lambda: "Plan a trip" in shown(app).splitlines()[0])
        rail = app.main.rail
        await until(pilot, lambda: [card.title for card in rail._shown.sessions] == ["Plan a trip"])
        screen = await open_sessions(pilot, app)
        await sees(pilot, "› ", "Plan a trip", "you are here")
        await pilot.press("slash", *"said")
        await until(
            pilot, lambda: screen.found is not None and screen.found.query == "said" and bool(screen.found.hits)
        )
        await sees(pilot, "Plan a trip  agent: ")
        assert "untitled" not in shown(app)


@pytest.mark.parametrize("size", SMALL_SIZES)
@pytest.mark.parametrize("name", ["sessions", "states"])
async def test_footer_names_the_key_for_hidden_details(open_engine: Engines, size: Size, name: str):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=storing_parrot)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        await app.action_perform(f"app.{name}")
        await until(pilot, lambda: isinstance(app.screen, Browser) and app.screen.list.source.height > 0)
        await sees(pilot, "tab details", "esc back")
        await pilot.press("tab")
        await sees(pilot, "esc back to list")


@pytest.mark.parametrize("size", SMALL_SIZES)
async def test_details_of_an_empty_list_cannot_be_opened(open_engine: Engines, size: Size):
    app = RecordingConsole(LaunchOptions(), lambda: open_engine(parrot))
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        await pilot.press("ctrl+l")
        await sees(pilot, "No sessions yet.")
        await pilot.press("tab")
        await sees(pilot, "The list is empty.", "No sessions yet.")


@pytest.mark.parametrize("size", ALL_SIZES)
async def test_history_can_be_opened_from_the_details(open_engine: Engines, size: Size):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=storing_parrot)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "said")
        await pilot.press("tab", "h")
        await until(pilot, lambda: screen.history is not None and screen.list.source.height == 2)
        await until(pilot, lambda: screen.list.has_focus and visible_region(screen.list).area > 0)


@pytest.mark.parametrize("size", ALL_SIZES)
async def test_footer_names_the_keys_of_a_dialog(open_engine: Engines, size: Size):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=storing_parrot)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        await move_to_key(pilot, await open_state_browser(pilot, app), "said")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, EditValue))
        await until(pilot, lambda: "f4 save  esc close  ^q quit" in shown(app).splitlines()[size[1] - 1])


@pytest.mark.parametrize("name", ["sessions", "states", "artifacts"])
async def test_keys_do_not_fail_before_a_browser_has_loaded(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch, name: str
):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=storing_parrot)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        postponed: list[Callable[[], object]] = []
        monkeypatch.setattr(
            Browser, "call_after_refresh", lambda _, call, *args: postponed.append(partial(call, *args))
        )
        await app.action_perform(f"app.{name}")
        await until(pilot, lambda: isinstance(app.screen, Browser) and app.screen.list.has_focus and bool(postponed))
        screen = app.screen
        # In the list of sessions `n` creates one, which needs no list.
        await pilot.press("w", "u", "d", "h", *(() if name == "sessions" else ("n",)), "y", "down", "r", "f")
        if isinstance(screen, SessionsScreen):
            screen.finish_delete("kyoto", is_deleted=True)
        assert app.screen is screen
        monkeypatch.undo()
        for call in postponed:
            call()
        await until(pilot, lambda: screen.reading == 0)
        assert not any("attribute" in words for words in app.toasts)


@pytest.mark.parametrize("size", ALL_SIZES)
async def test_footer_names_the_keys_of_an_input_line(open_engine: Engines, size: Size):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=storing_parrot)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        await open_sessions(pilot, app)
        await pilot.press("slash")
        await until(
            pilot, lambda: footer_text(app).startswith("enter back to list") and "esc back to list" in footer_text(app)
        )
        await pilot.press(*"said")
        await until(
            pilot, lambda: footer_text(app).startswith("enter to the results") and "esc clear" in footer_text(app)
        )
        await pilot.press("enter")
        await until(pilot, lambda: footer_text(app).startswith("enter open") and "esc clear" in footer_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: "esc back" in footer_text(app))
        await pilot.press("r")
        await until(pilot, lambda: footer_text(app).startswith("enter accept") and "esc cancel" in footer_text(app))
        await pilot.press("escape", "escape")

        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "said")
        await pilot.press("n")
        await until(pilot, lambda: footer_text(app).startswith("enter accept") and "esc cancel" in footer_text(app))
        await pilot.press("escape", "h")
        await until(pilot, lambda: "esc to the keys" in footer_text(app))


@pytest.mark.parametrize("size", ALL_SIZES)
async def test_footer_names_the_keys_of_pickers_and_help(open_engine: Engines, size: Size):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=storing_parrot)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        for command, keys in {
            "app.palette": "enter run  esc close",
            "prompt.history": "enter select  esc close",
            "app.theme": "enter select  esc close",
            "app.help": "t tour  esc close",
        }.items():
            await app.action_perform(command)
            await until(pilot, lambda keys=keys: footer_text(app).startswith(f"{keys}  ^q quit"))
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)


def footer_text(app: RecordingConsole) -> str:
    """Return the text of the footer."""
    bar = (app.services.full_screen or app.main).footer
    return str(bar.render().plain)
