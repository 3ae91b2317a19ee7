"""Conditions that leave out the data of hidden sessions: deleted, but not purged yet."""

from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Connection, func, select

from engine.store.row_mapping import driver_of
from engine.store.tables import sessions

_HIDDEN: Final = select(sessions.c.session_id).where(sessions.c.deleted_at.is_not(None))
_HIDDEN_WORDS: Final = "SELECT session_id FROM sessions WHERE deleted_at IS NOT NULL"
RUN_IS_SHOWN: Final = f"run_id NOT IN (SELECT run_id FROM runs WHERE conversation_id IN ({_HIDDEN_WORDS}))"  # noqa: S608
"""The SQL condition that the run of a row does not belong to a hidden session."""
_IS_HIDDEN: Final = f"{_HIDDEN_WORDS} AND session_id = ?"


def is_shown(conversation_id: Column[Any]) -> ColumnElement[bool]:
    """Return the condition that a row does not belong to a hidden session. Reads an index that is almost empty."""
    # NULL is in no list, and without `coalesce` it would not be outside of one either.
    return func.coalesce(conversation_id, "").not_in(_HIDDEN)


def has_any(conn: Connection) -> bool:
    """Return whether any session is hidden."""
    return driver_of(conn).execute(f"{_HIDDEN_WORDS} LIMIT 1").fetchone() is not None


def is_hidden(conn: Connection, session_id: str) -> bool:
    return driver_of(conn).execute(_IS_HIDDEN, (session_id,)).fetchone() is not None
