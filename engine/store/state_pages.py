"""Pages of state for browsing, the changes of a key, and the scopes."""

from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, LargeBinary, Select, cast, func, or_, select, tuple_

from engine.store import event_log, runs
from engine.store.errors import Ambiguous, NotFound
from engine.store.hidden_sessions import is_shown
from engine.store.json_text import decode
from engine.store.scope_identity import Scope, ScopeIdentity, identify
from engine.store.state import canonical, seen_from, shown
from engine.store.tables import state, state_changes

GLIMPSE: Final = 240
"""Characters of a value that a list contains; a page of whole values could be 25 MiB."""

_IDENTITY: Final = tuple(state.c[name] for name in ScopeIdentity.__dataclass_fields__)
_WHOSE: Final = (state.c.runner_id, state.c.conversation_id, state.c.actor_id, state.c.subject_id)


class StateRow(NamedTuple):
    """One key as a row of a list."""

    identity: ScopeIdentity
    key: str
    glimpse: str
    """The start of the value's JSON."""
    size: int
    """Bytes of the whole value as it is shown."""
    created_at: int
    """When the key was written first, since it was deleted last."""
    updated_at: int
    editor: str | None
    """Who wrote the value last: runner, user or fork. None if that is no longer known."""
    run_id: str | None
    position: int | None


class StateChange(NamedTuple):
    """One change of a key."""

    number: int
    """Rises with every change of any key."""
    glimpse: str | None
    """The start of the new value; None if the key was deleted."""
    size: int
    editor: str
    run_id: str | None
    position: int | None
    """The position of the entry that made the change."""
    at: int


def page(
    conn: Connection,
    *,
    scope: Scope | None = None,
    runner_id: str | None = None,
    conversation_id: str | None = None,
    text: str = "",
    after: StateRow | None = None,
    limit: int = 100,
) -> list[StateRow]:
    """Return keys of all scopes, ordered by scope and key, after a row.

    `text` is searched for in the key and in the ids of its owner. Case is ignored for ASCII letters.
    """
    order = (state.c.scope_key, state.c.state_key)
    query = (
        select(
            state.c.scope_key,
            *_IDENTITY,
            state.c.state_key,
            func.substr(shown(state), 1, GLIMPSE).label("glimpse"),
            func.length(cast(shown(state), LargeBinary)).label("size"),
            state.c.created_at,
            state.c.updated_at,
        )
        .where(is_shown(state.c.conversation_id))
        .order_by(*order)
        .limit(limit)
    )
    if scope is not None:
        # The keys of a scope start with its name, so this is a range of the primary key.
        query = query.where(state.c.scope_key >= f"{scope}:", state.c.scope_key < f"{scope};")
    if runner_id is not None:
        query = query.where(state.c.runner_id == runner_id)
    if conversation_id is not None:
        query = query.where(seen_from(conversation_id))
    if text:
        wanted = func.lower(text)
        query = query.where(or_(*(func.instr(func.lower(column), wanted) for column in (state.c.state_key, *_WHOSE))))
    if after is not None:
        query = query.where(tuple_(*order) > tuple_(after.identity.key, after.key))
    return [_row(*row) for row in conn.execute(_with_writer(query))]


def _with_writer(rows: Select[Any]) -> Select[Any]:
    """Join the rows of a page with the last change of each. No changes of other rows are read."""
    these, others = rows.subquery(), state_changes.alias()
    newest = (
        select(func.max(others.c.change))
        .where(others.c.scope_key == these.c.scope_key, others.c.state_key == these.c.state_key)
        .scalar_subquery()
    )
    changes = state_changes.c
    return (
        select(these, changes.editor, changes.run_id, changes.position)
        .select_from(these.outerjoin(state_changes, changes.change == newest))
        .order_by(these.c.scope_key, these.c.state_key)
    )


def _row(_scope_key: str, *columns: Any) -> StateRow:
    return StateRow(_identity(*columns[: len(_IDENTITY)]), *columns[len(_IDENTITY) :])


