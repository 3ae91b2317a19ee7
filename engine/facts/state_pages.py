"""State as a person looks through it: rows in pages, what became of a key, and the scopes that there are."""

from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, LargeBinary, Select, cast, func, or_, select, tuple_

from engine.facts import event_log, runs
from engine.facts.errors import Ambiguous, NotFound
from engine.facts.json_text import decode
from engine.facts.scopes import Scope, ScopeIdentity, identify
from engine.facts.state import canonical, seen_from
from engine.facts.tables import state, state_changes

GLIMPSE: Final = 240
"""Characters of a value that a list is given; a page of whole ones could be 25 MiB."""

_IDENTITY: Final = tuple(state.c[name] for name in ScopeIdentity.__dataclass_fields__)
_WHOSE: Final = (state.c.runner_id, state.c.conversation_id, state.c.actor_id, state.c.subject_id)


class StateRow(NamedTuple):
    """One key as a list shows it."""

    identity: ScopeIdentity
    key: str
    glimpse: str
    """The beginning of the value's JSON."""
    size: int
    """Bytes of the whole value."""
    updated_at: int
    editor: str | None
    """Who wrote it last: runner, person or fork. Nothing where that is not known any more."""
    run_id: str | None
    position: int | None


class StateChange(NamedTuple):
    """One change of a key."""

    number: int
    """Rises with every change of any key."""
    glimpse: str | None
    """The beginning of what it became; None where it was deleted."""
    size: int
    editor: str
    run_id: str | None
    position: int | None
    """The entry of the run that made it."""
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
    """Keys of all scopes, those of one scope side by side, after a row.

    `text` is looked for in the key and in whose it is, whatever the case of ASCII letters.
    """
    order = (state.c.scope_key, state.c.state_key)
    query = (
        select(
            state.c.scope_key,
            *_IDENTITY,
            state.c.state_key,
            func.substr(state.c.value, 1, GLIMPSE).label("glimpse"),
            func.length(cast(state.c.value, LargeBinary)).label("size"),
            state.c.updated_at,
        )
        .order_by(*order)
        .limit(limit)
    )
    if scope is not None:
        # Its keys begin with its name, so this is a range of the primary key.
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
    """The rows of a page with the last change of each; of those that were passed over nothing is looked up."""
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
    """The whole value as it is, or as one of its changes left it."""
    key = canonical(key)
    table = state if change is None else state_changes
    query = select(table.c.value).where(table.c.scope_key == identity.key, table.c.state_key == key)
    if change is not None:
        query = query.where(state_changes.c.change == change)
    text = conn.execute(query).scalar()
    if text is None:
        raise NotFound(f"nothing is kept under {key!r} there" + ("." if change is None else " by that change."))
    return decode(text)


def written_at(conn: Connection, identity: ScopeIdentity, key: str) -> int | None:
    """When a key was last written; None where nothing is kept under it."""
    query = select(state.c.updated_at).where(state.c.scope_key == identity.key, state.c.state_key == canonical(key))
    return conn.execute(query).scalar()


def changes(
    conn: Connection, identity: ScopeIdentity, key: str, *, before: int | None = None, limit: int = 100
) -> list[StateChange]:
    """What became of a key, newest first, before a change's number."""
    columns = state_changes.c
    query = (
        select(
            columns.change,
            func.substr(columns.value, 1, GLIMPSE),
            func.coalesce(func.length(cast(columns.value, LargeBinary)), 0),
            columns.editor,
            columns.run_id,
            columns.position,
            columns.at,
        )
        .where(columns.scope_key == identity.key, columns.state_key == canonical(key))
        .order_by(columns.change.desc())
        .limit(limit)
    )
    if before is not None:
        query = query.where(columns.change < before)
    return [StateChange(*row) for row in conn.execute(query)]


def scopes_of_run(conn: Connection, run_id: str) -> dict[Scope, ScopeIdentity]:
    """The scopes that a run was given, empty ones too."""
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
        # What the run was given has the last word; where the event was pruned, only a row can tell who its actor was.
        if identity is None or identity.key != scope_key:
            identity = _of_rows(conn, scope_key)
        if identity is not None:
            found[Scope(name)] = identity
    return found


def find_scope(conn: Connection, name: str) -> ScopeIdentity:
    """The scope of this key, or of the one key that begins so, as far as something is kept in it."""
    query = select(state.c.scope_key).where(state.c.scope_key >= name, state.c.scope_key < name + "\U0010ffff")
    found = list(conn.execute(query.distinct().limit(2)).scalars()) if name else []
    if len(found) > 1:
        raise Ambiguous(f"{name!r} fits several scopes. Type more of the key.")
    identity = _of_rows(conn, found[0]) if found else None
    if identity is None:
        raise NotFound(f"no scope {name!r} in which something is kept. `trackside state --json` has their keys.")
    return identity


def _of_rows(conn: Connection, scope_key: str) -> ScopeIdentity | None:
    row = conn.execute(select(*_IDENTITY).where(state.c.scope_key == scope_key).limit(1)).first()
    return None if row is None else _identity(*row)


def _identity(scope: str, *parts: Any) -> ScopeIdentity:
    names = list(ScopeIdentity.__dataclass_fields__)[1:]
    return ScopeIdentity(scope=Scope(scope), **dict(zip(names, parts, strict=True)))
