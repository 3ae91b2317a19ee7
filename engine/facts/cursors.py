"""Opaque page cursors that belong to one API and one conversation."""

import hashlib
import json

from engine.facts.errors import FactsError
from engine.facts.rows import Place


class CursorRefused(FactsError):
    """A cursor of another conversation, of another API, or none at all."""


def history(place: Place, seq: int) -> str:
    """A cursor for pages of the transcript; exclusive, so it shows what lies before or after `seq`."""
    return f"h{_seal('history', place)}{seq:x}"


def events(place: Place, seq: int) -> str:
    """A cursor for pages of the event log."""
    return f"e{_seal('events', place)}{seq:x}"


def read_history(place: Place, cursor: str) -> int:
    return _read("h", "history", place, cursor)


def read_events(place: Place, cursor: str) -> int:
    return _read("e", "events", place, cursor)


def _read(mark: str, api: str, place: Place, cursor: str) -> int:
    prefix = f"{mark}{_seal(api, place)}"
    if not cursor.startswith(prefix):
        raise CursorRefused("this cursor was not given by this call for this conversation")
    try:
        return int(cursor.removeprefix(prefix), 16)
    except ValueError:
        raise CursorRefused("this is not a cursor that this call gave") from None


def _seal(api: str, place: Place) -> str:
    # Twelve hex digits tell conversations apart; they are no secret, since the scope is checked on its own.
    parts = [api, place.conversation_id, place.thread_id, place.bot_id, place.workspace_id]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]
