"""State: JSON values by scope and key, with a log of the entry that made each change."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import ColumnElement, Connection, Table, func, or_, select, true, union
from sqlalchemy import delete as delete_from

from engine.store.async_reader import Query, Row, run_query
from engine.store.entries import last_row
from engine.store.errors import StateFull, StateRefused, StateTooLarge
from engine.store.hidden_sessions import is_shown
from engine.store.json_text import decode, encode
from engine.store.row_mapping import driver_of, values
from engine.store.scope_identity import PARTS, Scope, ScopeIdentity
from engine.store.tables import runs, state, state_changes

MAX_KEY_CHARACTERS: Final = 255
MAX_VALUE_BYTES: Final = 256 << 10
MAX_VALUE_DEPTH: Final = 90
"""Levels of lists and objects in a value. A context has at most 100, and the values are five levels down in it."""
MAX_SCOPE_BYTES: Final = 16 << 20
MAX_SCOPE_KEYS: Final = 10_000
ALIAS: Final = "conversation_id"
EXTERNAL: Final = "external.conversation_id"

# SQL for the driver itself: a runner waits for these, and SQLAlchemy would take 150 µs longer for each.
_COLUMNS: Final = tuple(state.columns.keys())
_CHANGE_COLUMNS: Final = tuple(name for name in state_changes.columns.keys() if name != "change")  # noqa: SIM118
_GET: Final = "SELECT value, masked FROM state WHERE scope_key = ? AND state_key = ?"
_SECRETS: Final = """
    SELECT json_extract(masked, '$.secrets') FROM state
    WHERE scope_key IN (SELECT value FROM json_each(?)) AND masked IS NOT NULL
"""
"""Costs one row for each value with a secret, by the index of these."""
_PUT: Final = (
    f"INSERT INTO state ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))}) "  # noqa: S608
    "ON CONFLICT (scope_key, state_key) DO UPDATE "
    "SET value = excluded.value, masked = excluded.masked, updated_at = excluded.updated_at"
)
_NOTE: Final = (
    f"INSERT INTO state_changes ({', '.join(_CHANGE_COLUMNS)}) VALUES ({', '.join('?' * len(_CHANGE_COLUMNS))})"  # noqa: S608
)
_TOTAL: Final = """
    SELECT bytes, keys, (SELECT length(CAST(value AS BLOB)) FROM state WHERE scope_key = ?1 AND state_key = ?2)
    FROM state_totals WHERE scope_key = ?1
"""
"""The size of a scope, and of one of its values. Costs two rows, however large the scope is."""
_TOTAL_BYTES: Final = (
    "SELECT coalesce(sum(bytes), 0) FROM state_totals WHERE scope_key IN (SELECT value FROM json_each(?))"
)
_SIZES: Final = "SELECT state_key, length(CAST(value AS BLOB)) FROM state WHERE scope_key = ?"
_ALL: Final = """
    SELECT state_key, value FROM state
    WHERE scope_key = ? AND state_key NOT IN (SELECT value FROM json_each(?)) ORDER BY state_key
"""
_NOTE_ALL: Final = """
    INSERT INTO state_changes (scope_key, state_key, value, conversation_id, run_id, position, journal_row, editor, at)
    SELECT scope_key, state_key, NULL, conversation_id, ?, ?, ?, ?, ? FROM state WHERE scope_key = ? ORDER BY state_key
