"""Filling in a runner's form, the way a person does."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from console.launch import LaunchOptions
from console.ui.settings_form.yaml_editor import YamlEditor
from tests.support.console.form_app import at_the_form, kept, to_field, to_the_form
from tests.support.console.pilot import at_both_sizes, at_the_screen, becomes, say, sees, shown, until
from tests.support.console.recorded_toasts import Telling
from tests.support.engines import Engines, declares, done, said

MODELS = [{"id": name, "kind": "scripted", "replies": [{"text": "x"}]} for name in ("small", "large")]
TOOLS = [{"name": "weather", "kind": "scripted", "answers": [{"result": 1}]}]
FIELDS: list[dict[str, Any]] = [
    {"name": "greeting", "type": "string", "label": "Greeting", "default": "hello", "description": "How it begins"},
    {"name": "count", "type": "integer", "label": "Count", "default": 3},
    {"name": "warm", "type": "float", "label": "Warmth", "default": 0.5},
    {"name": "loud", "type": "boolean", "label": "Loud", "default": False},
    {"name": "tone", "type": "select", "label": "Tone", "default": "warm", "options": ["warm", "cold"]},
    {"name": "notes", "type": "text", "label": "Notes"},
    {"name": "prompt", "type": "prompt-editor", "label": "Prompt"},
    {"name": "model", "type": "llm-model-selector", "label": "Model"},
    {"name": "models", "type": "model-fallback-selector", "label": "Models"},
    {"name": "bases", "type": "knowledge-base-multi-selector", "label": "Bases"},
    {"name": "words", "type": "array[string]", "label": "Words"},
    {"name": "api_key", "type": "string", "label": "Key", "default": ""},
]


@declares(capabilities={"tool_calling": True}, permissions={"models": ["invoke"], "tools": ["call"]}, config=FIELDS)
async def asks(ctx: Any) -> AsyncIterator[Any]:
    yield said(f"{ctx.config['greeting']} x{ctx.config['count']} loud={ctx.config['loud']}")
    yield done()


@declares(config=[{"name": "model", "type": "llm-model-selector", "label": "Model", "required": True}])
async def needs(ctx: Any) -> AsyncIterator[Any]:
    yield said(f"with {ctx.config['model']}")
    yield done()


@declares(config=[{"name": "notes", "type": "text", "default": "a\r\nb\rc"}])
async def writes(ctx: Any) -> AsyncIterator[Any]:
    yield done()


def opened(open_engine: Engines, runner: Any = asks) -> Telling:
    return Telling(LaunchOptions(), lambda: open_engine(runner, models=MODELS, tools=TOOLS))


@at_both_sizes
async def test_a_value_is_changed_kept_and_used_by_the_next_run(open_engine: Engines, size: tuple[int, int]):
    app = opened(open_engine)
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


async def test_what_does_not_fit_is_said_at_the_field_and_not_kept(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "count")
        await pilot.press("enter", "x", "enter")
        await sees(pilot, "3x", "count must be an integer, not text")
        await pilot.press("down")
        assert form.slot is not None
        assert form.slot.key == "config.count", "keys belong to what is typed"
        assert form.editor is not None
        await pilot.press("escape")
        await until(pilot, lambda: form.editor is None)
        assert await kept(app) == {}
        assert app.screen is form


async def test_reset_and_undo(open_engine: Engines):
    app = opened(open_engine)
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


async def test_what_was_done_can_be_undone_after_the_form_was_closed(open_engine: Engines):
    app = opened(open_engine)
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
        await until(pilot, lambda: "nothing was changed here yet" in app.told)


async def test_choosing_from_a_list_and_several_of_one(open_engine: Engines):
    app = opened(open_engine)
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


async def test_an_id_that_nobody_knows_can_be_typed_and_the_preview_says_that_it_is_left_out(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "model")
        await pilot.press("enter", *"unheard", "enter")
        await becomes(pilot, lambda: kept(app), {"config": {"model": "unheard"}})
        await sees(pilot, "model 'unheard', named by the runner's config", "left out")


@pytest.mark.parametrize(("name", "typed", "value"), [("notes", "a\nb", "a\nb"), ("words", "a\n\n b ", ["a", "b"])])
async def test_a_page_is_kept_by_esc(open_engine: Engines, name: str, typed: str, value: Any):
    app = opened(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, name)
        await pilot.press("enter", *("enter" if letter == "\n" else letter for letter in typed), "escape")
        await becomes(pilot, lambda: kept(app), {"config": {name: value}})
        assert app.screen is form


async def test_a_secret_is_seen_nowhere(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "api_key")
        await pilot.press("enter", *"hush")
        assert "hush" not in shown(app)
        await pilot.press("enter")
        await becomes(pilot, lambda: kept(app), {"config": {"api_key": "hush"}})
        assert "hush" not in shown(app)
        await pilot.press("y")
        await sees(pilot, "api_key: (secret, as it was)")
        assert "hush" not in shown(app)


async def test_yaml_is_checked_by_line_and_kept_where_it_fits(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "api_key")
        await pilot.press("enter", *"hush", "enter", "y")
        await until(pilot, lambda: isinstance(app.screen, YamlEditor))
        text = app.screen
        assert isinstance(text, YamlEditor)
        whole = text.page.text
        text.page.load_text(whole.replace("count: 3", "count: many"))
        await sees(pilot, "line 3: config.count must be an integer, not text")
        await pilot.press("escape")
        await sees(pilot, "It does not fit yet")
        await pilot.press("n")
        text.page.load_text(whole.replace("count: 3", "count: 7"))
        await sees(pilot, "it fits")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is form)
        await becomes(pilot, lambda: kept(app), {"config": {"api_key": "hush", "count": 7}})


async def test_who_quits_is_asked_about_what_is_typed_and_not_kept(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "count")
        await pilot.press("enter", "7", "ctrl+q")
        await sees(pilot, "is not kept.", "Quit?")
        await pilot.press("n", "escape", "y")
        await until(pilot, lambda: isinstance(app.screen, YamlEditor))
        await pilot.press("x", "ctrl+q")
        await sees(pilot, "What you changed in the YAML is not kept.", "Quit?")
        await pilot.press("n")
        assert not app.controllers.quit.is_quitting


async def test_a_runner_that_lacks_a_setting_opens_says_so_and_can_be_filled_in(open_engine: Engines):
    app = opened(open_engine, needs)
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: any("model is required" in words for words in app.told))
        await to_the_form(pilot, app)
        await sees(pilot, "is required", "1 field to mend", "No run could begin")
        await pilot.press("enter", *"small", "enter")
        await until(pilot, lambda: app.active_session.not_ready_reason is None)
        await pilot.press("escape")
        await say(pilot, "go")
        await sees(pilot, "with small")


async def test_in_a_list_the_option_that_enter_takes_is_marked_and_not_by_colour_alone(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "tone")
        await pilot.press("enter")
        await sees(pilot, "›◉ warm", "   cold", "enter apply", "esc close")
        await pilot.press("down")
        await sees(pilot, " ◉ warm", "›  cold")


@pytest.mark.parametrize(
    ("name", "typed", "keys"),
    [
        ("greeting", "x", ("enter apply", "esc leave it")),
        ("notes", "x", ("esc keep it",)),
    ],
)
async def test_the_keys_of_an_editor_are_in_the_footer(
    open_engine: Engines, name: str, typed: str, keys: tuple[str, ...]
):
    app = opened(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, name)
        await pilot.press("enter", *typed)
        await sees(pilot, *keys)
        assert ("enter apply" in shown(app)) == ("enter apply" in keys)


async def test_a_form_that_is_closed_leaves_nothing_that_was_drawn_behind(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_form(app) as (pilot, form):
        drawn = form.list._styles_cache
        await until(pilot, lambda: "Greeting" in shown(app) and bool(drawn._cache))  # reading the screen draws it
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await until(pilot, lambda: not drawn._cache)


async def test_lines_that_end_in_another_way_stay_so_where_nobody_changes_them(open_engine: Engines):
    app = opened(open_engine, writes)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "notes")
        await pilot.press("enter")
        await sees(pilot, "esc keeps it")
        await pilot.press("escape")
        await until(pilot, lambda: form.editor is None)
        assert form.filling.count == 0


async def test_a_field_is_found_by_typing_and_one_that_is_not_there_is_told(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_form(app) as (pilot, form):
        await pilot.press("slash", *"warm")
        await until(pilot, lambda: form.slot is not None and form.slot.name == "warm")
        await until(pilot, lambda: "y YAML" not in shown(app) and "esc to the fields" in shown(app))
        await pilot.press(*"zzz")
        await sees(pilot, "no field is called so")
        await pilot.press("escape")
        await sees(pilot, "nothing of your own", "y YAML")