def value(conn: Connection, identity: ScopeIdentity, key: str, *, change: int | None = None) -> Any:
    """Return the whole current value as it is shown, or the value after one of its changes."""
    key = canonical(key)
    table = state if change is None else state_changes
    query = select(shown(table)).where(table.c.scope_key == identity.key, table.c.state_key == key)
    query = query.where(is_shown(table.c.conversation_id))
    if change is not None:
        query = query.where(state_changes.c.change == change)
    text = conn.execute(query).scalar()
    if text is None:
        missing = "the scope has no key" if change is None else f"change {change} has no value for"
        raise NotFound(f"{missing} {key!r}.")
    return decode(text)


def written_at(conn: Connection, identity: ScopeIdentity, key: str) -> int | None:
    """Return when a key was last written; None if it is missing."""
    query = select(state.c.updated_at).where(state.c.scope_key == identity.key, state.c.state_key == canonical(key))
    return conn.execute(query).scalar()


def changes(
    conn: Connection, identity: ScopeIdentity, key: str, *, before: int | None = None, limit: int = 100
) -> list[StateChange]:
    """Return the changes of a key, newest first, before a change's number."""
    columns = state_changes.c
    query = (
        select(
            columns.change,
            func.substr(shown(state_changes), 1, GLIMPSE),
            func.coalesce(func.length(cast(shown(state_changes), LargeBinary)), 0),
            columns.editor,
            columns.run_id,
            columns.position,
            columns.at,
        )
        .where(columns.scope_key == identity.key, columns.state_key == canonical(key))
        .where(is_shown(columns.conversation_id))
        .order_by(columns.change.desc())
        .limit(limit)
    )
    if before is not None:
        query = query.where(columns.change < before)
    return [StateChange(*row) for row in conn.execute(query)]


def scopes_of_run(conn: Connection, run_id: str) -> dict[Scope, ScopeIdentity]:
    """Return the scopes that a run was granted, including empty ones."""
    run = runs.get(conn, run_id)
    event = event_log.seen(conn, run.event_id) if run.event_id is not None else None
    granted: dict[str, str] = (run.authorization or {}).get("state_scopes", {})
    found: dict[Scope, ScopeIdentity] = {}
    for name, scope_key in granted.items():
        identity = identify(
            Scope(name),
            runner_id=run.runner_id,
            binding_id=run.binding_id or "",
            bot_id=run.bot_id,
            workspace_id=run.workspace_id,
            conversation_id=run.conversation_id,
            thread_id=run.thread_id,
            actor_type=event.actor_type if event else None,
            actor_id=event.actor_id if event else None,
            subject_type=event.subject_type if event else None,
            subject_id=event.subject_id if event else None,
        )
        # The granted key decides. If the event was pruned, only a stored row knows the actor.
        if identity is None or identity.key != scope_key:
            identity = _of_rows(conn, scope_key)
        if identity is not None:
            found[Scope(name)] = identity
    return found


def find_scope(conn: Connection, name: str) -> ScopeIdentity:
    """Return the scope with this key, or with the only key that starts so. Empty scopes are not found."""
    query = select(state.c.scope_key).where(state.c.scope_key >= name, state.c.scope_key < name + "\U0010ffff")
    query = query.where(is_shown(state.c.conversation_id))
    found = list(conn.execute(query.distinct().limit(2)).scalars()) if name else []
    if len(found) > 1:
        raise Ambiguous(f"{name!r} matches several scopes. Type more of the key.")
    identity = _of_rows(conn, found[0]) if found else None
    if identity is None:
        raise NotFound(f"no scope {name!r} with saved state. `trackside state --json` lists the scope keys.")
    return identity


def _of_rows(conn: Connection, scope_key: str) -> ScopeIdentity | None:
    row = conn.execute(select(*_IDENTITY).where(state.c.scope_key == scope_key).limit(1)).first()
    return None if row is None else _identity(*row)


def _identity(scope: str, *parts: Any) -> ScopeIdentity:
    names = list(ScopeIdentity.__dataclass_fields__)[1:]
    return ScopeIdentity(scope=Scope(scope), **dict(zip(names, parts, strict=True)))
