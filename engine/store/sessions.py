"""Sessions: conversations in a tree of parents and children."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

from sqlalchemy import Connection, bindparam, insert, select, tuple_, update

from engine.events import LIVE_STATUSES, SESSION_ID, SESSION_ID_RULE
from engine.store import state, tokenizer, transcript
from engine.store.errors import Ambiguous, NotFound, SessionRefused
from engine.store.hidden_sessions import is_hidden
from engine.store.json_text import decode, encode
from engine.store.row_mapping import driver_of, every, merged, one, teach_folding, values
from engine.store.state import ChangeOrigin
from engine.store.tables import sessions
from engine.store.transcript_line import TranscriptLine

LAST: Final = "last"
# Built once: every message needs these.
_SHOWN: Final = select(*(column for column in sessions.c if column.name != "deleted_at")).where(
    sessions.c.deleted_at.is_(None)
)
"""The sessions that are not hidden."""
_GET: Final = _SHOWN.where(sessions.c.session_id == bindparam("session_id"))
_TOUCH: Final = "UPDATE sessions SET last_active = ? WHERE session_id = ?"
_ADD_RUN: Final = """
    UPDATE sessions SET message_count = message_count + 1, runner_id = ?, agent_id = ?, project = ? WHERE session_id = ?
"""
_ADD_MESSAGE: Final = "UPDATE sessions SET message_count = message_count + 1 WHERE session_id = ?"
_FAMILY: Final = """
    WITH RECURSIVE family (session_id) AS (
        VALUES (:id) UNION SELECT sessions.session_id FROM sessions, family
        WHERE sessions.parent_session_id = family.session_id AND sessions.deleted_at IS NULL LIMIT :limit
    ) SELECT session_id FROM family
"""
MAX_METADATA_BYTES: Final = 65_536
FORK: Final = "fork"
"""The editor of the state that a fork starts with."""
FORKED_FROM: Final = "forked_from"
"""Key in a session's metadata: the session whose lines it started with."""
FORKED_AT: Final = "forked_at"
"""Key in a session's metadata: the last line that it started with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation. The root of a root session is itself."""

    session_id: str
    root_session_id: str
    created_at: int
    last_active: int
    parent_session_id: str | None = None
    """Kept when the parent is deleted, to show where the session came from."""
    depth: int = 0
    user_id: str | None = None
    title: str | None = None
    message_count: int = 0
    """Events that started or joined a run."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    runner_id: str | None = None
    """Of the last run, as are the next two; None before the first run."""
    agent_id: str | None = None
    project: str | None = None
    """The project's folder; None if a version that did not record it made the run."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A session and the number of lines of its transcript."""

    session: Session
    history_length: int


def checked(session_id: str) -> str:
    if SESSION_ID.fullmatch(session_id) is None:
        raise SessionRefused(f"{session_id[:140]!r} is not a valid session id. Use {SESSION_ID_RULE}.")
    return session_id


