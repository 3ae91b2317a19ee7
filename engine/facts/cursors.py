"""Opaque page cursors that belong to one API and one conversation."""

import hashlib
import json
import re
from typing import Final

from engine.facts.errors import FactsError
from engine.facts.rows import Place

_FORM: Final = re.compile(r"(?P<owner>[hej][0-9a-f]{12})(?P<position>[0-9a-f]{1,15})")


class CursorRefused(FactsError):
    """Something that no call of ours gave as a cursor."""


class CursorForeign(FactsError):
    """A cursor of another conversation or of another call."""


def history(place: Place, seq: int) -> str:
    """A cursor for pages of the transcript; exclusive, so it shows what lies before or after `seq`."""
    return f"h{_seal('history', place)}{seq:x}"


def events(place: Place, seq: int) -> str:
    """A cursor for pages of the event log."""
    return f"e{_seal('events', place)}{seq:x}"


def entries(place: Place, position: int) -> str:
    """A cursor for pages of a run's own journal."""
    return f"j{_seal('entries', place)}{position:x}"


def read_history(place: Place, cursor: str) -> int:
    return _read("h", "history", place, cursor)


def read_events(place: Place, cursor: str) -> int:
    return _read("e", "events", place, cursor)


def read_entries(place: Place, cursor: str) -> int:
    return _read("j", "entries", place, cursor)


def _read(mark: str, api: str, place: Place, cursor: str) -> int:
    match = _FORM.fullmatch(cursor)
    if match is None:
        raise CursorRefused("this is not a cursor")
    if match["owner"] != f"{mark}{_seal(api, place)}":
        raise CursorForeign("this cursor belongs to another call or another conversation")
    return int(match["position"], 16)


def _seal(api: str, place: Place) -> str:
    # Twelve hex digits tell conversations apart; they are no secret, since the scope is checked on its own.
    parts = [api, place.conversation_id, place.thread_id, place.bot_id, place.workspace_id]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]
