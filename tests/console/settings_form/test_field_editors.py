"""Editors of every type of field and of every policy, also in a very small terminal."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from console.launch import LaunchOptions
from console.model.settings_form.values import display_text
from console.ui.settings_form.screen import FormScreen
from tests.support.console.form_app import at_the_form, kept, to_field, to_the_form
from tests.support.console.pilot import at_both_sizes, at_the_screen, becomes, say, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.engines import Engines, declares, done, said

BOTH_SMALL = pytest.mark.parametrize("size", [(80, 24), (60, 15)])
TINY = (60, 15)
HOSTILE = "[red]x[/] \x1b[31m"
PROMPT = [{"role": "system", "content": "Be brief.\n\nBe kind."}, {"role": "user", "content": "Hello"}]
FIELDS: list[dict[str, Any]] = [
    {"name": "line", "type": "string", "default": HOSTILE, "label": HOSTILE, "description": HOSTILE},
    {"name": "page", "type": "text", "default": "one\ntwo"},
    {"name": "whole", "type": "integer", "default": 3},
    {"name": "number", "type": "float", "default": 0.5},
    {"name": "switch", "type": "boolean"},
    {"name": "tone", "type": "select", "default": "warm", "options": ["warm", {"name": "cold", "label": "Icy"}]},
    {"name": "free", "type": "select"},
    {"name": "prompt", "type": "prompt-editor", "default": PROMPT},
    {"name": "model", "type": "llm-model-selector"},
    {"name": "models", "type": "model-fallback-selector"},
    {"name": "sorter", "type": "rerank-model-selector"},
    {"name": "bases", "type": "knowledge-base-multi-selector"},
    {"name": "file", "type": "file"},
    {"name": "files", "type": "array[file]"},
    {"name": "words", "type": "array[string]", "default": ["a"]},
    {"name": "api_keys", "type": "array[string]", "default": ["hush", "quiet"]},
    {"name": "signing_key", "type": "text", "default": "-----BEGIN\nhushhush"},
]
PROJECT: dict[str, Any] = {
    "models": [
        *({"id": name, "kind": "scripted", "replies": [{"text": "x"}]} for name in ("small", "large")),
        {"id": "sorts", "kind": "scripted", "type": "rerank"},
    ],
    "tools": [{"name": "weather", "kind": "scripted", "answers": [{"result": 1}]}],
    "knowledge_bases": [{"id": "kb", "name": "Handbook", "kind": "scripted"}],
    "file_roots": ["files"],
}


@declares(config=FIELDS)
async def asks(ctx: Any) -> AsyncIterator[Any]:
    yield said(f"{ctx.config['whole']} of {ctx.config['tone']}")
    yield done()


@declares(config=[{"name": "count", "type": "integer", "label": "Count", "required": True}])
async def counts(ctx: Any) -> AsyncIterator[Any]:
    yield said(f"I count to {ctx.config['count']}")
    yield done()


async def other(ctx: Any) -> AsyncIterator[Any]:
    yield said("nothing to fill in")
    yield done()


def make_console(open_engine: Engines, *runners: Any, runner: str | None = None) -> RecordingConsole:
    (open_engine.folder / "files").mkdir(exist_ok=True)
    for name in ("a.txt", "b.txt"):
        (open_engine.folder / "files" / name).touch()
    return RecordingConsole(LaunchOptions(runner=runner), lambda: open_engine(*runners, **PROJECT))


async def test_every_type_of_field_is_edited_by_keys(open_engine: Engines):
    edits: list[tuple[str, list[str], Any]] = [
        ("line", ["enter", *"y", "enter"], f"{HOSTILE}y"),
        ("page", ["enter", "enter", *"three", "escape"], "one\ntwo\nthree"),
        ("whole", ["enter", *"7", "enter"], 37),
        ("number", ["enter", *"5", "enter"], 0.55),
        ("switch", ["space"], True),
        ("switch", ["space"], False),
        ("tone", ["enter", *"icy", "enter"], "cold"),
        ("free", ["enter", *"any", "enter"], "any"),
        ("prompt", ["enter", "!", "escape"], [PROMPT[0], {"role": "user", "content": "Hello!"}]),
        ("model", ["enter", *"lar", "enter"], "large"),
        ("models", ["enter", *"lar", "enter", *"small", "enter", "escape"],
         {"primary": "large", "fallbacks": ["small"]}),
        ("sorter", ["enter", "down", "enter"], "sorts"),
        ("bases", ["enter", *"hand", "enter", "escape"], ["kb"]),
        ("file", ["enter", *"b.txt", "enter"], "b.txt"),
        ("files", ["enter", "enter", "down", "enter", "escape"], ["a.txt", "b.txt"]),
        ("words", ["enter", "enter", *"b", "escape"], ["a", "b"]),
        ("timeout", ["enter", *"2.5", "enter"], 2.5),
    ]  # fmt: skip
    app = make_console(open_engine, asks)
    wanted: dict[str, Any] = {}
    async with at_the_form(app) as (pilot, form):
        for name, keys, value in edits:
            await to_field(pilot, form, name)
            await pilot.press(*keys)
            wanted[name] = value
            await becomes(pilot, lambda: kept(app), {"config": wanted})
            assert "\x1b" not in shown(app)


async def test_every_policy_is_set_and_undone_by_keys(open_engine: Engines):
    edits: list[tuple[str, str, list[str], Any]] = [
        ("resources", "allowed_model_uuids", ["enter", *"small", "enter", "escape"], ["small"]),
        ("resources", "allowed_tool_names", ["enter", "enter", "escape"], ["weather"]),
        ("resources", "allowed_kb_uuids", ["enter", "enter", "escape"], ["kb"]),
        ("resources", "allowed_skill_names", ["enter", *"plan", "enter", "escape"], ["plan"]),
        ("resources", "allow_plugin_storage", ["space"], False),
        ("resources", "allow_workspace_storage", ["space"], True),
        ("state", "enable_state", ["space"], False),
        ("state", "state_scopes", ["enter", *"runner", "enter", "escape"], ["conversation", "actor", "runner"]),
        ("delivery", "enable_streaming", ["space"], False),
        ("delivery", "enable_reply", ["space"], False),
        ("delivery", "max_message_size", ["enter", *"500", "enter"], 500),
    ]
    app = make_console(open_engine, asks)
    async with at_the_form(app) as (pilot, form):
        for section, name, keys, value in edits:
            await to_field(pilot, form, name)
            await pilot.press(*keys)
            await becomes(pilot, lambda: kept(app), {section: {name: value}})
            await pilot.press("u")
            await becomes(pilot, lambda: kept(app), {})


async def test_empty_list_of_skills_differs_from_no_list(
    open_engine: Engines,
):
    app = make_console(open_engine, asks)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "allowed_skill_names")
        await pilot.press("enter", *"plan", "enter")
        await becomes(pilot, lambda: kept(app), {"resources": {"allowed_skill_names": ["plan"]}})
        await pilot.press("enter")
        await becomes(pilot, lambda: kept(app), {"resources": {"allowed_skill_names": []}})
        await pilot.press("escape")
        assert form.field is not None
        assert display_text(form.field, form.draft.value(form.field)) == "none"
        await pilot.press("r")
        await becomes(pilot, lambda: kept(app), {})
        await sees(pilot, "all visible ones")


async def test_invalid_policy_is_shown_at_the_field(open_engine: Engines):
    app = make_console(open_engine, asks)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "max_message_size")
        await pilot.press("enter", *"-5", "enter")
        await sees(pilot, "max_message_size must be greater than 0")
        assert await kept(app) == {}


async def test_secrets_of_every_type_are_hidden_and_survive_the_yaml(open_engine: Engines):
    app = make_console(open_engine, asks)
    async with at_the_form(app) as (pilot, form):
        for name in ("api_keys", "signing_key"):
            await to_field(pilot, form, name)
            await pilot.press("enter")
            await sees(pilot, "••••")
            assert "hush" not in shown(app)
            await pilot.press("escape")
        await to_field(pilot, form, "whole")
        await pilot.press("y")
        await sees(pilot, "(unchanged secret)", "(unchanged secret 2)")
        assert "hush" not in shown(app)
        editor: Any = app.screen
        editor.area.load_text(editor.area.text.replace("whole: 3", "whole: 4"))
        await sees(pilot, "Valid · esc saves", "esc save")
        await pilot.press("escape")
        await becomes(pilot, lambda: kept(app), {"config": {"whole": 4}})


@pytest.mark.parametrize("name", ["line", "page", "tone", "whole"])
async def test_editor_fits_the_smallest_terminal(open_engine: Engines, name: str):
    app = make_console(open_engine, asks)
    async with at_the_form(app, TINY) as (pilot, form):
        await to_field(pilot, form, name)
        await pilot.press("enter")
        await until(pilot, lambda: form.editor is not None and form.editor.region.height > 0)
        assert form.editor is not None
        await until(pilot, lambda: _is_within(form))


async def test_problem_is_completely_visible_in_the_smallest_terminal(open_engine: Engines):
    app = make_console(open_engine, asks)
    async with at_the_form(app, TINY) as (pilot, form):
        await to_field(pilot, form, "timeout")
        await pilot.press("enter", *"none of it")
        await until(pilot, lambda: "no deadline" in shown(app) and _is_within(form))


def _is_within(form: FormScreen) -> bool:
    """Whether the whole editor lies within the list."""
    return form.editor is not None and form.query_one("#fields").region.contains_region(form.editor.region)


@at_both_sizes
async def test_choose_configure_fix_an_error_and_run(open_engine: Engines, size: tuple[int, int]):
    app = make_console(open_engine, counts, other, runner="other")
    async with at_the_screen(app, size) as pilot:
        await sees(pilot, "other")
        await pilot.press("f3")
        await sees(pilot, "counts", "in use")
        await pilot.press(*"counts", "enter")
        await until(pilot, lambda: any("count is required" in words for words in app.toasts))
        await until(pilot, lambda: app.screen is app.main)
        await sees(pilot, "invalid settings · f12")

        await pilot.press("f12")
        await sees(pilot, "1 problem found", "is required")
        await pilot.press("enter", *"many", "enter")
        await sees(pilot, "✗ count must be an integer, not text")
        assert await kept(app) == {}

        await pilot.press(*["backspace"] * 4, *"12", "enter")
        await until(pilot, lambda: "problem found" not in shown(app) and "changed" in shown(app))
        await becomes(pilot, lambda: kept(app), {"config": {"count": 12}})
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await say(pilot, "go")
        await sees(pilot, "I count to 12")
        assert "invalid settings" not in shown(app)


async def test_settings_are_saved_per_agent(open_engine: Engines):
    agents = [{"id": name, "runner": "counts", "config": {"count": 1}} for name in ("one", "two")]
    app = RecordingConsole(LaunchOptions(runner="one"), lambda: open_engine(counts, agents=agents))
    async with at_the_screen(app) as pilot:
        await to_the_form(pilot, app)
        await sees(pilot, "Settings of one")
        await pilot.press("enter", "0", "enter")
        await becomes(pilot, lambda: kept(app), {"config": {"count": 10}})
        await pilot.press("escape", "f3")
        await sees(pilot, "one", "two", "in use")
        await pilot.press(*"two", "f12")
        await sees(pilot, "Settings of two", "No changes")


async def test_invalid_numbers_are_refused_with_the_reason(open_engine: Engines):
    app = RecordingConsole(LaunchOptions(), lambda: open_engine(asks))
    async with at_the_form(app) as (pilot, form):
        for name, typed, problem in (
            ("number", "nan", "number must be finite"),
            ("number", "1e999", "number must be finite"),
            ("timeout", "inf", "timeout must be finite"),
            ("whole", "1.5", "whole must be an integer, not a decimal number"),
            ("whole", "many", "whole must be an integer, not text"),
        ):
            await to_field(pilot, form, name)
            await pilot.press("enter", *["backspace"] * 3, *typed, "enter")
            await sees(pilot, f"✗ {problem}")
            await pilot.press("escape")
            await until(pilot, lambda: form.editor is None)
        assert await kept(app) == {}


@BOTH_SMALL
@pytest.mark.parametrize(
    ("name", "said", "also"),
    [
        ("allowed_skill_names", "No options known; type an id", "enter adds the typed value."),
        ("file", "set `file_roots` in trackside.yaml to choose", "none"),
    ],
)
async def test_list_without_options_says_why(
    open_engine: Engines, size: tuple[int, int], name: str, said: str, also: str
):
    app = RecordingConsole(LaunchOptions(), lambda: open_engine(asks))
    async with at_the_form(app, size) as (pilot, form):
        await to_field(pilot, form, name)
        await pilot.press("enter")
        await sees(pilot, said, also)


@BOTH_SMALL
async def test_grants_cannot_be_edited(open_engine: Engines, size: tuple[int, int]):
    app = RecordingConsole(LaunchOptions(), lambda: open_engine(asks))
    async with at_the_form(app, size) as (pilot, form):
        await sees(pilot, "enter edit")
        await pilot.press("g")
        await until(pilot, lambda: form.grants.has_focus and "enter edit" not in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: any("Grants follow from the fields" in words for words in app.toasts))
        assert form.editor is None
        await pilot.press("escape")
        await sees(pilot, "enter edit")
