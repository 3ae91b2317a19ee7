"""What is told beside a scope, a key, or one change of a key."""

import json
from dataclasses import fields
from itertools import starmap
from typing import TYPE_CHECKING, Final

from console.model.text.columns import cells, cut
from console.model.text.lists import MARGIN_COLUMNS, Row, Source, Stack, Text, row
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from console.model.text.units import ago, brief, short_run, short_runner, size

if TYPE_CHECKING:
    from engine.api import ScopeIdentity, StateChange, StateRow

_DETAILED: Final = 90
"""Columns from which a row says who wrote it."""
_WIDEST_KEY: Final = 40
DELETED: Final = "deleted"


def scope_words(scope: "ScopeIdentity", title: str = "") -> str:
    """Whose state it is: `conversation kyoto · echo`; a conversation is known by its title, too."""
    parts = [_whose(scope, title), short_runner(scope.runner_id)]
    if not scope.binding_id.endswith(scope.runner_id):  # one that was not named is called by its runner
        parts.append(f"agent {scope.binding_id}")
    named = (("thread", scope.thread_id), ("bot", scope.bot_id), ("workspace", scope.workspace_id))
    parts += [f"{what} {name}" for what, name in named if name]
    return one_line(" · ".join(parts), 200)


def _whose(scope: "ScopeIdentity", title: str) -> str:
    match str(scope.scope):
        case "conversation":
            name = scope.conversation_id or ""
            # Ids that were made say nothing, where there is a title.
            named = [name] if not title or not name.startswith("ses_") else []
            return " ".join(["conversation", *named, *([f"“{title}”"] if title and title != name else [])])
        case "actor":
            return f"actor {scope.actor_type} {scope.actor_id}"
        case "subject":
            return f"subject {scope.subject_type} {scope.subject_id}"
        case other:
            return other


def scope_row(scope: "ScopeIdentity", title: str, width: int) -> Row:
    """A scope above its keys; of a long title so much that all the rest is seen."""
    room = width - MARGIN_COLUMNS - cells(scope_words(scope, "-")) + 1
    return row(width, [Piece(scope_words(scope, cut(title, max(8, room))), "heading")])


def key_row(kept: "StateRow", width: int, now: int) -> Row:
    """A key, the beginning of its value, and at the right who wrote it and when."""
    age = now - kept.updated_at
    right = brief(age) if age >= 60_000_000 else "now"
    if width >= _DETAILED:
        right = f"{size(kept.size)} · {kept.editor or 'unknown'} · {ago(age):>12}"
    pieces = [Piece(f"{one_line(kept.key, _WIDEST_KEY)}  ", "key"), Piece(one_line(kept.glimpse), "string")]
    return row(width, pieces, right, indent=2)


def change_row(change: "StateChange", width: int, now: int) -> Row:
    """One change of a key: what it became, who did it, and when."""
    became = Piece(DELETED, "removed") if change.glimpse is None else Piece(one_line(change.glimpse), "string")
    right = ago(now - change.at) if width >= _DETAILED else brief(now - change.at)
    return row(width, [Piece(f"{change.number}  ", "index"), Piece(f"{who(change)}  ", "faint"), became], right)


def who(written: "StateChange | StateRow") -> str:
    """Who wrote it: a run with its entry, a person, a fork."""
    if written.run_id is not None:
        entry = "" if written.position is None else f" #{written.position}"
        return one_line(f"run {short_run(written.run_id)}{entry}", 60)
    return one_line(written.editor or "unknown", 40)


if TYPE_CHECKING:
    from engine.api import ScopeIdentity, StateChange, StateConflict, StateRow

_BRIEF: Final = 80
"""Characters of a value that are told in a sentence."""


def about_scope(scope: "ScopeIdentity", title: str) -> Source:
    """Whose it is, in all parts that tell it from others."""
    names = [field.name for field in fields(scope)]
    parts = {name: str(value) for name in names if (value := getattr(scope, name))} | {"key": scope.key}
    return Stack([Text(Piece(scope_words(scope, title), "heading"), hang=0), *starmap(_part, parts.items())])


def _part(name: str, value: str) -> Text:
    label = name.removesuffix("_id").replace("_", " ").replace("binding", "agent")
    return Text(Piece(f"{label} ", "faint"), Piece(one_line(value), "text"), copy=lambda: value)


def about_key(kept: "StateRow", title: str, change: "StateChange | None", now: int, value: Source) -> Source:
    """Whose it is, who wrote it and when, and what it is or was."""
    written, at = (kept, kept.updated_at) if change is None else (change, change.at)
    return Stack(
        [
            Text(Piece(one_line(kept.key, 260), "heading"), hang=0),
            _line(scope_words(kept.identity, title)),
            _line(f"{size(written.size)} · {who(written)} · {ago(now - at)}"),
            _line(""),
            value,
        ]
    )


def meanwhile(moved: "StateConflict", now: int) -> str:
    """What a key is by now, other than a person had seen, and by whom: `it is "wild" now (user, just now)`."""
    from engine.api import Expected  # noqa: PLC0415

    is_gone, change = moved.now is Expected.NOTHING, moved.change
    value = DELETED if is_gone else one_line(json.dumps(moved.now, ensure_ascii=False), _BRIEF)
    by = f" ({who(change)}, {ago(now - change.at)})" if change is not None else ""
    return f"it is {value} now{by}"


def _line(words: str) -> Text:
    return Text(Piece(words, "faint"), hang=0)
