"""State changes between two entries, and who wrote each value."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from console.model.inspector.json_tree import holds_more, keys_of
from console.model.text.folds import Key, Path
from console.model.text.units import short_run

if TYPE_CHECKING:
    from engine.api import Written

MARKS: Final[Mapping[str, str]] = {"added": "+", "changed": "~", "removed": "-", "again": "="}
MOST_INNER: Final = 200
_FORK: Final = "fork"
_RUNNER: Final = "runner"
_LOCAL: Final = "local"
Scopes = Mapping[str, Mapping[str, "Written"]]


class Change(NamedTuple):
    """A changed key."""

    scope: str
    key: str
    kind: str
    """`added`, `changed`, `removed`, or `again` if the same value was written."""
    before: Any
    after: Any
    who: str
    """Who wrote it; empty if it was removed."""


class Inner(NamedTuple):
    """A changed part of a value."""

    path: Path
    kind: str
    before: Any
    after: Any


def differences(before: Scopes, after: Scopes, run_id: str, fork_of: str | None = None) -> tuple[Change, ...]:
    """All keys that were written or removed between two reads, by scope and key."""
    return tuple(
        change
        for scope in dict.fromkeys([*before, *after])
        for change in _in_scope(scope, before.get(scope, {}), after.get(scope, {}), run_id, fork_of)
    )


def inner(before: Any, after: Any) -> tuple[Inner, ...]:
    """The places where two containers differ, up to a limit; empty if one is not a container."""
    if not _alike(before, after):
        return ()
    return tuple(islice(_inside(before, after, ()), MOST_INNER))


def written_by(written: "Written", run_id: str, fork_of: str | None = None) -> str:
    """`by this run at #2080`, `by run_01k… at #12`, `by you`, `by a fork of ses_…`."""
    if written.run_id is not None:
        who = "this run" if written.run_id == run_id else f"{short_run(written.run_id)}…"
        return f"by {who}" + (f" at #{written.position}" if written.position is not None else "")
    if written.editor == _FORK:
        return f"by a fork of {fork_of}" if fork_of else "by a fork"
    if written.editor == _RUNNER:
        return "by a run that is gone"
    return "by you" if written.editor == _LOCAL else f"by {written.editor}"


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: `1` is neither `true` nor `1.0`, and the order of keys does not matter."""
    if type(one) is not type(other):
        return False
    return _canonical(one) == _canonical(other) if holds_more(one) else one == other


def _in_scope(
    scope: str, before: Mapping[str, "Written"], after: Mapping[str, "Written"], run_id: str, fork_of: str | None
) -> Iterator[Change]:
    for key in sorted({*before, *after}):
        was, now = before.get(key), after.get(key)
        if now is None:
            yield Change(scope, key, "removed", was.value if was else None, None, "")
            continue
        who = written_by(now, run_id, fork_of)
        if was is None:
            yield Change(scope, key, "added", None, now.value, who)
        elif (was.journal_row, was.at, was.run_id, was.position) != (now.journal_row, now.at, now.run_id, now.position):
            kind = "again" if same(was.value, now.value) else "changed"
            yield Change(scope, key, kind, was.value, now.value, who)
        elif not same(was.value, now.value):
            # Two writes between two entries share one row.
            yield Change(scope, key, "changed", was.value, now.value, who)


def _inside(before: Any, after: Any, path: Path) -> Iterator[Inner]:
    if not _alike(before, after):
        if not same(before, after):
            yield Inner(path, "changed", before, after)
        return
    old, new = _items(before), _items(after)
    for key in dict.fromkeys([*old, *new]):
        if key not in new:
            yield Inner((*path, key), "removed", old[key], None)
        elif key not in old:
            yield Inner((*path, key), "added", None, new[key])
        else:
            yield from _inside(old[key], new[key], (*path, key))


def _alike(before: object, after: object) -> bool:
    return (isinstance(before, dict) and isinstance(after, dict)) or (
        isinstance(before, list) and isinstance(after, list)
    )


def _items(value: Any) -> dict[Key, Any]:
    return {key: value[key] for key in keys_of(value)}


def _canonical(value: object) -> object:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return value  # numbers over 64 bits are compared by Python