"""


def shown(table: Table) -> ColumnElement[str]:
    """Return the expression for a value's JSON as a user may see it.

    The column `masked` has `shown`, the value with its secrets masked, and `secrets` with the name of each. It is NULL
    for values without a secret.
    """
    return func.coalesce(func.json_extract(table.c.masked, "$.shown"), table.c.value)


@dataclass(frozen=True, slots=True)
class StateLimits:
    """The limits of one scope."""

    max_bytes: int = MAX_SCOPE_BYTES
    """UTF-8 bytes of all keys and values, as JSON."""
    max_keys: int = MAX_SCOPE_KEYS

    def check(self, scope: str, *, total_bytes: int, keys: int, added_bytes: int, is_new: bool) -> None:
        """Raise StateFull if a write exceeds a limit. A write that makes the scope smaller is always allowed."""
        if is_new and keys + 1 > self.max_keys:
            raise StateFull(
                f"the {scope} scope has {keys:,} keys, and the limit is {self.max_keys:,}. "
                "Delete keys, or raise `limits.state_keys` in trackside.yaml."
            )
        if added_bytes > 0 and total_bytes + added_bytes > self.max_bytes:
            raise StateFull(
                f"the {scope} scope would hold {total_bytes + added_bytes:,} bytes, and the limit is "
                f"{self.max_bytes:,}. Delete keys, or raise `limits.state_bytes` in trackside.yaml."
            )


DEFAULT_LIMITS: Final = StateLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeOrigin:
    """Who makes a change: a runner by an entry of its journal, or the user."""

    editor: str
    at: int
    run_id: str | None = None
    position: int | None = None
    journal_row: int | None = None
    """The global row of the entry; if None, the change comes before the next entry."""


class Written(NamedTuple):
    """A value and its last writer."""

    value: Any
    run_id: str | None
    position: int | None
    journal_row: int
    editor: str
    at: int


class Kept(NamedTuple):
    """One key and its value, for browsing."""

    identity: ScopeIdentity
    key: str
    value: Any
    created_at: int
    """When the key was written first, since it was deleted last."""
    updated_at: int
    editor: str | None = None
    """Who wrote the value last: a runner, in `run_id`, or the user. None if that was pruned."""
    run_id: str | None = None


def canonical(key: str) -> str:
    """Return the stored name of a key: `conversation_id` is an alias."""
    return EXTERNAL if key == ALIAS else key


def checked(key: str, value: object) -> tuple[str, str]:
    """Return the stored key and the encoded value. Raises StateRefused if one is invalid or over its limit."""
    key = canonical(key)
    if not key or len(key) > MAX_KEY_CHARACTERS:
        raise StateRefused(f"a state key has 1 to {MAX_KEY_CHARACTERS} characters; this one has {len(key)}.")
    if not is_text(key):
        raise StateRefused(f"the state key {key!r} contains half of a surrogate pair, which cannot be stored.")
    try:
        text = encode(value)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise StateRefused(f"the value of state key {key!r} is not JSON: {error}") from error
    if size > MAX_VALUE_BYTES:
        raise StateTooLarge(f"the value of state key {key!r} has {size} bytes; the limit is {MAX_VALUE_BYTES}.")
    if text.count("{") + text.count("[") > MAX_VALUE_DEPTH and _is_deeper(value, MAX_VALUE_DEPTH):
        raise StateRefused(f"the value of state key {key!r} is nested deeper than {MAX_VALUE_DEPTH} levels.")
    return key, text


def refuse_secret(name: str | None) -> None:
    """Raise StateRefused if a key contains the secret of this name: keys are listed in clear."""
    if name is not None:
        raise StateRefused(f"the state key contains the secret {name}. Use a key without it.")


def _is_deeper(value: object, levels: int) -> bool:
    """Return whether lists and objects are nested deeper. Level by level: the stack does not limit the depth."""
    level: list[object] = [value]
    for _ in range(levels + 1):
        inner: list[object] = []
        containers = 0
        for one in level:
            if isinstance(one, dict):
                containers += 1
                inner.extend(cast("dict[str, object]", one).values())
            elif isinstance(one, list | tuple):
                containers += 1
                inner.extend(cast("list[object]", one))
        if not containers:
            return False
        level = inner
    return True


def is_text(text: str) -> bool:
    """Return whether the text can be stored: a lone surrogate has no UTF-8 encoding."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def fallback(identity: ScopeIdentity, key: str) -> str | None:
    """Return the value of a missing key: None, except for the conversation's own id."""
    return identity.conversation_id if identity.scope == Scope.CONVERSATION and key == EXTERNAL else None


def put(
    conn: Connection,
    identity: ScopeIdentity,
    key: str,
    value: object,
    change: ChangeOrigin,
    limits: StateLimits | None = DEFAULT_LIMITS,
    *,
    masked: str | None = None,
) -> None:
    """Store a value and log the change. Raises StateFull if the scope would exceed its limits.

    `limits` is None for a copy of a scope, which is not larger than its original. `masked` is how a value with
    secrets is shown.
    """
    key, text = checked(key, value)
    if limits is not None:
        _require_room(conn, identity, key, text, limits)
    row = values(identity) | {
        "scope_key": identity.key,
        "state_key": key,
        "value": text,
        "created_at": change.at,
        "masked": masked,
        "updated_at": change.at,
    }
    driver_of(conn).execute(_PUT, tuple(row[name] for name in _COLUMNS))
    _note(conn, identity, key, text, masked, change)


def _require_room(conn: Connection, identity: ScopeIdentity, key: str, text: str, limits: StateLimits) -> None:
    found = driver_of(conn).execute(_TOTAL, (identity.key, key)).fetchone()
    total_bytes, keys, replaced = found or (0, 0, None)
    added = len(text.encode()) - replaced if replaced is not None else len(key.encode()) + len(text.encode())
    limits.check(identity.scope, total_bytes=total_bytes, keys=keys, added_bytes=added, is_new=replaced is None)


