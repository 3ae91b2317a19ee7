"""Rows and details of the state browser: scopes, keys, and changes of a key."""

import json
from dataclasses import fields
from itertools import starmap
from typing import TYPE_CHECKING, Final

from console.model.text.columns import cells, cut
from console.model.text.lists import MARGIN_COLUMNS, Row, Source, Stack, Text, row
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from console.model.text.units import ago, brief, short_run, short_runner, short_session, size
from engine.events import Expected

if TYPE_CHECKING:
    from engine.api import ScopeIdentity, StateChange, StateConflict, StateRow

DETAILED_COLUMNS: Final = 90
"""The width of a row from which it shows size, writer and the full age."""
MAX_KEY_CHARS: Final = 40
MIN_TITLE_COLUMNS: Final = 8
MAX_CONFLICT_CHARS: Final = 80
"""Characters of the stored value in the message about a conflict."""
DELETED: Final = "deleted"
_MINUTE_US: Final = 60_000_000


def scope_label(scope: "ScopeIdentity", title: str = "") -> str:
    """The owner of the state, e.g. `conversation kyoto · echo`; with the title of a conversation."""
    parts = [_owner(scope, title), short_runner(scope.runner_id)]
    if not scope.binding_id.endswith(scope.runner_id):  # an agent without a name is called like its runner
        parts.append(f"agent {scope.binding_id}")
    named = (("thread", scope.thread_id), ("bot", scope.bot_id), ("workspace", scope.workspace_id))
    parts += [f"{what} {name}" for what, name in named if name]
    return one_line(" · ".join(parts), 200)


def _owner(scope: "ScopeIdentity", title: str) -> str:
    match str(scope.scope):
        case "conversation":
            name = short_session(scope.conversation_id or "")
            # A generated id says nothing if there is a title.
            named = [name] if not title or not name.startswith("ses_") else []
            return " ".join(["conversation", *named, *([f"“{title}”"] if title and title != name else [])])
        case "actor":
            return f"actor {scope.actor_type} {scope.actor_id}"
        case "subject":
            return f"subject {scope.subject_type} {scope.subject_id}"
        case other:
            return other


# Rows


def scope_row(scope: "ScopeIdentity", title: str, width: int) -> Row:
    """A scope above its keys; a long title is cut, so that the rest is visible."""
    room = width - MARGIN_COLUMNS - cells(scope_label(scope, "-")) + 1
    return row(width, [Piece(scope_label(scope, cut(title, max(MIN_TITLE_COLUMNS, room))), "heading")])


def key_row(key: "StateRow", width: int, now: int) -> Row:
    """A key and the start of its value; at the right who wrote it and when."""
    age = now - key.updated_at
    right = brief(age) if age >= _MINUTE_US else "now"
    if width >= DETAILED_COLUMNS:
        right = f"{size(key.size)} · {key.editor or 'unknown'} · {ago(age):>12}"
    pieces = [Piece(f"{one_line(key.key, MAX_KEY_CHARS)}  ", "key"), Piece(one_line(key.glimpse), "string")]
    return row(width, pieces, right, indent=2)


def change_row(change: "StateChange", width: int, now: int) -> Row:
    """One change of a key: its number, who made it, the new value, and when."""
    value = Piece(DELETED, "removed") if change.glimpse is None else Piece(one_line(change.glimpse), "string")
    right = ago(now - change.at) if width >= DETAILED_COLUMNS else brief(now - change.at)
    return row(width, [Piece(f"{change.number}  ", "index"), Piece(f"{writer_of(change)}  ", "faint"), value], right)


def writer_of(written: "StateChange | StateRow") -> str:
    """Who wrote a value: a run with its entry, or the editor (user, fork)."""
    if written.run_id is not None:
        entry = "" if written.position is None else f" #{written.position}"
        return one_line(f"run {short_run(written.run_id)}{entry}", 60)
    return one_line(written.editor or "unknown", 40)


# Details


def scope_details(scope: "ScopeIdentity", title: str) -> Source:
    """All parts of a scope's identity."""
    names = [field.name for field in fields(scope)]
    parts = {name: str(value) for name in names if (value := getattr(scope, name))} | {"key": scope.key}
    return Stack([Text(Piece(scope_label(scope, title), "heading"), hang=0), *starmap(_identity_part, parts.items())])


def _identity_part(name: str, value: str) -> Text:
    label = name.removesuffix("_id").replace("_", " ").replace("binding", "agent")
    return Text(Piece(f"{label} ", "faint"), Piece(one_line(value), "text"), copy=lambda: value)


def key_details(key: "StateRow", title: str, change: "StateChange | None", now: int, value: Source) -> Source:
    """A key, or one change of it: scope, writer, age and value."""
    written, at = (key, key.updated_at) if change is None else (change, change.at)
    created = f" · created {ago(now - key.created_at)}" if change is None and key.created_at < key.updated_at else ""
    return Stack(
        [
            Text(Piece(one_line(key.key, 260), "heading"), hang=0),
            _faint(scope_label(key.identity, title)),
            _faint(f"{size(written.size)} · {writer_of(written)} · {ago(now - at)}{created}"),
            _faint(""),
            value,
        ]
    )


def _faint(words: str) -> Text:
    return Text(Piece(words, "faint"), hang=0)


def conflict_text(conflict: "StateConflict", now: int) -> str:
    """Describe a change that the user has not seen: `it is now "wild" (user, just now)`."""
    change = conflict.change
    writer = f" ({writer_of(change)}, {ago(now - change.at)})" if change is not None else ""
    if conflict.now is Expected.NOTHING:
        return f"the key was deleted{writer}"
    value = one_line(json.dumps(conflict.now, ensure_ascii=False), MAX_CONFLICT_CHARS)
    return f"it is now {value}{writer}"
