"""Opens the composer."""

from typing import Any

from textual.pilot import Pilot

from console.app import Trackside
from console.ui.composer.screen import ComposerScreen
from tests.support.console.pilot import sees, until


async def open_composer(pilot: Pilot[Any], app: Trackside) -> ComposerScreen:
    """Open the composer with a new event."""
    await pilot.press("ctrl+n")
    await until(pilot, lambda: isinstance(app.screen, ComposerScreen))
    await sees(pilot, "New event")
    screen = app.screen
    assert isinstance(screen, ComposerScreen)
    return screen
