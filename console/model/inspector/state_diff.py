"""State changes between two entries, and who wrote each value."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from console.model.inspector.json_values import has_children, keys_of
from console.model.text.folds import Key, Path
from console.model.text.units import short_run

if TYPE_CHECKING:
    from engine.api import Written

CHANGE_SIGNS: Final[Mapping[str, str]] = {"added": "+", "changed": "~", "removed": "-", "again": "="}
"""The sign for each kind of change."""
MAX_INNER_CHANGES: Final = 200
MAX_COMPARED_VALUES: Final = 50_000
"""Values inside two containers that are compared with each other; that takes 30 ms."""
FORK_EDITOR: Final = "fork"
"""The editor of values that a fork has copied."""
_RUNNER_EDITOR: Final = "runner"
_LOCAL_EDITOR: Final = "local"
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


class InnerChange(NamedTuple):
    """A changed part of a value."""

    path: Path
    kind: str
    before: Any
    after: Any


def differences(before: Scopes, after: Scopes, run_id: str, fork_of: str | None = None) -> tuple[Change, ...]:
    """Return all keys that were written or removed between two reads, by scope and key."""
    return tuple(
        change
        for scope in dict.fromkeys([*before, *after])
        for change in _in_scope(scope, before.get(scope, {}), after.get(scope, {}), run_id, fork_of)
    )


def inner_changes(before: Any, after: Any) -> tuple[InnerChange, ...]:
    """Return the places where two containers differ, up to a limit; empty unless both are objects or both arrays."""
    if not _are_both_containers(before, after):
        return ()
    compared = islice(_walk(before, after, ()), MAX_COMPARED_VALUES)
    return tuple(islice((change for change in compared if change is not None), MAX_INNER_CHANGES))


def written_by(written: "Written", run_id: str, fork_of: str | None = None) -> str:
    """`by this run at #2080`, `by run_01k… at #12`, `by you`, `by a fork of ses_…`."""
    if written.run_id is not None:
        who = "this run" if written.run_id == run_id else f"{short_run(written.run_id)}…"
        return f"by {who}" + (f" at #{written.position}" if written.position is not None else "")
    if written.editor == FORK_EDITOR:
        return f"by a fork of {fork_of}" if fork_of else "by a fork"
    if written.editor == _RUNNER_EDITOR:
        return "by a deleted run"
    return "by you" if written.editor == _LOCAL_EDITOR else f"by {written.editor}"


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal as JSON: `1` is neither `true` nor `1.0`, and the order of keys does not matter."""
    if type(one) is not type(other):
        return False
    return _canonical(one) == _canonical(other) if has_children(one) else one == other


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
            kind = "again" if is_same(was.value, now.value) else "changed"
            yield Change(scope, key, kind, was.value, now.value, who)
        elif not is_same(was.value, now.value):
            # Two writes between two entries share one row.
            yield Change(scope, key, "changed", was.value, now.value, who)


def _walk(before: Any, after: Any, path: Path) -> Iterator[InnerChange | None]:
    """Yield each change, and None for each value that is the same."""
    if not _are_both_containers(before, after):
        yield None if is_same(before, after) else InnerChange(path, "changed", before, after)
        return
    old, new = _items(before), _items(after)
    for key in dict.fromkeys([*old, *new]):
        if key not in new:
            yield InnerChange((*path, key), "removed", old[key], None)
        elif key not in old:
            yield InnerChange((*path, key), "added", None, new[key])
        else:
            yield from _walk(old[key], new[key], (*path, key))


def _are_both_containers(before: object, after: object) -> bool:
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