def delete(conn: Connection, identity: ScopeIdentity, key: str, change: ChangeOrigin) -> bool:
    """Delete a key. Returns whether it existed."""
    key = canonical(key)
    scope_key = identity.key
    gone = conn.execute(delete_from(state).where(state.c.scope_key == scope_key, state.c.state_key == key)).rowcount
    if gone:
        _note(conn, identity, key, None, None, change)
    return gone > 0


def clear(conn: Connection, identity: ScopeIdentity, change: ChangeOrigin) -> int:
    """Delete every key of a scope, and return their number.

    Uses two statements, because a run in progress waits for the writer.
    """
    noted = change.run_id, change.position, _row_of(conn, change), change.editor, change.at
    driver_of(conn).execute(_NOTE_ALL, (*noted, identity.key))
    return conn.execute(delete_from(state).where(state.c.scope_key == identity.key)).rowcount


def get(conn: Connection, identity: ScopeIdentity, key: str) -> Any:
    """Return the value of a key; None if it is missing."""
    return run_query(conn, get_query(identity, key))


def get_query(identity: ScopeIdentity, key: str) -> Query[Any]:
    """Return the query of `get`."""
    query = get_clear_query(identity, key)

    def value_of(rows: Sequence[Row]) -> Any:
        return query.build(rows)[0]

    return Query(query.statement, query.parameters, value_of)


def get_clear_query(identity: ScopeIdentity, key: str) -> Query[tuple[Any, dict[str, str]]]:
    """Return the query of a value and of the secrets in it, with their names."""
    key = canonical(key)

    def value_of(rows: Sequence[Row]) -> tuple[Any, dict[str, str]]:
        if not rows:
            return fallback(identity, key), {}
        text, masked = rows[0]
        return decode(text), {} if masked is None else decode(masked)["secrets"]

    return Query(_GET, (identity.key, key), value_of)


def secrets_of(conn: Connection, scope_keys: Iterable[str]) -> dict[str, str]:
    """Return the secrets in the values of several scopes, with their names."""
    found: dict[str, str] = {}
    for (text,) in driver_of(conn).execute(_SECRETS, (encode(list(scope_keys)),)):
        found |= decode(text)
    return found


def keys(
    conn: Connection, identity: ScopeIdentity, *, prefix: str = "", after: str = "", limit: int = 100
) -> tuple[list[str], bool]:
    """Return keys of a scope in order, and whether there are more."""
    query = select(state.c.state_key).where(state.c.scope_key == identity.key, state.c.state_key > after)
    if prefix:
        # Not LIKE, which has '%' and '_' as wildcards and ignores case.
        query = query.where(func.substr(state.c.state_key, 1, len(prefix)) == prefix)
    found = list(conn.execute(query.order_by(state.c.state_key).limit(limit + 1)).scalars())
    return found[:limit], len(found) > limit


def total_bytes(conn: Connection, scope_keys: Iterable[str]) -> int:
    """Return the size of several scopes together, from one row for each."""
    return driver_of(conn).execute(_TOTAL_BYTES, (encode(list(scope_keys)),)).fetchone()[0]


def sizes(conn: Connection, scope_key: str) -> dict[str, int]:
    """Return the bytes of each value of a scope by key."""
    return dict(driver_of(conn).execute(_SIZES, (scope_key,)).fetchall())


def all_of(conn: Connection, scope_key: str, *, without: Iterable[str] = ()) -> dict[str, Any]:
    """Return the values of a scope by key; `without` are keys to leave out, whose values are not read."""
    rows = driver_of(conn).execute(_ALL, (scope_key, encode(list(without))))
    return {key: decode(text) for key, text in rows}


def at(conn: Connection, scope_keys: Iterable[str], journal_row: int) -> dict[str, dict[str, Written]]:
    """Return scopes as they were after the entry at this global row, as they are shown, with each key's writer."""
    wanted = list(scope_keys)
    result: dict[str, dict[str, Written]] = {scope_key: {} for scope_key in wanted}
    latest = (
        select(func.max(state_changes.c.change))
        .where(state_changes.c.scope_key.in_(wanted), state_changes.c.journal_row <= journal_row)
        .group_by(state_changes.c.scope_key, state_changes.c.state_key)
    )
    query = (
        select(state_changes, shown(state_changes).label("shown"))
        .where(state_changes.c.change.in_(latest), state_changes.c.value.is_not(None))
        .order_by(state_changes.c.scope_key, state_changes.c.state_key)
    )
    for row in conn.execute(query):
        result[row.scope_key][row.state_key] = Written(
            decode(row.shown), row.run_id, row.position, row.journal_row, row.editor, row.at
        )
    return result


