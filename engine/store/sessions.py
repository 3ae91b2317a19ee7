"""Sessions: conversations in a tree of parents and children."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

from sqlalchemy import Connection, bindparam, insert, select, tuple_, update

from engine.events import LIVE_STATUSES
from engine.store import state, tokenizer, transcript
from engine.store.errors import NotFound, SessionRefused
from engine.store.hidden_sessions import is_hidden
from engine.store.json_text import decode
from engine.store.row_mapping import driver_of, every, merged, one, teach_folding, values
from engine.store.state import ChangeOrigin
from engine.store.tables import sessions
from engine.store.transcript_line import TranscriptLine

ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")
LAST: Final = "last"
# Built once: every message needs these.
_SHOWN: Final = select(*(column for column in sessions.c if column.name != "deleted_at")).where(
    sessions.c.deleted_at.is_(None)
)
"""The sessions that are not hidden."""
_GET: Final = _SHOWN.where(sessions.c.session_id == bindparam("session_id"))
_TOUCH: Final = "UPDATE sessions SET last_active = ?, message_count = message_count + ? WHERE session_id = ?"
FORK: Final = "fork"
"""The editor of the state that a fork starts with."""
FORKED_FROM: Final = "forked_from"
"""Key in a session's metadata: the session whose lines it started with."""


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
    """Exchanges, not lines."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Summary:
    """A session and the number of lines of its transcript."""

    session: Session
    history_length: int


def checked(session_id: str) -> str:
    if ID.fullmatch(session_id) is None:
        raise SessionRefused(
            f"{session_id[:140]!r} is not a valid session id. "
            "Use 1 to 128 letters, digits or any of . _ : - (no spaces)."
        )
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
    if found is not None:
        return found
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
    title: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Session:
    """Create a child, with the root and the user of the parent and one more level of depth."""
    parent = get(conn, parent_id)
    if _find(conn, checked(child_id)) is not None:
        raise SessionRefused(f"session {child_id} exists already; choose another id.")
    return _add(
        conn,
        Session(
            session_id=child_id,
            parent_session_id=parent_id,
            root_session_id=parent.root_session_id,
            depth=parent.depth + 1,
            user_id=parent.user_id,
            title=title,
            created_at=at,
            last_active=at,
            metadata=dict(metadata or {}),
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
    child = spawn(
        conn,
        parent_id,
        child_id,
        at=at,
        title=f"{parent.title or parent_id} (fork)" if title is None else title,
        metadata={FORKED_FROM: parent_id, "forked_at": last.transcript_id},
    )
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
        raise NotFound(f"no session {session_id}. `trackside sessions` lists them.")
    return session


def is_there(conn: Connection, session_id: str) -> bool:
    return _find(conn, session_id) is not None


def find(conn: Connection, name: str) -> Session:
    """Return the session that the user named: by its id, or 'last' for the one that was last active."""
    session = _find(conn, name)
    if session is None and name == LAST:
        session = next(iter(page(conn, limit=1)), None)
        if session is None:
            raise NotFound("there is no session yet. `trackside run` starts one.")
    return session or get(conn, name)


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


def touch(conn: Connection, session_id: str, *, at: int, exchanges: int = 0) -> None:
    """Set when the session was last active, and add the number of completed exchanges."""
    if not driver_of(conn).execute(_TOUCH, (at, exchanges, session_id)).rowcount:
        get(conn, session_id)


def rename(conn: Connection, session_id: str, title: str | None) -> None:
    _change(conn, session_id, title=title)


def set_metadata(conn: Connection, session_id: str, metadata: Mapping[str, Any]) -> Session:
    """Merge values into the metadata; existing keys are replaced. Returns the session."""
    _change(conn, session_id, metadata=merged(get(conn, session_id).metadata, metadata))
    return get(conn, session_id)


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
