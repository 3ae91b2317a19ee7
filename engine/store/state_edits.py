"""Edits of state by the user. Each is recorded in the event log and can be undone by another edit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from engine.events import Expected, Source
from engine.store import event_log, state, state_pages
from engine.store.errors import NotFound, StateConflict, StateRefused
from engine.store.event_log import EventRow
from engine.store.hidden_sessions import is_hidden
from engine.store.json_text import decode, encode
from engine.store.row_mapping import values
from engine.store.scope_identity import NEEDED, Scope, ScopeIdentity
from engine.store.state import DEFAULT_LIMITS, ChangeOrigin, StateLimits
from engine.store.state_pages import StateRow

EDITOR: Final = "user"
SET: Final = "state.set"
DELETED: Final = "state.deleted"
CLEARED: Final = "state.cleared"
RESTORED: Final = "state.restored"
_KINDS: Final = frozenset({SET, DELETED, CLEARED, RESTORED})

_LAST: Final = "SELECT max(change) FROM state_changes"
_CHANGED: Final = """
    SELECT now.state_key,
        (SELECT max(change) FROM state_changes AS later
         WHERE later.scope_key = now.scope_key AND later.state_key = now.state_key),
        former.value, former.masked
    FROM state_changes AS now LEFT JOIN state_changes AS former ON former.change = (
        SELECT change FROM state_changes AS earlier
        WHERE earlier.scope_key = now.scope_key AND earlier.state_key = now.state_key AND earlier.change < ?
        ORDER BY earlier.change DESC LIMIT 1
    )
    WHERE now.change BETWEEN ? AND ? AND now.scope_key = ? ORDER BY now.change
