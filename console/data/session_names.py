"""Finds a session by the name that the user typed, and reads the display names of sessions."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from console.model.text.columns import cells
from console.model.text.units import SESSION_COLUMNS, short_session

if TYPE_CHECKING:
    from engine.api import Engine

MAX_COMPARED_SESSIONS: Final = 1_000
"""Sessions whose ids are compared with a name that may be mistyped."""


def new_session_words(name: str, known_names: Iterable[str]) -> str:
    """Return the remark that a session is new, with a similar known name; empty if it is the first session."""
    known = list(known_names)
    if not known:
        return ""
    similar = get_close_matches(name, known, 1)
    question = f" Did you mean {short_session(similar[0])}?" if similar else ""
    return f"Session {short_session(name)} is new.{question}"


async def names_of(engine: "Engine", ids: Iterable[str]) -> dict[str, str]:
    """Return the display names of the sessions that exist, by id."""
    from console.model.sessions.rows import title_of  # noqa: PLC0415

    if not (wanted := list(ids)):
        return {}
    rows = await engine.sessions.browse(ids=wanted, limit=len(wanted))
    return {row.session.session_id: title_of(row) for row in rows}


async def session_named(engine: "Engine", name: str) -> tuple[str, str]:
    """Return the id of the session with this id, or of a new one; and a remark if it is new.

    The beginning of an id names its session only from the width on that screens and tables show: a shorter one may be
    the name of a new session.
    """
    from engine.api import NotFound  # noqa: PLC0415  (the screen is drawn before it is loaded)

    find = engine.sessions.find if cells(name) >= SESSION_COLUMNS else engine.sessions.get
    try:
        return (await find(name)).session.session_id, ""
    except NotFound:
        sessions = await engine.sessions.list(limit=MAX_COMPARED_SESSIONS)
        return name, new_session_words(name, [session.session_id for session in sessions])
