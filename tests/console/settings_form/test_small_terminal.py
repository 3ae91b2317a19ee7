"""The settings form in a small terminal: everything can be reached."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from console.launch import LaunchOptions
from console.ui.settings_form.yaml_editor import YamlEditor
from tests.support.console.form_app import at_the_form, kept, to_field
from tests.support.console.pilot import becomes, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.engines import Engines, declares, done

LONG = " ".join(f"word{number}" for number in range(90))
FIELDS: list[dict[str, Any]] = [
    {"name": "city", "type": "string", "label": "City", "required": True, "description": f"{LONG}\nThe last of it."},
    {"name": "tone", "type": "select", "label": "Tone", "default": "warm", "options": ["warm", "cold"]},
]


@declares(permissions={"history": ["page"]}, config=FIELDS)
async def asks(ctx: Any) -> AsyncIterator[Any]:
    yield done()


@declares(config=[{**FIELDS[0], "required": False}])
async def tells(ctx: Any) -> AsyncIterator[Any]:
    yield done()


def make_console(open_engine: Engines, runner: Any = asks) -> RecordingConsole:
    return RecordingConsole(LaunchOptions(), lambda: open_engine(runner))


@pytest.mark.parametrize("size", [(120, 24), (80, 24), (60, 15)])
async def test_details_of_a_field_can_be_scrolled(open_engine: Engines, size: tuple[int, int]):
    app = make_console(open_engine, tells)
    async with at_the_form(app, size) as (pilot, form):
        await sees(pilot, "word0 ", "alt+down more")
        seen = shown(app)
        assert "The last of it." not in seen
        while form.details.can_page(1):
            top = form.details.top
            await pilot.press("alt+down")
            await until(pilot, lambda top=top: form.details.top > top)
            seen += shown(app)
        assert all(word in seen for word in (*LONG.split(), "The last of it.", "value"))
        await until(pilot, lambda: "alt+down more" not in shown(app))
        await pilot.press("alt+down")
        await until(pilot, lambda: "This is the end of the details." in app.toasts)
        await pilot.press(*["alt+up"] * 12)
        await until(pilot, lambda: form.details.top == 0 and "This is the start of the details." in app.toasts)


async def test_details_of_another_field_start_at_the_top(open_engine: Engines):
    app = make_console(open_engine)
    async with at_the_form(app, (60, 15)) as (pilot, form):
        await sees(pilot, "alt+down more")
        await pilot.press("alt+down")
        await until(pilot, lambda: form.details.top > 0)
        await pilot.press("down")
        await sees(pilot, "tone · select")
        assert form.details.top == 0


async def test_grants_use_the_whole_screen(open_engine: Engines):
    app = make_console(open_engine)
    async with at_the_form(app, (60, 15)) as (pilot, form):
        await pilot.press("enter", *"Rome", "enter", "g")
        await sees(pilot, "Granted on message.received", "scope subject is not in")
        assert form.grants.region.bottom == form.footer.region.y
        await pilot.press("g")
        await sees(pilot, "City", "alt+down more")


async def test_title_is_complete_beside_the_number_of_problems(open_engine: Engines):
    app = make_console(open_engine)
    async with at_the_form(app, (60, 15)) as (pilot, form):
        await sees(pilot, "Settings of asks", "1 problem found")
        await to_field(pilot, form, "tone")
        await pilot.press("enter", *"cold", "enter")
        await becomes(pilot, lambda: kept(app), {"config": {"tone": "cold"}})
        await sees(pilot, "Settings of asks", "1 problem found", "1 changed")


async def test_yaml_names_missing_settings_that_a_run_needs(open_engine: Engines):
    app = make_console(open_engine)
    async with at_the_form(app, (60, 15)) as (pilot, form):
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, YamlEditor))
        await sees(pilot, "config.city is required before the runner can run", "1 value missing", "esc back")
        assert "esc saves" not in shown(app), "there is nothing to save"
        await pilot.press("end", "enter", *"  city: Rome")
        await sees(pilot, "The settings are valid.", "Valid · esc saves", "esc save")
        await pilot.press("escape")
        await becomes(pilot, lambda: kept(app), {"config": {"city": "Rome"}})
        await until(pilot, lambda: app.screen is form)
        await until(pilot, lambda: "problem found" not in shown(app))
