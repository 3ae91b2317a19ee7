"""Moves in the settings form of a runner and reads its stored settings."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot

from console.ui.settings_form.screen import FormScreen
from tests.support.console.pilot import WIDE, at_the_screen, until
from tests.support.console.recorded_toasts import RecordingConsole


async def to_the_form(pilot: Pilot[None], app: RecordingConsole) -> FormScreen:
    await pilot.press("f12")
    await until(pilot, lambda: isinstance(app.screen, FormScreen) and app.screen.list.size.height > 0)
    assert isinstance(app.screen, FormScreen)
    return app.screen


@asynccontextmanager
async def at_the_form(
    app: RecordingConsole, size: tuple[int, int] = WIDE
) -> AsyncIterator[tuple[Pilot[None], FormScreen]]:
    """Start the app and open the form of its runner."""
    async with at_the_screen(app, size) as pilot:
        yield pilot, await to_the_form(pilot, app)


async def to_field(pilot: Pilot[None], form: FormScreen, name: str) -> None:
    """Find a field by its name and move the cursor there."""
    await pilot.press("slash", *name, "enter")
    await until(pilot, lambda: form.field is not None and form.field.name == name and not form.has_class("-searching"))


async def kept(app: RecordingConsole) -> dict[str, Any]:
    """Return the stored settings of the chosen runner."""
    settings = await app.active_session.engine.settings.get(app.active_session.runner_choice)
    return {} if settings is None else settings.to_json()
