"""The loaded keys of state in the engine's order, each scope above its keys."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from engine.api import ScopeIdentity, StateRow

_SCOPE, _KEY = 0, 1


def key_id(scope: "ScopeIdentity", key: str) -> str:
    """The id of a key in the list; it stays the same when the key is read again."""
    return f"{scope.key}\n{key}"


class StateListRow(NamedTuple):
    """A key, or the scope above its keys."""

    order: tuple[str, int, str]
    """The key of the scope, scope or key, and the key: the sort order of the list."""
    scope: "ScopeIdentity"
    row: "StateRow | None" = None
    """The key; None for a scope."""

    @property
    def id(self) -> str:
        scope_key, kind, key = self.order
        return scope_key if kind == _SCOPE else f"{scope_key}\n{key}"


class LoadedKeys:
    """Rows of the state browser. A page that is read again replaces the rows in its range."""

    def __init__(self) -> None:
        self.rows: list[StateListRow] = []
        self.count = 0
        """The number of keys, without scopes."""

    @property
    def last(self) -> "StateRow | None":
        """The last key."""
        return self.rows[-1].row if self.rows else None

    def key_before(self, index: int) -> "StateRow | None":
        """The key before a row; None if there is none."""
        above = self.rows[max(0, index - 2) : index]
        return next((entry.row for entry in reversed(above) if entry.row is not None), None)

    def index_of(self, row_id: str) -> int | None:
        scope_key, is_key, key = row_id.partition("\n")
        order = (scope_key, _KEY if is_key else _SCOPE, key)
        index = self._end_of(order) - 1
        return index if index >= 0 and self.rows[index].order == order else None

    def replace_after(self, after: "StateRow | None", page: "Sequence[StateRow]", *, is_rest: bool) -> None:
        """Replace the rows after a key: all of them if the page is the rest, else up to the end of the page."""
        fresh = _rows_of(page, after)
        start = 0 if after is None else self._end_of((after.identity.key, _KEY, after.key))
        end = len(self.rows) if is_rest else self._end_of(fresh[-1].order)
        self.count += len(page) - sum(entry.row is not None for entry in self.rows[start:end])
        # A new list, so that no list changes while it is drawn.
        self.rows = [*self.rows[:start], *fresh, *self.rows[end:]]

    def _end_of(self, order: tuple[str, int, str]) -> int:
        """The index after the last row that is not after `order`."""
        return bisect_right(self.rows, order, key=lambda entry: entry.order)


def _rows_of(page: "Sequence[StateRow]", after: "StateRow | None") -> list[StateListRow]:
    scope = after.identity if after is not None else None
    scope_key = scope.key if scope is not None else ""
    rows: list[StateListRow] = []
    for row in page:
        if row.identity != scope:
            scope, scope_key = row.identity, row.identity.key
            rows.append(StateListRow((scope_key, _SCOPE, ""), scope))
        rows.append(StateListRow((scope_key, _KEY, row.key), row.identity, row))
    return rows
