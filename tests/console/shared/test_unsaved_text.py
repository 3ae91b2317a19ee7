"""What was typed on one screen is not lost where another leads away from it."""

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
from tests.console.composer.test_composer_screen import composing
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


def opened(open_engine: Engines) -> RecordingConsole:
    return RecordingConsole(LaunchOptions(runner="asks"), lambda: open_engine(asks, other))


async def to_another_session(pilot: Pilot[Any], app: Trackside) -> None:
    """By the list of sessions, over whatever is open."""
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


async def of_asks(app: Trackside, field: str) -> Any:
    """What is kept of a field."""
    settings = await app.active_session.engine.settings.get("asks")
    return None if settings is None else settings.config.get(field)


async def with_a_session(pilot: Pilot[Any], app: Trackside) -> None:
    await say(pilot, "first")
    await sees(pilot, "That was it.")
    await until(pilot, lambda: not app.services.situation.is_running)


async def test_an_event_that_was_begun_is_found_again_after_another_session_was_opened(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        await with_a_session(pilot, app)
        await composing(pilot, app)
        await pilot.press(*"half a thought")
        await to_another_session(pilot, app)
        await until(pilot, lambda: app.screen is app.main)
        await composing(pilot, app)
        await sees(pilot, "half a thought")


@pytest.mark.parametrize("leads_away", [to_another_session, to_another_runner])
@pytest.mark.parametrize(("field", "typed"), [("greeting", "hellothere"), ("notes", "there")])
async def test_what_is_typed_into_a_field_is_kept_where_it_fits(
    open_engine: Engines, leads_away: Any, field: str, typed: str
):
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        await with_a_session(pilot, app)
        form = await to_the_form(pilot, app)
        await to_field(pilot, form, field)
        await pilot.press("enter", *"there")
        await until(pilot, lambda: form.editor is not None and form.editor.current_value() == typed)
        await leads_away(pilot, app)
        await until(pilot, lambda: app.screen is app.main)
        await becomes(pilot, lambda: of_asks(app, field), typed)


@pytest.mark.parametrize("leads_away", [to_another_session, to_another_runner])
async def test_what_does_not_fit_stays_on_the_screen_with_the_reason(open_engine: Engines, leads_away: Any):
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        await with_a_session(pilot, app)
        session = app.active_session.session_id
        form = await to_the_form(pilot, app)
        await to_field(pilot, form, "count")
        await pilot.press("enter", *"x")
        await until(pilot, lambda: form.editor is not None and form.editor.current_value() == "3x")
        await leads_away(pilot, app)
        await until(pilot, lambda: app.screen is form)
        await sees(pilot, "3x", "esc discards it")
        assert (app.active_session.session_id, app.active_session.runner_id) == (session, "plugin:local/asks/default")
        await pilot.press("escape")
        await until(pilot, lambda: form.editor is None)


async def test_yaml_is_kept_where_it_fits_and_stays_where_it_does_not(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        await with_a_session(pilot, app)
        await to_the_form(pilot, app)
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, YamlEditor))
        text = app.screen
        assert isinstance(text, YamlEditor)
        fits = text.area.text.replace("hello", "good day")
        text.area.text = fits.replace("config:", "config: [")
        await to_another_session(pilot, app)
        await until(pilot, lambda: app.screen is text and any("The YAML has errors." in words for words in app.toasts))
        text.area.text = fits
        await to_another_session(pilot, app)
        await until(pilot, lambda: app.screen is app.main)
        await becomes(pilot, lambda: of_asks(app, "greeting"), "good day")


@pytest.mark.parametrize(("field", "typed"), [("greeting", "hellothere"), ("notes", "there")])
async def test_a_click_on_another_field_keeps_what_was_typed(open_engine: Engines, field: str, typed: str):
    app = opened(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, field)
        await pilot.press("enter", *"there")
        await until(pilot, lambda: form.editor is not None and form.editor.current_value() == typed)
        await pilot.click(form.list, offset=(3, 2))  # on count
        await until(pilot, lambda: form.editor is None)
        await becomes(pilot, lambda: of_asks(app, field), typed)
        await pilot.press("u")
        await becomes(pilot, lambda: kept(app), {})


async def test_a_click_on_another_field_leaves_what_does_not_fit_where_it_is(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_form(app) as (pilot, form):
        await to_field(pilot, form, "count")
        await pilot.press("enter", *"x")
        await until(pilot, lambda: form.editor is not None and form.editor.current_value() == "3x")
        await pilot.click(form.list, offset=(3, 1))
        await sees(pilot, "3x", "esc discards it")
        assert form.field is not None
        assert form.field.name == "count"


async def test_an_event_that_is_edited_leaves_the_one_that_was_begun(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        await with_a_session(pilot, app)
        await composing(pilot, app)
        await pilot.press(*"half a thought", "escape")
        await until(pilot, lambda: app.screen is app.main)
        await app.action_perform("app.edit_event")
        await sees(pilot, "Edit and send", "first")
        await pilot.press("escape")
        await until(pilot, lambda: any("There is another event draft" in words for words in app.toasts))
        await composing(pilot, app)
        await sees(pilot, "half a thought")


async def test_an_event_is_not_left_while_it_is_sent_and_not_sent_twice(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        await with_a_session(pilot, app)
        screen = await composing(pilot, app)
        await pilot.press(*"once")
        committed, arrived = app.active_session.submit, asyncio.Event()

        async def slowly(envelope: Any) -> Any:
            ticket = await committed(envelope)
            await arrived.wait()
            return ticket

        monkeypatch.setattr(app.active_session, "submit", slowly)
        await pilot.press("f9", "escape")
        await until(pilot, lambda: "The event is being sent." in app.toasts)
        assert app.screen is screen
        await sees(pilot, "Sending…")
        await pilot.press("f9", "f1")
        await until(pilot, lambda: app.screen is not screen)
        arrived.set()
        await until(pilot, lambda: not app.controllers.composer.drafts)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        runs = await app.active_session.engine.runs.list(conversation_id=app.active_session.session_id, limit=10)
        assert len(runs) == 2, "the first message, and this once"


async def test_an_event_says_who_gets_it_after_another_was_chosen(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        screen = await composing(pilot, app)
        await sees(pilot, "to asks")
        await to_another_runner(pilot, app)
        await until(pilot, lambda: app.screen is screen)
        await sees(pilot, "to other")


async def test_esc_in_a_line_says_that_the_value_stays(open_engine: Engines):
    app = opened(open_engine)
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


async def test_an_open_form_follows_its_file_and_what_is_typed_stays_as_long_as_its_field(open_engine: Engines):
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
