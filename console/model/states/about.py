"""What is told beside a scope, a key, or one change of a key."""

import json
from dataclasses import fields
from itertools import starmap
from typing import TYPE_CHECKING, Final

from console.model.inspect.sheet import Source, Stack, Text
from console.model.piece import Piece
from console.model.safe import one_line
from console.model.states.rows import DELETED, scope_words, who
from console.model.words import ago, size

if TYPE_CHECKING:
    from engine.api import ScopeIdentity, StateChange, StateMoved, StateRow

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


def meanwhile(moved: "StateMoved", now: int) -> str:
    """What a key is by now, other than a person had seen, and by whom: `it is "wild" now (person, just now)`."""
    from engine.api import Expected  # noqa: PLC0415

    is_gone, change = moved.now is Expected.NOTHING, moved.change
    value = DELETED if is_gone else one_line(json.dumps(moved.now, ensure_ascii=False), _BRIEF)
    by = f" ({who(change)}, {ago(now - change.at)})" if change is not None else ""
    return f"it is {value} now{by}"


def _line(words: str) -> Text:
    return Text(Piece(words, "faint"), hang=0)
