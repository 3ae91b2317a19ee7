"""Moves in the session browser and reads which sessions exist."""

from typing import Any

from textual.pilot import Pilot

from console.app import Trackside
from console.ui.sessions.screen import SessionsScreen
from engine.api import Engine
from tests.support.console.browser_data import listed
from tests.support.console.pilot import until

TRIPS = (("kyoto", ("plan a day in Kyoto", "use metric")), ("lima", ("where is the museum of gold",)))
"""Two sessions and their messages."""


async def open_session_browser(pilot: Pilot[Any], app: Trackside, key: str = "ctrl+l") -> SessionsScreen:
    """Open the session browser and wait until a row is selected."""
    await pilot.press(key)
    await until(pilot, lambda: isinstance(app.screen, SessionsScreen) and app.screen.list.current is not None)
    assert isinstance(app.screen, SessionsScreen)
    return app.screen


async def resume_session(pilot: Pilot[Any], app: Trackside, session_id: str) -> None:
    """Open the session browser and resume a session from it."""
    screen = await open_session_browser(pilot, app)
    await until(pilot, lambda: session_id in listed(screen))
    await pilot.press("g", *["down"] * listed(screen).index(session_id), "enter")
    await until(pilot, lambda: app.screen is app.main and app.active_session.session_id == session_id)


async def session_ids(engine: Engine) -> set[str]:
    """Return the ids of all sessions of an engine."""
    return {session.session_id for session in await engine.sessions.list()}
