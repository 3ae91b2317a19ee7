"""Keys of state as far as they were read, in the engine's order, each scope above its own."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from engine.api import ScopeIdentity, StateRow

_ABOVE, _KEY = 0, 1


def name_of(scope: "ScopeIdentity", key: str) -> str:
    """By which a key is found again, whatever is read anew."""
    return f"{scope.key}\n{key}"


class StateKeyRow(NamedTuple):
    """A key, or the scope that stands above its keys."""

    order: tuple[str, int, str]
    """The key of the scope, whether it is the scope itself, and the key: they stand as this sorts."""
    scope: "ScopeIdentity"
    row: "StateRow | None" = None

    @property
    def name(self) -> str:
        scope_key, kind, key = self.order
        return scope_key if kind == _ABOVE else f"{scope_key}\n{key}"


class Keys:
    """What is read anew takes the place of what was read before; all else stays as it is."""

    def __init__(self) -> None:
        self.entries: list[StateKeyRow] = []
        self.count = 0
        """Without the scopes."""

    @property
    def last(self) -> "StateRow | None":
        return self.entries[-1].row if self.entries else None

    def before(self, index: int) -> "StateRow | None":
        """The key before what stands there; nothing where that is the first."""
        above = self.entries[max(0, index - 2) : index]
        return next((entry.row for entry in reversed(above) if entry.row is not None), None)

    def place_of(self, name: str) -> int | None:
        scope_key, is_key, key = name.partition("\n")
        order = (scope_key, _KEY if is_key else _ABOVE, key)
        place = self._after(order) - 1
        return place if place >= 0 and self.entries[place].order == order else None

    def put(self, page: "Sequence[StateRow]", after: "StateRow | None", *, is_rest: bool) -> None:
        """What stands after a key: all there is, or as far as the page goes."""
        fresh = _entries(page, after)
        start = 0 if after is None else self._after((after.identity.key, _KEY, after.key))
        end = len(self.entries) if is_rest else self._after(fresh[-1].order)
        self.count += len(page) - sum(entry.row is not None for entry in self.entries[start:end])
        # Another list, so that none changes under whoever draws it.
        self.entries = [*self.entries[:start], *fresh, *self.entries[end:]]

    def _after(self, order: tuple[str, int, str]) -> int:
        return bisect_right(self.entries, order, key=lambda entry: entry.order)


def _entries(page: "Sequence[StateRow]", after: "StateRow | None") -> list[StateKeyRow]:
    scope = after.identity if after is not None else None
    scope_key = scope.key if scope is not None else ""
    entries: list[StateKeyRow] = []
    for row in page:
        if row.identity != scope:
            scope, scope_key = row.identity, row.identity.key
            entries.append(StateKeyRow((scope_key, _ABOVE, ""), scope))
        entries.append(StateKeyRow((scope_key, _KEY, row.key), row.identity, row))
    return entries
