"""Moves in the state browser and reads stored values."""

import json
from typing import Any

from textual.pilot import Pilot
from textual.widgets import TextArea

from console.app import Trackside
from console.ui.state.edit import EditValue
from console.ui.state.screen import StateScreen
from tests.support.console.pilot import until
from tests.support.engines import declares, done, said, state_updated

SESSION_WITH_STATE = (("kyoto", ("first", "second")),)
"""Sessions and their messages. With `parrot` as runner, the last message is stored under `said`."""


@declares(capabilities={"steering": True})
async def parrot(ctx: Any):
    """A runner that repeats its input and stores it."""
    text = ctx.input.to_text()
    yield state_updated("said", {"text": text})
    yield state_updated("mood", "calm", "actor")
    yield said(f"You said: {text}")
    yield done()


async def open_state_browser(pilot: Pilot[Any], app: Trackside) -> StateScreen:
    """Open the state browser and wait for its rows."""
    await app.action_perform("app.states")
    await until(pilot, lambda: isinstance(app.screen, StateScreen) and app.screen.list.source.height > 0)
    assert isinstance(app.screen, StateScreen)
    return app.screen


async def move_to_key(pilot: Pilot[Any], screen: StateScreen, key: str) -> None:
    """Move the cursor to a key."""
    await pilot.press("g")
    for _ in range(screen.list.source.height):
        if screen.row is not None and screen.row.key == key:
            return
        await pilot.press("down")
    raise AssertionError(f"no key {key}")


async def wait_for_editor(pilot: Pilot[Any], app: Trackside) -> TextArea:
    """Wait until the value editor has the focus, and return its text area."""
    await until(pilot, lambda: isinstance(app.screen, EditValue) and app.screen.area.has_focus)
    assert isinstance(app.screen, EditValue)
    return app.screen.area


async def stored_value(app: Trackside, key: str) -> Any:
    """Return the value of a key, or None."""
    found = {row.key: row for row in await app.active_session.engine.state.browse()}
    return json.loads(found[key].glimpse) if key in found else None