def copy(conn: Connection, source: str, target: str, *, until: int, change: ChangeOrigin) -> None:
    """Copy the conversation scopes of one conversation, as they were at a time, to another conversation.

    A key without a logged change before that time is copied if its current value is old enough: its log may be pruned.
    """
    own = state.c.conversation_id == source
    held: dict[tuple[str, str], tuple[str | None, str | None]] = {
        (row.scope_key, row.state_key): (row.value, row.masked)
        for row in conn.execute(select(state).where(own, state.c.updated_at <= until))
    }
    latest = (
        select(func.max(state_changes.c.change))
        .where(state_changes.c.conversation_id == source, state_changes.c.at <= until)
        .group_by(state_changes.c.scope_key, state_changes.c.state_key)
    )
    for row in conn.execute(select(state_changes).where(state_changes.c.change.in_(latest))):
        held[row.scope_key, row.state_key] = row.value, row.masked
    whose = _identities(conn, source)
    # If a scope is empty now and its runs were pruned, its identity is unknown: it cannot be derived from the key.
    for scope_key, key in sorted(held):
        text, masked = held[scope_key, key]
        if text is not None and scope_key in whose:
            identity = replace(whose[scope_key], conversation_id=target)
            put(conn, identity, key, decode(text), change, limits=None, masked=masked)


def _identities(conn: Connection, conversation_id: str) -> dict[str, ScopeIdentity]:
    """Return the identities of the conversation's scopes by key, as its state rows and runs have them."""
    parts = PARTS[Scope.CONVERSATION]
    found = union(
        *(
            select(*(table.c[part] for part in parts)).where(table.c.conversation_id == conversation_id)
            for table in (state, runs)
        )
    )
    identities = [ScopeIdentity(scope=Scope.CONVERSATION, **row) for row in conn.execute(found).mappings()]
    return {identity.key: identity for identity in identities}


def seen_from(conversation_id: str) -> ColumnElement[bool]:
    """Return the condition that a row belongs to a scope that runs of this conversation were granted."""
    granted = func.json_each(runs.c.authorization, "$.state_scopes").table_valued("value")
    scopes = select(granted.c.value).select_from(runs.join(granted, true()))
    its_own = scopes.where(runs.c.conversation_id == conversation_id)
    return or_(state.c.conversation_id == conversation_id, state.c.scope_key.in_(its_own))


def browse(
    conn: Connection, *, conversation_id: str | None = None, runner_id: str | None = None, limit: int = 1_000
) -> list[Kept]:
    """Return values as they are shown; of a conversation, those of every scope that its runs were granted."""
    changes = state_changes.alias()
    newest = (
        select(func.max(changes.c.change))
        .where(changes.c.scope_key == state.c.scope_key, changes.c.state_key == state.c.state_key)
        .correlate(state)
        .scalar_subquery()
    )
    query = (
        select(state, shown(state).label("shown"), state_changes.c.editor, state_changes.c.run_id)
        .select_from(state.outerjoin(state_changes, state_changes.c.change == newest))
        .where(is_shown(state.c.conversation_id))
        .order_by(state.c.scope, state.c.scope_key, state.c.state_key)
        .limit(limit)
    )
    if conversation_id is not None:
        query = query.where(seen_from(conversation_id))
    if runner_id is not None:
        query = query.where(state.c.runner_id == runner_id)
    return [_kept(dict(row)) for row in conn.execute(query).mappings()]


def _kept(row: dict[str, Any]) -> Kept:
    del row["scope_key"], row["value"], row["masked"]
    key, text = row.pop("state_key"), row.pop("shown")
    created_at, updated_at = row.pop("created_at"), row.pop("updated_at")
    editor, run_id = row.pop("editor"), row.pop("run_id")
    identity = ScopeIdentity(**row | {"scope": Scope(row["scope"])})
    return Kept(identity, key, decode(text), created_at, updated_at, editor, run_id)


def _note(
    conn: Connection, identity: ScopeIdentity, key: str, text: str | None, masked: str | None, change: ChangeOrigin
) -> None:
    noted: dict[str, Any] = values(change) | {
        "scope_key": identity.key,
        "state_key": key,
        "value": text,
        "masked": masked,
        "conversation_id": identity.conversation_id,
        "journal_row": _row_of(conn, change),
    }
    driver_of(conn).execute(_NOTE, tuple(noted[name] for name in _CHANGE_COLUMNS))


def _row_of(conn: Connection, change: ChangeOrigin) -> int:
    return change.journal_row if change.journal_row is not None else last_row(conn) + 1
