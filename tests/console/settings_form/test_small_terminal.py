"""A form where there is little room: nothing that it says is out of reach."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from console.launch import LaunchOptions
from console.ui.settings_form.yaml_editor import YamlEditor
from tests.support.console.form_app import at_the_form, kept, to_field
from tests.support.console.pilot import becomes, sees, shown, until
from tests.support.console.recorded_toasts import Telling
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


def opened(open_engine: Engines, runner: Any = asks) -> Telling:
    return Telling(LaunchOptions(), lambda: open_engine(runner))


@pytest.mark.parametrize("size", [(120, 24), (80, 24), (60, 15)])
async def test_all_that_is_told_of_a_field_is_reached(open_engine: Engines, size: tuple[int, int]):
    app = opened(open_engine, tells)
    async with at_the_form(app, size) as (pilot, form):
        await sees(pilot, "word0 ", "alt+down more")
        seen = shown(app)
        assert "The last of it." not in seen
        while form.leaf.can_page(1):
            top = form.leaf.top
            await pilot.press("alt+down")
            await until(pilot, lambda top=top: form.leaf.top > top)
            seen += shown(app)
        assert all(word in seen for word in (*LONG.split(), "The last of it.", "otherwise"))
        await until(pilot, lambda: "alt+down more" not in shown(app))
        await pilot.press("alt+down")
        await until(pilot, lambda: "This is the end of the details." in app.told)
        await pilot.press(*["alt+up"] * 12)
        await until(pilot, lambda: form.leaf.top == 0 and "This is the start of the details." in app.told)


async def test_another_field_is_told_of_from_its_beginning(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_form(app, (60, 15)) as (pilot, form):
        await sees(pilot, "alt+down more")
        await pilot.press("alt+down")
        await until(pilot, lambda: form.leaf.top > 0)
        await pilot.press("down")
        await sees(pilot, "tone · select")
        assert form.leaf.top == 0


async def test_what_would_be_granted_has_the_whole_of_a_small_screen(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_form(app, (60, 15)) as (pilot, form):
        await pilot.press("enter", *"Rome", "enter", "g")
        await sees(pilot, "Granted on message.received", "scope subject is not in")
        assert form.grants.region.bottom == form.footer.region.y
        await pilot.press("g")
        await sees(pilot, "City", "alt+down more")


async def test_the_title_is_whole_where_fields_are_to_be_mended(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_form(app, (60, 15)) as (pilot, form):
        await sees(pilot, "Settings of asks", "1 field to mend")
        await to_field(pilot, form, "tone")
        await pilot.press("enter", *"cold", "enter")
        await becomes(pilot, lambda: kept(app), {"config": {"tone": "cold"}})
        await sees(pilot, "Settings of asks", "1 field to mend", "1 of your own")


async def test_the_yaml_says_what_it_does_not_hold_and_a_run_needs(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_form(app, (60, 15)) as (pilot, form):
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, YamlEditor))
        await sees(pilot, "config.city is required before it can run", "1 to fill in", "esc back")
        assert "esc keeps it" not in shown(app), "there is nothing to keep"
        await pilot.press("end", "enter", *"  city: Rome")
        await sees(pilot, "it fits", "fits · esc keeps it", "esc keep it")
        await pilot.press("escape")
        await becomes(pilot, lambda: kept(app), {"config": {"city": "Rome"}})
        await until(pilot, lambda: app.screen is form)
        await until(pilot, lambda: "to mend" not in shown(app))