"""
"""For each key that an edit changed: its newest change, and the value before the edit with its masked form."""


@dataclass(frozen=True, slots=True)
class StateEdit:
    """An edit of state by the user; `restore` takes `edit_id` to undo it."""

    edit_id: str
    kind: str
    identity: ScopeIdentity
    count: int
    """The number of changed keys."""
    left: tuple[str, ...] = ()
    """For an edit that undoes another: keys that were changed since and were not restored."""


@dataclass(frozen=True, slots=True)
class EditOrigin:
    """Who makes an edit, when, and the id under which it is recorded."""

    edit_id: str
    at: int
    who: str = "local"

    @property
    def change(self) -> ChangeOrigin:
        return ChangeOrigin(editor=EDITOR, at=self.at)


def put(
    conn: Connection,
    identity: ScopeIdentity,
    key: str,
    value: object,
    hand: EditOrigin,
    *,
    expected: object = Expected.ANYTHING,
    limits: StateLimits = DEFAULT_LIMITS,
    masked: str | None = None,
) -> StateEdit:
    """Store a value. Raises StateConflict if the stored value is not the expected one.

    Raises StateRefused if the value or its scope is over its limits, or if no run could ever read the scope.
    """
    needed = NEEDED.get(identity.scope)
    if needed is not None and not getattr(identity, needed):
        raise StateRefused(f"the {identity.scope} scope needs its {needed}; without it no run can read the value.")

    def write() -> int:
        _expect(conn, identity, key, expected)
        state.put(conn, identity, key, value, hand.change, limits, masked=masked)
        return 1

    return _noted(conn, SET, identity, hand, write, key=state.canonical(key))


def delete(
    conn: Connection, identity: ScopeIdentity, key: str, hand: EditOrigin, *, expected: object = Expected.ANYTHING
) -> StateEdit:
    """Delete a key. Raises NotFound if it is missing, and StateConflict if it does not hold the expected value."""

    def write() -> int:
        _expect(conn, identity, key, expected)
        if not state.delete(conn, identity, key, hand.change):
            raise NotFound(f"the scope has no key {state.canonical(key)!r}.")
        return 1

    return _noted(conn, DELETED, identity, hand, write, key=state.canonical(key))


def clear(conn: Connection, identity: ScopeIdentity, hand: EditOrigin) -> StateEdit:
    """Delete every key of a scope. Raises NotFound if there are none."""

    def write() -> int:
        if not (count := state.clear(conn, identity, hand.change)):
            raise NotFound(f"the {identity.scope} scope has no keys.")
        return count

    return _noted(conn, CLEARED, identity, hand, write)


def restore(conn: Connection, edit_id: str, hand: EditOrigin, *, limits: StateLimits = DEFAULT_LIMITS) -> StateEdit:
    """Undo an edit by writing the earlier values again. Keys that were changed since are left as they are.

    Raises NotFound if there is no such edit, and StateRefused if all its keys were changed since or do not fit.
    """
    noted = event_log.seen(conn, edit_id)
    if noted is None or noted.event_type not in _KINDS:
        raise NotFound(f"no edit of state {edit_id} by the user.")
    identity = _read_identity(noted.metadata["scope"])
    first, last = noted.metadata["changes"]
    changed = conn.exec_driver_sql(_CHANGED, (first, first, last, identity.key)).all()
    if not changed:
        raise NotFound(f"edit {edit_id} cannot be undone: its session was deleted.")
    left = tuple(key for key, newest, *_ in changed if newest > last)
    if len(left) == len(changed):
        raise StateRefused(
            f"{left[0]!r} was changed again since then, so it was not restored."
            if len(left) == 1
            else f"all {len(left)} keys were changed again since then, so none was restored."
        )

    def write() -> int:
        for key, newest, former, masked in changed:
            if newest > last:
                continue
            if former is None:
                state.delete(conn, identity, key, hand.change)
            else:
                state.put(conn, identity, key, decode(former), hand.change, limits, masked=masked)
        return len(changed) - len(left)

    return _noted(conn, RESTORED, identity, hand, write, left=left, restores=edit_id)


def _expect(conn: Connection, identity: ScopeIdentity, key: str, expected: object) -> None:
    if expected is Expected.ANYTHING:
        return
    try:
        now = state_pages.value(conn, identity, key)
    except NotFound:
        now = Expected.NOTHING
    if _is(now, expected) and (not isinstance(expected, StateRow) or _is_untouched(conn, expected)):
        return
    newest = state_pages.changes(conn, identity, key, limit=1)
    became = "deleted" if now is Expected.NOTHING else "changed"
    raise StateConflict(f"{state.canonical(key)!r} was {became} in the meantime.", now, newest[0] if newest else None)


def _is(now: object, expected: object) -> bool:
    if Expected.NOTHING in (now, expected):
        return now is expected
    text = encode(now)  # as JSON, because in Python 1 == True
    if isinstance(expected, StateRow):
        return (text[: state_pages.GLIMPSE], len(text.encode())) == (expected.glimpse, expected.size)
    return text == encode(expected)


def _is_untouched(conn: Connection, row: StateRow) -> bool:
    """Return whether the part of a long value that the list did not show is unchanged, judged by its time."""
    is_whole = len(row.glimpse) < state_pages.GLIMPSE
    return is_whole or state_pages.written_at(conn, row.identity, row.key) == row.updated_at


def _noted(
    conn: Connection,
    kind: str,
    identity: ScopeIdentity,
    hand: EditOrigin,
    write: Callable[[], int],
    *,
    left: tuple[str, ...] = (),
    **more: str,
) -> StateEdit:
    """Write, and record the edit with the numbers of its changes, which have no gaps within one transaction.

    The event has no conversation: runners can read event pages, and state may belong to another runner.
    """
    if is_hidden(conn, identity.conversation_id or ""):
        raise NotFound(f"session {identity.conversation_id} was deleted, so its state cannot be changed.")
    before = conn.exec_driver_sql(_LAST).scalar() or 0
    count = write()
    metadata: dict[str, Any] = {
        "scope": {name: part for name, part in values(identity).items() if part is not None},
        "scope_key": identity.key,
        "changes": [before + 1, conn.exec_driver_sql(_LAST).scalar()],
        "count": count,
        **more,
    }
    event_log.append(
        conn,
        EventRow(
            event_id=hand.edit_id,
            event_type=kind,
            source=Source.USER,
            actor_type="user",
            actor_id=hand.who,
            event_time=hand.at,
            created_at=hand.at,
            metadata=metadata,
        ),
    )
    return StateEdit(hand.edit_id, kind, identity, count, left)


def _read_identity(parts: Mapping[str, str]) -> ScopeIdentity:
    others = {name: part for name, part in parts.items() if name != "scope"}
    return ScopeIdentity(scope=Scope(parts["scope"]), **others)
