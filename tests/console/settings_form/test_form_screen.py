"""The settings form: edit, reset, undo, search, YAML."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from console.ui.settings_form.yaml_editor import YamlEditor
from tests.support.console.form_app import at_the_form, kept, to_field, to_the_form
from tests.support.console.form_runners import console_with_form, needs
from tests.support.console.pilot import at_both_sizes, at_the_screen, becomes, say, sees, shown, until
from tests.support.engines import Engines, declares, done


@declares(config=[{"name": "notes", "type": "text", "default": "a\r\nb\rc"}])
async def writes(ctx: Any) -> AsyncIterator[Any]:
    yield done()


@at_both_sizes
async def test_changed_value_is_saved_and_used_by_the_next_run(open_engine: Engines, size: tuple[int, int]):
    app = console_with_form(open_engine)
    async with at_the_form(app, size) as (pilot, form):
        await sees(pilot, "Greeting", "hello", "How it begins")
        await pilot.press("enter", *"o there")
        await sees(pilot, "helloo there")
        await pilot.press("enter")
        await becomes(pilot, lambda: kept(app), {"config": {"greeting": "helloo there"}})
        await to_field(pilot, form, "loud")
        await pilot.press("space")
        await becomes(pilot, lambda: kept(app), {"config": {"greeting": "helloo there", "loud": True}})
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await say(pilot, "go")
        await sees(pilot, "helloo there x3 loud=True")


async def test_invalid_value_is_shown_at_the_field_and_not_saved(open_engine: Engines):
    app = console_with_form(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "count")
        await pilot.press("enter", "x", "enter")
        await sees(pilot, "3x", "count must be an integer, not text")
        await pilot.press("down")
        assert form.field is not None
        assert form.field.key == "config.count", "keys go to the editor"
        assert form.editor is not None
        await pilot.press("escape")
        await until(pilot, lambda: form.editor is None)
        assert await kept(app) == {}
        assert app.screen is form


async def test_reset_and_undo(open_engine: Engines):
    app = console_with_form(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "loud")
        await pilot.press("space")
        await becomes(pilot, lambda: kept(app), {"config": {"loud": True}})
        await to_field(pilot, form, "enable_state")
        await pilot.press("space")
        await becomes(pilot, lambda: kept(app), {"config": {"loud": True}, "state": {"enable_state": False}})
        await pilot.press("R")
        await becomes(pilot, lambda: kept(app), {})
        await pilot.press("u")
        await becomes(pilot, lambda: kept(app), {"config": {"loud": True}, "state": {"enable_state": False}})
        await pilot.press("r")
        await becomes(pilot, lambda: kept(app), {"config": {"loud": True}})


async def test_undo_works_after_the_form_was_closed(open_engine: Engines):
    app = console_with_form(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "loud")
        await pilot.press("space")
        await becomes(pilot, lambda: kept(app), {"config": {"loud": True}})
        await pilot.press("R")
        await becomes(pilot, lambda: kept(app), {})
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await to_the_form(pilot, app)
        await sees(pilot, "u undo")
        await pilot.press("u")
        await becomes(pilot, lambda: kept(app), {"config": {"loud": True}})
        await pilot.press("u")
        await becomes(pilot, lambda: kept(app), {})
        await pilot.press("u")
        await until(pilot, lambda: "There is no change to undo." in app.toasts)


async def test_one_or_several_options_are_selected(open_engine: Engines):
    app = console_with_form(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "tone")
        await pilot.press("enter", *"cold", "enter")
        await becomes(pilot, lambda: kept(app), {"config": {"tone": "cold"}})
        await to_field(pilot, form, "models")
        await pilot.press("enter", *"large", "enter", *"small", "enter", "escape")
        wanted = {"tone": "cold", "models": {"primary": "large", "fallbacks": ["small"]}}
        await becomes(pilot, lambda: kept(app), {"config": wanted})
        await sees(pilot, "large, else small")
        await to_field(pilot, form, "allowed_tool_names")
        await pilot.press("enter", "enter", "escape")
        await becomes(pilot, lambda: kept(app), {"config": wanted, "resources": {"allowed_tool_names": ["weather"]}})
        await sees(pilot, "tool:weather", "permissions.tools and resource_policy.allowed_tool_names")


async def test_unknown_id_can_be_typed_and_the_preview_warns(open_engine: Engines):
    app = console_with_form(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "model")
        await pilot.press("enter", *"unheard", "enter")
        await becomes(pilot, lambda: kept(app), {"config": {"model": "unheard"}})
        await sees(pilot, "model 'unheard', named by the runner's config", "left out")


@pytest.mark.parametrize(("name", "typed", "value"), [("notes", "a\nb", "a\nb"), ("words", "a\n\n b ", ["a", "b"])])
async def test_esc_saves_a_text_of_several_lines(open_engine: Engines, name: str, typed: str, value: Any):
    app = console_with_form(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, name)
        await pilot.press("enter", *("enter" if letter == "\n" else letter for letter in typed), "escape")
        await becomes(pilot, lambda: kept(app), {"config": {name: value}})
        assert app.screen is form


async def test_secret_is_never_visible(open_engine: Engines):
    app = console_with_form(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "api_key")
        await pilot.press("enter", *"hush")
        assert "hush" not in shown(app)
        await pilot.press("enter")
        await becomes(pilot, lambda: kept(app), {"config": {"api_key": "hush"}})
        assert "hush" not in shown(app)
        await pilot.press("y")
        await sees(pilot, "api_key: (unchanged secret)")
        assert "hush" not in shown(app)


async def test_yaml_is_checked_by_line_and_saved_if_valid(open_engine: Engines):
    app = console_with_form(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "api_key")
        await pilot.press("enter", *"hush", "enter", "y")
        await until(pilot, lambda: isinstance(app.screen, YamlEditor))
        text = app.screen
        assert isinstance(text, YamlEditor)
        whole = text.area.text
        text.area.load_text(whole.replace("count: 3", "count: many"))
        await sees(pilot, "line 3: config.count must be an integer, not text")
        await pilot.press("escape")
        await sees(pilot, "The YAML has errors")
        await pilot.press("n")
        text.area.load_text(whole.replace("count: 3", "count: 7"))
        await sees(pilot, "The settings are valid.")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is form)
        await becomes(pilot, lambda: kept(app), {"config": {"api_key": "hush", "count": 7}})


async def test_quitting_asks_about_unsaved_text(open_engine: Engines):
    app = console_with_form(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "count")
        await pilot.press("enter", "7", "ctrl+q")
        await sees(pilot, "is not saved.", "Quit?")
        await pilot.press("n", "escape", "y")
        await until(pilot, lambda: isinstance(app.screen, YamlEditor))
        await pilot.press("x", "ctrl+q")
        await sees(pilot, "Your changes in the YAML are not saved.", "Quit?")
        await pilot.press("n")
        assert not app.controllers.quit.is_quitting


async def test_missing_setting_is_reported_and_can_be_filled_in(open_engine: Engines):
    app = console_with_form(open_engine, needs)
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: any("model is required" in words for words in app.toasts))
        await to_the_form(pilot, app)
        await sees(pilot, "is required", "1 problem found", "No run can start")
        await pilot.press("enter", *"small", "enter")
        await until(pilot, lambda: app.active_session.not_ready_reason is None)
        await pilot.press("escape")
        await say(pilot, "go")
        await sees(pilot, "with small")


async def test_current_option_has_a_mark(open_engine: Engines):
    app = console_with_form(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "tone")
        await pilot.press("enter")
        await sees(pilot, "›◉ warm", "   cold", "enter apply", "esc close")
        await pilot.press("down")
        await sees(pilot, " ◉ warm", "›  cold")


@pytest.mark.parametrize(
    ("name", "typed", "keys"),
    [
        ("greeting", "x", ("enter apply", "esc discard")),
        ("notes", "x", ("esc save",)),
    ],
)
async def test_footer_shows_the_keys_of_an_editor(open_engine: Engines, name: str, typed: str, keys: tuple[str, ...]):
    app = console_with_form(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, name)
        await pilot.press("enter", *typed)
        await sees(pilot, *keys)
        assert ("enter apply" in shown(app)) == ("enter apply" in keys)


async def test_closed_form_frees_its_line_cache(open_engine: Engines):
    app = console_with_form(open_engine)
    async with at_the_form(app) as (pilot, form):
        drawn = form.list._styles_cache
        await until(pilot, lambda: "Greeting" in shown(app) and bool(drawn._cache))  # reading the screen draws it
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await until(pilot, lambda: not drawn._cache)


async def test_unedited_text_keeps_its_line_ends(open_engine: Engines):
    app = console_with_form(open_engine, writes)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "notes")
        await pilot.press("enter")
        await sees(pilot, "esc saves")
        await pilot.press("escape")
        await until(pilot, lambda: form.editor is None)
        assert form.draft.change_count == 0


async def test_field_is_found_by_its_name(open_engine: Engines):
    app = console_with_form(open_engine)
    async with at_the_form(app) as (pilot, form):
        await pilot.press("slash", *"warm")
        await until(pilot, lambda: form.field is not None and form.field.name == "warm")
        await until(pilot, lambda: "y YAML" not in shown(app) and "esc to the fields" in shown(app))
        await pilot.press(*"zzz")
        await sees(pilot, "No field matches")
        await pilot.press("escape")
        await sees(pilot, "No changes", "y YAML")
