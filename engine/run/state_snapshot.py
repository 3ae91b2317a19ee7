"""The state in a run's context: all values of its scopes, or without the largest ones if all are too large to send."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection

from engine.runtimes import wire
from engine.store import state
from engine.store.scope_identity import ScopeIdentity

SMALL_BYTES: Final = 1 << 20
"""State up to this size is sent without a look at the size of each value."""
MARGIN_BYTES: Final = 64 << 10
"""For the frame around the context, and for the parts of the context that are decided after the snapshot."""
_OVERHEAD_BYTES: Final = 4
"""Quotes, colon and comma of one key."""
MAX_NAMED_VALUES: Final = 20


class Snapshot(NamedTuple):
    """The values by scope and key, and a warning that names the values that were left out."""

    values: dict[str, dict[str, Any]]
    warnings: tuple[str, ...] = ()


class _Size(NamedTuple):
    size: int
    scope: str
    key: str


def state_budget(other_bytes: int) -> int:
    """Return how many stored bytes of state fit into a context whose other parts have this size.

    The wire writes some numbers longer than the store does: `1e16` is sent as `1e+16`, which with its comma is a fifth
    more.
    """
    return max(0, wire.MAX_REPLY - MARGIN_BYTES - other_bytes) * 4 // 5


def is_small(conn: Connection, scopes: Mapping[str, ScopeIdentity]) -> bool:
    """Return whether all state of the scopes fits into any context. Costs one row for each scope."""
    return state.total_bytes(conn, (identity.key for identity in scopes.values())) <= SMALL_BYTES


def read_snapshot(conn: Connection, scopes: Mapping[str, ScopeIdentity], budget: int | None) -> Snapshot:
    """Read the state of the scopes; with a budget in bytes, leave out the largest values until the rest fits."""
    left_out = [] if budget is None else _choose_left_out(conn, scopes, budget)
    values = {
        scope: state.all_of(conn, identity.key, without=[value.key for value in left_out if value.scope == scope])
        for scope, identity in scopes.items()
    }
    return Snapshot(values, (_warning(left_out),) if left_out else ())


def _choose_left_out(conn: Connection, scopes: Mapping[str, ScopeIdentity], budget: int) -> list[_Size]:
    found = [
        _Size(size + len(key.encode()) + _OVERHEAD_BYTES, scope, key)
        for scope, identity in scopes.items()
        for key, size in state.sizes(conn, identity.key).items()
    ]
    total = sum(value.size for value in found)
    left_out: list[_Size] = []
    for value in sorted(found, key=lambda value: (-value.size, value.scope, value.key)):
        if total <= budget:
            break
        total -= value.size
        left_out.append(value)
    return left_out


def _warning(left_out: list[_Size]) -> str:
    named = [f"{value.scope} {value.key!r:.80} ({value.size:,} bytes)" for value in left_out[:MAX_NAMED_VALUES]]
    more = [f"{len(left_out) - MAX_NAMED_VALUES:,} more"] if len(left_out) > MAX_NAMED_VALUES else []
    return (
        "The state is too large to send with the context. The largest values were left out; "
        f"state_get reads them: {', '.join([*named, *more])}."
    )
