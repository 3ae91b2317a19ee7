"""Sessions: conversations with a place in a tree."""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, bindparam, insert, or_, select, tuple_, update

from engine.facts import state, transcript
from engine.facts.artifacts import delete_orphans
from engine.facts.errors import NotFound, SessionRefused
from engine.facts.line import Line
from engine.facts.retention import Deleted, audit, delete_where
from engine.facts.rows import driver_of, every, merged, one, values
from engine.facts.runs import LIVE
from engine.facts.state import Change
from engine.facts.tables import artifacts, journal, queue, runs, sessions, state_changes
from engine.facts.tables import state as state_rows
from engine.facts.tables import transcript as lines

ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")
LAST: Final = "last"
# Built once: every message asks these.
_GET: Final = select(sessions).where(sessions.c.session_id == bindparam("session_id"))
_TOUCH: Final = "UPDATE sessions SET last_active = ?, message_count = message_count + ? WHERE session_id = ?"
FORK: Final = "fork"
"""Who wrote the state that a fork began with."""
FORKED_FROM: Final = "forked_from"
"""In the metadata of a session: the one whose lines it began with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation. A root's root is itself."""

    session_id: str
    root_session_id: str
    created_at: int
    last_active: int
    parent_session_id: str | None = None
    """Stays when the parent is deleted: it says where this one came from."""
    depth: int = 0
    user_id: str | None = None
    title: str | None = None
    message_count: int = 0
    """Exchanges, not lines."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Summary:
    """A session and how many lines its transcript has."""

    session: Session
    history_length: int


def checked(session_id: str) -> str:
    if ID.fullmatch(session_id) is None:
        raise SessionRefused(
            f"{session_id[:140]!r} cannot be a session id: 1 to 128 letters, digits or any of . _ : - (no spaces)."
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
    """The session of this id, made a root if it is new; one that exists is left as it is."""
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
    """A child: root and depth follow from the parent, and the user is the parent's."""
    parent = get(conn, parent_id)
    if _find(conn, checked(child_id)) is not None:
        raise SessionRefused(f"session {child_id} exists already; give the child another id.")
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
    """A child that starts with the parent's transcript up to one line, and with the state that it had then.

    The line is named by its `seq` or its id; none means all that is there now. `new_id` names the copied lines.
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
        # What a run remembers after its last words belongs to where the conversation stands, and to no line.
        source, then = parent, at
    else:
        source, then = _of_then(conn, parent, last)
    state.copy(conn, source.session_id, child_id, until=then, change=Change(editor=FORK, at=at))
    return child


def _of_then(conn: Connection, session: Session, line: Line) -> tuple[Session, int]:
    """Whose state was there when a line was said, and when; a copy's is its parent's, as far as that is still there."""
    while session.parent_session_id is not None and (name := line.metadata.get("forked_from")) is not None:
        try:
            line = transcript.line_of(conn, session.parent_session_id, name)
        except NotFound:
            break
        session = get(conn, line.conversation_id)
    # A copy is older than its session, which has no other state of then than what it began with.
    return session, max(line.created_at, session.created_at)


def get(conn: Connection, session_id: str) -> Session:
    session = _find(conn, session_id)
    if session is None:
        raise NotFound(f"no session {session_id}. `trackside sessions` lists them.")
    return session


def is_there(conn: Connection, session_id: str) -> bool:
    return _find(conn, session_id) is not None


def find(conn: Connection, name: str) -> Session:
    """The session that a person means: an id, or 'last' for the one that was active last."""
    session = _find(conn, name)
    if session is None and name == LAST:
        session = next(iter(page(conn, limit=1)), None)
        if session is None:
            raise NotFound("there is no session yet. `trackside run` starts one.")
    return session or get(conn, name)


def summary(conn: Connection, session_id: str) -> Summary:
    return Summary(get(conn, session_id), transcript.length(conn, session_id))


def page(conn: Connection, *, user_id: str | None = None, before: str | None = None, limit: int = 100) -> list[Session]:
    """Sessions of a user or of all, the last active first; `before` is a session id."""
    order = tuple_(sessions.c.last_active, sessions.c.session_id)
    query = select(sessions).order_by(sessions.c.last_active.desc(), sessions.c.session_id.desc()).limit(limit)
    if user_id is not None:
        query = query.where(sessions.c.user_id == user_id)
    if before is not None:
        edge = select(sessions.c.last_active, sessions.c.session_id).where(sessions.c.session_id == before)
        query = query.where(order < edge.scalar_subquery())
    return every(conn, query, Session)


def children(conn: Connection, session_id: str) -> list[Session]:
    """Its direct children, oldest first."""
    query = select(sessions).where(sessions.c.parent_session_id == session_id)
    return every(conn, query.order_by(sessions.c.created_at, sessions.c.session_id), Session)


def touch(conn: Connection, session_id: str, *, at: int, exchanges: int = 0) -> None:
    """Something happened in it; `exchanges` were completed."""
    if not driver_of(conn).execute(_TOUCH, (at, exchanges, session_id)).rowcount:
        get(conn, session_id)


def rename(conn: Connection, session_id: str, title: str | None) -> None:
    _change(conn, session_id, title=title)


def set_metadata(conn: Connection, session_id: str, metadata: Mapping[str, Any]) -> Session:
    """Add to what is noted of it; a key that is there already is replaced."""
    _change(conn, session_id, metadata=merged(get(conn, session_id).metadata, metadata))
    return get(conn, session_id)


def delete(conn: Connection, session_id: str, *, at: int, event_id: str) -> Deleted:
    """Delete it with its transcript, conversation state, artifacts and runs; its children live on."""
    get(conn, session_id)
    own = select(runs.c.run_id).where(runs.c.conversation_id == session_id)
    at_work = conn.execute(own.where(runs.c.status.in_(LIVE)).limit(1)).scalar()
    if at_work is not None:
        raise SessionRefused(
            f"session {session_id} is busy with run {at_work}; cancel it first: `trackside cancel {at_work}`."
        )
    its_artifacts = or_(artifacts.c.conversation_id == session_id, artifacts.c.run_id.in_(own))
    deleted = Deleted(
        journal=delete_where(conn, journal, journal.c.run_id.in_(own)),
        artifacts=delete_where(conn, artifacts, its_artifacts),
        blobs=delete_orphans(conn),
        transcript=delete_where(conn, lines, lines.c.conversation_id == session_id),
        state=delete_where(conn, state_rows, state_rows.c.conversation_id == session_id),
        queue=delete_where(conn, queue, queue.c.conversation_id == session_id),
        runs=delete_where(conn, runs, runs.c.conversation_id == session_id),
    )
    delete_where(conn, state_changes, state_changes.c.conversation_id == session_id)
    delete_where(conn, sessions, sessions.c.session_id == session_id)
    audit(conn, "session.deleted", event_id, at, {"deleted": asdict(deleted)}, conversation_id=session_id)
    return deleted


def _find(conn: Connection, session_id: str) -> Session | None:
    return one(conn, _GET, Session, {"session_id": session_id})


def _add(conn: Connection, session: Session) -> Session:
    conn.execute(insert(sessions).values(values(session)))
    return session


def _change(conn: Connection, session_id: str, **columns: Any) -> None:
    if not conn.execute(update(sessions).where(sessions.c.session_id == session_id).values(columns)).rowcount:
        get(conn, session_id)
