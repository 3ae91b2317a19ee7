"""Text that is typed on one screen is not lost when another screen is opened over it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from textual.pilot import Pilot

from console.app import Trackside
from console.launch import LaunchOptions
from console.ui.runners.screen import RunnersScreen
from console.ui.sessions.screen import SessionsScreen
from console.ui.settings_form.yaml_editor import YamlEditor
from tests.support.console.composer_app import open_composer
from tests.support.console.form_app import at_the_form, kept, to_field, to_the_form
from tests.support.console.pilot import at_the_screen, becomes, say, sees, until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.engines import Engines, declares, done, said


@declares(
    config=[
        {"name": "greeting", "type": "string", "default": "hello"},
        {"name": "count", "type": "integer", "default": 3},
        {"name": "notes", "type": "text", "default": ""},
    ]
)
async def asks(ctx: Any) -> AsyncIterator[Any]:
    yield said("That was it.")
    yield done()


async def other(ctx: Any) -> AsyncIterator[Any]:
    yield done()


def make_console(open_engine: Engines) -> RecordingConsole:
    return RecordingConsole(LaunchOptions(runner="asks"), lambda: open_engine(asks, other))


async def to_another_session(pilot: Pilot[Any], app: Trackside) -> None:
    """Resume a session from the session browser, over whatever is open."""
    await pilot.press("ctrl+l")
    await until(pilot, lambda: isinstance(app.screen, SessionsScreen) and app.screen.list.source.height > 0)
    await pilot.press("enter")


async def to_another_runner(pilot: Pilot[Any], app: Trackside) -> None:
    await pilot.press("f3")
    await until(pilot, lambda: isinstance(app.screen, RunnersScreen) and app.screen.choice is not None)
    await pilot.press(*"other")
    await until(
        pilot,
        lambda: (
            isinstance(app.screen, RunnersScreen)
            and app.screen.choice is not None
            and app.screen.choice.name == "other"
        ),
    )
    await pilot.press("enter")


async def saved_setting(app: Trackside, field: str) -> Any:
    """Return the saved value of a field."""
    settings = await app.active_session.engine.settings.get("asks")
    return None if settings is None else settings.config.get(field)


async def complete_a_run(pilot: Pilot[Any], app: Trackside) -> None:
    await say(pilot, "first")
    await sees(pilot, "That was it.")
    await until(pilot, lambda: not app.services.situation.is_running)


async def test_event_draft_is_kept_when_another_session_is_opened(open_engine: Engines):
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        await complete_a_run(pilot, app)
        await open_composer(pilot, app)
        await pilot.press(*"half a thought")
        await to_another_session(pilot, app)
        await until(pilot, lambda: app.screen is app.main)
        await open_composer(pilot, app)
        await sees(pilot, "half a thought")


@pytest.mark.parametrize("leave", [to_another_session, to_another_runner])
@pytest.mark.parametrize(("field", "typed"), [("greeting", "hellothere"), ("notes", "there")])
async def test_valid_text_in_a_field_is_saved_when_the_form_is_left(
    open_engine: Engines, leave: Any, field: str, typed: str
):
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        await complete_a_run(pilot, app)
        form = await to_the_form(pilot, app)
        await to_field(pilot, form, field)
        await pilot.press("enter", *"there")
        await until(pilot, lambda: form.editor is not None and form.editor.current_value() == typed)
        await leave(pilot, app)
        await until(pilot, lambda: app.screen is app.main)
        await becomes(pilot, lambda: saved_setting(app, field), typed)


@pytest.mark.parametrize("leave", [to_another_session, to_another_runner])
async def test_invalid_text_in_a_field_keeps_the_form_open_with_the_reason(open_engine: Engines, leave: Any):
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        await complete_a_run(pilot, app)
        session = app.active_session.session_id
        form = await to_the_form(pilot, app)
        await to_field(pilot, form, "count")
        await pilot.press("enter", *"x")
        await until(pilot, lambda: form.editor is not None and form.editor.current_value() == "3x")
        await leave(pilot, app)
        await until(pilot, lambda: app.screen is form)
        await sees(pilot, "3x", "esc discards it")
        assert (app.active_session.session_id, app.active_session.runner_id) == (session, "plugin:local/asks/default")
        await pilot.press("escape")
        await until(pilot, lambda: form.editor is None)


async def test_valid_yaml_is_saved_and_invalid_yaml_keeps_the_editor_open(open_engine: Engines):
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        await complete_a_run(pilot, app)
        await to_the_form(pilot, app)
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, YamlEditor))
        editor = app.screen
        assert isinstance(editor, YamlEditor)
        valid = editor.area.text.replace("hello", "good day")
        editor.area.text = valid.replace("config:", "config: [")
        await to_another_session(pilot, app)
        await until(
            pilot, lambda: app.screen is editor and any("The YAML has errors." in words for words in app.toasts)
        )
        editor.area.text = valid
        await to_another_session(pilot, app)
        await until(pilot, lambda: app.screen is app.main)
        await becomes(pilot, lambda: saved_setting(app, "greeting"), "good day")


@pytest.mark.parametrize(("field", "typed"), [("greeting", "hellothere"), ("notes", "there")])
async def test_click_on_another_field_saves_valid_text(open_engine: Engines, field: str, typed: str):
    app = make_console(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, field)
        await pilot.press("enter", *"there")
        await until(pilot, lambda: form.editor is not None and form.editor.current_value() == typed)
        await pilot.click(form.list, offset=(3, 2))  # on count
        await until(pilot, lambda: form.editor is None)
        await becomes(pilot, lambda: saved_setting(app, field), typed)
        await pilot.press("u")
        await becomes(pilot, lambda: kept(app), {})


async def test_click_on_another_field_keeps_invalid_text_open(open_engine: Engines):
    app = make_console(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "count")
        await pilot.press("enter", *"x")
        await until(pilot, lambda: form.editor is not None and form.editor.current_value() == "3x")
        await pilot.click(form.list, offset=(3, 1))
        await sees(pilot, "3x", "esc discards it")
        assert form.field is not None
        assert form.field.name == "count"


async def test_editing_an_event_keeps_the_draft_of_another(open_engine: Engines):
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        await complete_a_run(pilot, app)
        await open_composer(pilot, app)
        await pilot.press(*"half a thought", "escape")
        await until(pilot, lambda: app.screen is app.main)
        await app.action_perform("app.edit_event")
        await sees(pilot, "Edit and send", "first")
        await pilot.press("escape")
        await until(pilot, lambda: any("There is another event draft" in words for words in app.toasts))
        await open_composer(pilot, app)
        await sees(pilot, "half a thought")


async def test_event_that_is_being_sent_cannot_be_left_or_sent_twice(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        await complete_a_run(pilot, app)
        screen = await open_composer(pilot, app)
        await pilot.press(*"once")
        submit, may_return = app.active_session.submit, asyncio.Event()

        async def submit_slowly(envelope: Any, **options: Any) -> Any:
            ticket = await submit(envelope, **options)
            await may_return.wait()
            return ticket

        monkeypatch.setattr(app.active_session, "submit", submit_slowly)
        await pilot.press("f9", "escape")
        await until(pilot, lambda: "The event is being sent." in app.toasts)
        assert app.screen is screen
        await sees(pilot, "Sending…")
        await pilot.press("f9", "f1")
        await until(pilot, lambda: app.screen is not screen)
        may_return.set()
        await until(pilot, lambda: not app.controllers.composer.drafts)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        runs = await app.active_session.engine.runs.list(conversation_id=app.active_session.session_id, limit=10)
        assert len(runs) == 2, "the first message and this event"


async def test_composer_names_the_newly_chosen_runner(open_engine: Engines):
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        screen = await open_composer(pilot, app)
        await sees(pilot, "to asks")
        await to_another_runner(pilot, app)
        await until(pilot, lambda: app.screen is screen)
        await sees(pilot, "to other")


async def test_esc_in_a_field_says_that_the_value_is_unchanged(open_engine: Engines):
    app = make_console(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "count")
        await pilot.press("enter", *"9")
        await until(pilot, lambda: form.editor is not None and form.editor.current_value() == 39)
        await pilot.press("escape")
        await until(pilot, lambda: any("count is unchanged: 3" in words for words in app.toasts))


PLUGIN = "metadata: {author: me, name: plugin}\nspec: {components: {AgentRunner: {fromFiles: [main.yaml]}}}\n"
COMPONENT = """kind: AgentRunner
metadata: {{name: main}}
spec: {{config: [{fields}]}}
execution: {{python: {{path: main.py, attr: run}}}}
"""
CITY, COUNTRY = "{name: city, type: string, default: Kyoto}", "{name: country, type: string}"


async def test_open_form_follows_its_manifest_and_keeps_typed_text_while_the_field_exists(open_engine: Engines):
    plugin = open_engine.folder / "plugin"
    plugin.mkdir()
    (plugin / "manifest.yaml").write_text(PLUGIN)
    (plugin / "main.py").write_text("async def run(ctx):\n    yield {'type': 'run.completed', 'data': {}}\n")
    (plugin / "main.yaml").write_text(COMPONENT.format(fields=CITY))
    app = RecordingConsole(LaunchOptions(), lambda: open_engine(runners=["plugin"]))
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "city")
        await pilot.press("enter", *"ai")
        await sees(pilot, "Kyotoai")
        (plugin / "main.yaml").write_text(COMPONENT.format(fields=f"{CITY}, {COUNTRY}"))
        await sees(pilot, "Kyotoai", "country")
        (plugin / "main.yaml").write_text(COMPONENT.format(fields=COUNTRY))
        await until(pilot, lambda: form.editor is None)
        assert any("The field city was removed; you had typed: Kyotoai" in words for words in app.toasts)