def ensure(
    conn: Connection,
    session_id: str,
    *,
    at: int,
    user_id: str | None = None,
    title: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Session:
    """Return the session with this id; create it as a root if it does not exist. Does not change an existing one."""
    found = _find(conn, checked(session_id))
    return _add_root(conn, session_id, at, user_id, title, metadata) if found is None else found


def create(
    conn: Connection,
    session_id: str,
    *,
    at: int,
    user_id: str | None = None,
    title: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Session:
    """Create a root session before its first message. Raises SessionRefused if the id is taken."""
    _check_unused(conn, session_id)
    return _add_root(conn, session_id, at, user_id, title, _own_metadata(metadata))


def _add_root(
    conn: Connection,
    session_id: str,
    at: int,
    user_id: str | None,
    title: str | None,
    metadata: Mapping[str, Any] | None,
) -> Session:
    return _add(
        conn,
        Session(
            session_id=session_id,
            root_session_id=session_id,
            created_at=at,
            last_active=at,
            user_id=user_id,
            title=title,
            metadata=dict(metadata or {}),
        ),
    )


def spawn(
    conn: Connection,
    parent_id: str,
    child_id: str,
    *,
    at: int,
    user_id: str | None = None,
    title: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Session:
    """Create an empty child. Root, depth and, unless it is given, the user follow from the parent."""
    parent = get(conn, parent_id)
    _check_unused(conn, child_id)
    _check_not_above(conn, parent, child_id)
    return _add_child(conn, parent, child_id, at, user_id, title, _own_metadata(metadata))


def _add_child(
    conn: Connection,
    parent: Session,
    child_id: str,
    at: int,
    user_id: str | None,
    title: str | None,
    metadata: Mapping[str, Any],
) -> Session:
    return _add(
        conn,
        Session(
            session_id=child_id,
            parent_session_id=parent.session_id,
            root_session_id=parent.root_session_id,
            depth=parent.depth + 1,
            user_id=parent.user_id if user_id is None else user_id,
            title=title,
            created_at=at,
            last_active=at,
            metadata=metadata,
        ),
    )


def fork(
    conn: Connection,
    parent_id: str,
    child_id: str,
    *,
    until: int | str | None,
    at: int,
    new_id: Callable[[], str],
    title: str | None = None,
) -> Session:
    """Create a child with the parent's transcript up to one line, and with the state at that time.

    The line is named by its `seq` or its id; None means all current lines. `new_id` makes the ids of the copied lines.
    """
    parent, last = get(conn, parent_id), transcript.line_of(conn, parent_id, until)
    _check_unused(conn, child_id)
    own_title = f"{parent.title or parent_id} (fork)" if title is None else title
    origin = {FORKED_FROM: parent_id, FORKED_AT: last.transcript_id}
    child = _add_child(conn, parent, child_id, at, None, own_title, origin)
    transcript.copy(conn, parent_id, child_id, until=last.seq, new_id=new_id)
    if until is None:
        # State that a run wrote after its last message belongs to the end of the conversation and to no line.
        source, then = parent, at
    else:
        source, then = _of_then(conn, parent, last)
    state.copy(conn, source.session_id, child_id, until=then, change=ChangeOrigin(editor=FORK, at=at))
    return child


def _of_then(conn: Connection, session: Session, line: TranscriptLine) -> tuple[Session, int]:
    """Return whose state to copy, and as of which time: those of the original if the line is a copy.

    Stops at a copy whose original was deleted.
    """
    while session.parent_session_id is not None and (name := line.metadata.get("forked_from")) is not None:
        try:
            line = transcript.line_of(conn, session.parent_session_id, name)
        except NotFound:
            break
        session = get(conn, line.conversation_id)
    # A copied line is older than its session, whose state of that time is the state that the session started with.
    return session, max(line.created_at, session.created_at)


def get(conn: Connection, session_id: str) -> Session:
    session = _find(conn, session_id)
    if session is None:
        raise _unknown(session_id)
    return session


def _unknown(name: str) -> NotFound:
    return NotFound(f"no session {name[:300]}. `trackside sessions` lists them.")


def is_there(conn: Connection, session_id: str) -> bool:
    return _find(conn, session_id) is not None


def find(conn: Connection, name: str, *, by_beginning: bool = False) -> Session:
    """Return the session that the user named: by its id, or as 'last' for the last active one.

    With `by_beginning` also by the beginning of just one id. An exact id wins over 'last', and both over a beginning.
    """
    if SESSION_ID.fullmatch(name) is None:  # also text that SQLite cannot compare
        raise _unknown(name)
    session = _find(conn, name)
    if session is None and name == LAST:
        session = next(iter(page(conn, limit=1)), None)
        if session is None:
            raise NotFound("there is no session yet. `trackside run` starts one.")
    if session is None and by_beginning:
        session = _find_by_beginning(conn, name)
    return session or get(conn, name)


def _find_by_beginning(conn: Connection, name: str) -> Session | None:
    """Return the only session whose id starts like this. Raises Ambiguous if there are several."""
    # A range and not LIKE: it uses the index, and an id may contain % and _.
    query = _SHOWN.where(sessions.c.session_id >= name, sessions.c.session_id < name + "\U0010ffff")
    found = every(conn, query.order_by(sessions.c.session_id).limit(6), Session)
    if len(found) > 1:
        shown = ", ".join(session.session_id for session in found[:5]) + (", …" if len(found) > 5 else "")
        raise Ambiguous(f"{name!r} matches several sessions: {shown}. Type more of the id.")
    return found[0] if found else None


def summary(conn: Connection, session_id: str) -> Summary:
    return Summary(get(conn, session_id), transcript.length(conn, session_id))


def page(conn: Connection, *, user_id: str | None = None, before: str | None = None, limit: int = 100) -> list[Session]:
    """Return sessions of a user or of all, the last active first; `before` is a session id."""
    order = tuple_(sessions.c.last_active, sessions.c.session_id)
    query = _SHOWN.order_by(sessions.c.last_active.desc(), sessions.c.session_id.desc()).limit(limit)
    if user_id is not None:
        query = query.where(sessions.c.user_id == user_id)
    if before is not None:
        edge = select(sessions.c.last_active, sessions.c.session_id).where(sessions.c.session_id == before)
        query = query.where(order < edge.scalar_subquery())
    return every(conn, query, Session)


def children(conn: Connection, session_id: str) -> list[Session]:
    """Return the direct children, oldest first."""
    query = _SHOWN.where(sessions.c.parent_session_id == session_id)
    return every(conn, query.order_by(sessions.c.created_at, sessions.c.session_id), Session)


def family(conn: Connection, session_id: str, *, limit: int) -> list[str]:
    """Return the ids of a session and of its descendants, the nearest first."""
    get(conn, session_id)
    return [row[0] for row in driver_of(conn).execute(_FAMILY, {"id": session_id, "limit": limit})]


def touch(conn: Connection, session_id: str, *, at: int) -> None:
    """Set when the session was last active."""
    if not driver_of(conn).execute(_TOUCH, (at, session_id)).rowcount:
        get(conn, session_id)


def add_run(
    conn: Connection, session_id: str, *, runner_id: str, agent_id: str | None = None, project: str | None = None
) -> None:
    """Count the event of a new run, and remember who runs it. A conversation without a session is left alone."""
    driver_of(conn).execute(_ADD_RUN, (runner_id, agent_id, project, session_id))


def add_message(conn: Connection, session_id: str) -> None:
    """Count an event that joined a run."""
    driver_of(conn).execute(_ADD_MESSAGE, (session_id,))


def rename(conn: Connection, session_id: str, title: str | None) -> None:
    _change(conn, session_id, title=title)


def set_metadata(
    conn: Connection, session_id: str, metadata: Mapping[str, Any], *, remove: Collection[str] = ()
) -> Session:
    """Merge values into the metadata: existing keys are replaced, and those in `remove` are removed.

    Returns the session.
    """
    _refuse_keys_of_forks({*metadata, *remove})
    known = get(conn, session_id).metadata
    kept = {key: value for key, value in known.items() if key not in remove}
    _change(conn, session_id, metadata=_checked_metadata(merged(kept, metadata)))
    return get(conn, session_id)


def _refuse_keys_of_forks(keys: Collection[str]) -> None:
    """Raise SessionRefused if a user sets or removes a key that says where a session was forked."""
    for key in (FORKED_FROM, FORKED_AT):
        if key in keys:
            raise SessionRefused(f"{key} is set by a fork and cannot be changed. Use another key.")


def _own_metadata(metadata: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the metadata that a user gives a new session."""
    _refuse_keys_of_forks(metadata or {})
    return _checked_metadata(metadata or {})


def _checked_metadata(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a copy. Raises SessionRefused if the metadata is not JSON or too large."""
    try:
        size = len(encode(dict(metadata)).encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise SessionRefused(f"the metadata is not JSON: {error}. Use text, numbers, lists and objects.") from error
    if size > MAX_METADATA_BYTES:
        raise SessionRefused(
            f"the metadata has {size:,} bytes of JSON; at most {MAX_METADATA_BYTES:,} are allowed. Remove some of it."
        )
    return dict(metadata)


def _check_unused(conn: Connection, session_id: str) -> None:
    if _find(conn, checked(session_id)) is not None:
        raise SessionRefused(f"session {session_id} exists already; choose another id.")


def _check_not_above(conn: Connection, parent: Session, child_id: str) -> None:
    """Raise SessionRefused if the child has the id of a deleted session above its parent: the tree would be a loop."""
    above = parent
    while above.parent_session_id is not None:
        if above.parent_session_id == child_id:
            raise SessionRefused(
                f"{child_id} was a session above {parent.session_id} and cannot be its child; choose another id."
            )
        found = _find(conn, above.parent_session_id)
        if found is None:
            return
        above = found


def _find(conn: Connection, session_id: str) -> Session | None:
    return one(conn, _GET, Session, {"session_id": session_id})


def _add(conn: Connection, session: Session) -> Session:
    if is_hidden(conn, session.session_id):
        raise SessionRefused(
            f"session {session.session_id} was deleted a moment ago; choose another id, or try again in 8 seconds."
        )
    conn.execute(insert(sessions).values(values(session)))
    return session


def _change(conn: Connection, session_id: str, **columns: Any) -> None:
    shown = (sessions.c.session_id == session_id, sessions.c.deleted_at.is_(None))
    if not conn.execute(update(sessions).where(*shown).values(columns)).rowcount:
        get(conn, session_id)


MAX_COUNTED: Final = 10_000
"""Runs, lines and children are counted up to this number, to bound the cost: larger numbers are not useful."""
BEGINNING: Final = 200
"""Characters of the first line."""

_COLUMNS: Final = tuple(each.name for each in fields(Session))
_LIVE: Final = ", ".join(f"'{status}'" for status in sorted(LIVE_STATUSES))
# Only the sessions of one page are looked up, each by an index. Every index of `runs` contains the rowid, which rises
# with each new run: finding a session's newest run reads no other rows.
_PAGE: Final = f"""
    WITH these AS (
        SELECT {", ".join(_COLUMNS)} FROM sessions WHERE {{conditions}}
        ORDER BY last_active DESC, session_id DESC LIMIT :limit
    )
    SELECT these.*,
        (SELECT substr(content, 1, {BEGINNING}) FROM transcript
         WHERE conversation_id = these.session_id ORDER BY seq LIMIT 1),
        (SELECT count(*) FROM (SELECT 1 FROM runs WHERE conversation_id = these.session_id LIMIT {MAX_COUNTED})),
        (SELECT count(*) FROM (SELECT 1 FROM transcript WHERE conversation_id = these.session_id LIMIT {MAX_COUNTED})),
        (SELECT count(*) FROM (
            SELECT 1 FROM sessions WHERE parent_session_id = these.session_id AND deleted_at IS NULL LIMIT {MAX_COUNTED}
        )),
        (SELECT run_id FROM runs WHERE conversation_id = these.session_id AND status IN ({_LIVE})
         ORDER BY created_at LIMIT 1),
        last.run_id, last.status, last.status_reason
    FROM these LEFT JOIN runs AS last
    ON last.rowid = (SELECT max(rowid) FROM runs WHERE conversation_id = these.session_id)
    ORDER BY these.last_active DESC, these.session_id DESC
"""  # noqa: S608  (names of columns and our own conditions)
_HOLDS: Final = """
    NOT EXISTS (
        SELECT 1 FROM json_each(:words) WHERE instr(folded(coalesce(title, '') || ' ' || session_id), value) = 0
    )
"""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session as a row of a list."""

    session: Session
    beginning: str | None
    """The start of the first line, to show instead of a missing title."""
    runs: int
    lines: int
    children: int
    """Forked and spawned children together."""
    live_run: str | None
    """The run in progress; the oldest one if several threads have one."""
    last_run: str | None
    last_status: str | None
    last_reason: str | None

    @property
    def is_fork(self) -> bool:
        """Return whether the session started with the lines of its parent; a spawned child starts empty."""
        return FORKED_FROM in self.session.metadata


def browse_page(
    conn: Connection,
    *,
    text: str = "",
    user_id: str | None = None,
    parent_id: str | None = None,
    ids: Sequence[str] | None = None,
    before: SessionRow | None = None,
    limit: int = 100,
) -> list[SessionRow]:
    """Return sessions, the last active first; with `before`, those less recently active than that row.

    All words of `text` must be in the title or id, in any order and in any case. `parent_id` selects the children of a
    session, `ids` the existing sessions with these ids.
    """
    conditions = ["deleted_at IS NULL"]
    given: dict[str, Any] = {
        "limit": limit,
        "words": json.dumps(tokenizer.folded(text).split()),
        "user": user_id,
        "parent": parent_id,
    }
    if user_id is not None:
        conditions.append("user_id = :user")
    if parent_id is not None:
        conditions.append("parent_session_id = :parent")
    if ids is not None:
        conditions.append("session_id IN (SELECT value FROM json_each(:ids))")
        given["ids"] = json.dumps(list(ids))
    if before is not None:
        conditions.append("(last_active, session_id) < (:active, :id)")
        given |= {"active": before.session.last_active, "id": before.session.session_id}
    if text.strip():
        teach_folding(conn)
        conditions.append(_HOLDS)
    statement = _PAGE.format(conditions=" AND ".join(conditions))
    return [_row(row) for row in driver_of(conn).execute(statement, given)]


def _row(row: tuple[Any, ...]) -> SessionRow:
    columns = dict(zip(_COLUMNS, row, strict=False))
    return SessionRow(Session(**columns | {"metadata": decode(columns["metadata"])}), *row[len(_COLUMNS) :])
