"""Opaque page cursors that belong to one API and one conversation."""

import hashlib
import json
import re
from typing import Final

from engine.store.errors import StoreError
from engine.store.row_mapping import ConversationKey

_FORM: Final = re.compile(r"(?P<owner>[hej][0-9a-f]{12})(?P<position>[0-9a-f]{1,15})")
_RUN_FORM: Final = re.compile(r"(?P<owner>r[0-9a-f]{12})(?P<at>[0-9a-f]{1,15})-(?P<run_id>[^\x00-\x1f]{1,200})")


class CursorRefused(StoreError):
    """Raised if a text is not a cursor at all."""


class CursorForeign(StoreError):
    """Raised for a cursor of another conversation or another call."""


def history(place: ConversationKey, seq: int) -> str:
    """Return a cursor for pages of the transcript. Pages start before or after `seq`, and exclude it."""
    return f"h{_seal('history', place)}{seq:x}"


def events(place: ConversationKey, seq: int) -> str:
    """Return a cursor for pages of the event log."""
    return f"e{_seal('events', place)}{seq:x}"


def entries(place: ConversationKey, position: int) -> str:
    """Return a cursor for pages of a run's journal."""
    return f"j{_seal('entries', place)}{position:x}"


def runs(place: ConversationKey, created_at: int, run_id: str) -> str:
    """Return a cursor for pages of runs, which are ordered by time and then by id."""
    return f"r{_seal('runs', place)}{created_at:x}-{run_id}"


def read_history(place: ConversationKey, cursor: str) -> int:
    return _read("h", "history", place, cursor)


def read_events(place: ConversationKey, cursor: str) -> int:
    return _read("e", "events", place, cursor)


def read_entries(place: ConversationKey, cursor: str) -> int:
    return _read("j", "entries", place, cursor)


def read_runs(place: ConversationKey, cursor: str) -> tuple[int, str]:
    match = _owned("r", "runs", place, cursor)
    return int(match["at"], 16), match["run_id"]


def _read(mark: str, api: str, place: ConversationKey, cursor: str) -> int:
    return int(_owned(mark, api, place, cursor)["position"], 16)


def _owned(mark: str, api: str, place: ConversationKey, cursor: str) -> re.Match[str]:
    """Return the parts of a cursor. Raises if the text is no cursor, or one of another call or conversation."""
    match = _FORM.fullmatch(cursor) or _RUN_FORM.fullmatch(cursor)
    if match is None:
        raise CursorRefused("this is not a cursor")
    if match["owner"] != f"{mark}{_seal(api, place)}":
        raise CursorForeign("this cursor belongs to another call or another conversation")
    return match


def _seal(api: str, place: ConversationKey) -> str:
    # Twelve hex digits tell conversations apart. They need not be secret: the scope is checked separately.
    parts = [api, place.conversation_id, place.thread_id, place.bot_id, place.workspace_id]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]
