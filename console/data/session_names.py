"""Which session someone means by a name, and what sessions are called."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from console.model.text.safe import one_line


def new_session(name: str, others: Iterable[str]) -> str:
    """What is said of a session that there was not yet, beside those that there are; nothing where it is the first."""
    known = list(others)
    if not known:
        return ""
    near = get_close_matches(name, known, 1)
    meant = f" Did you mean {one_line(near[0], 128)}?" if near else ""
    return f"session {one_line(name, 128)} is new.{meant}"


if TYPE_CHECKING:
    from engine.api import Engine

NAMES: Final = 1_000
"""Sessions among which one is looked for that was mistyped."""


async def names_of(engine: "Engine", ids: Iterable[str]) -> dict[str, str]:
    """By their ids, what sessions are called; of those that there are."""
    from console.model.sessions.rows import title_of  # noqa: PLC0415

    if not (wanted := list(ids)):
        return {}
    rows = await engine.sessions.browse(ids=wanted, limit=len(wanted))
    return {row.session.session_id: title_of(row) for row in rows}


async def session_named(engine: "Engine", name: str) -> tuple[str, str]:
    """Its id: one that there is, the `last` one, or a new one; and what is to be said of one that is new."""
    from engine.api import NotFound  # noqa: PLC0415  (the screen is drawn before it is loaded)

    try:
        return (await engine.sessions.get(name)).session.session_id, ""
    except NotFound:
        return name, new_session(name, [session.session_id for session in await engine.sessions.list(limit=NAMES)])
