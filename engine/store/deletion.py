"""Deletes sessions on request. Only this and `pruning` delete stored data.

A session is deleted in two steps. Hiding it takes it out of every list, search and call; it can be restored for eight
seconds. Purging it removes its data.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, cast

from sqlalchemy import Column, ColumnElement, Connection, Table, and_, delete, func, select, update

from engine.events import LIVE_STATUSES, DropReason, Source
from engine.store import artifacts as artifact_rows
from engine.store import event_log, index_cleanup, memory_state, parts, storage_log
from engine.store.errors import NotFound, SessionRefused
from engine.store.event_log import EventRow
from engine.store.hidden_sessions import is_hidden
from engine.store.session_files import delete_session_files
from engine.store.sessions import FORKED_FROM, Session
from engine.store.sessions import get as get_session
from engine.store.tables import artifacts, events, journal, queue, runs, sessions, state_changes, storage, transcript
from engine.store.tables import state as state_rows

RESTORE_SECONDS: Final = 8
"""Seconds within which a hidden session can be restored."""
_RESTORE_US: Final = RESTORE_SECONDS * 1_000_000
_PURGING: Final = 0
"""`deleted_at` of a session whose purge has begun. It is never restored, whatever the clock says."""
SLICE_ROWS: Final = 400
"""Rows of the journal that one slice of a purge deletes, in about 2 ms."""
_LINE_COST: Final = 8
"""A line of the transcript takes as long as this many rows of the journal, because it is in the search index too."""
AUDIT_SOURCES: Final = (Source.HOST, Source.USER, Source.RUNNER)
"""Sources of the events that the host wrote itself. All others came in."""
_CODES: Final = frozenset({"status", "scope", "steering", "changes", "count", "deleted"})
"""Keys in the metadata of audit events, besides ids, that hold no text."""


@dataclass(frozen=True, slots=True)
class Deleted:
    """The number of deleted rows per table."""

    events: int = 0
    transcript: int = 0
    runs: int = 0
    journal: int = 0
    artifacts: int = 0
    blobs: int = 0
    queue: int = 0
    state: int = 0
    parts: int = 0
    """Large parts of journal entries that no other run uses."""
    storage_log: int = 0
    """Changes of storage whose value was removed from the log. The storage itself is kept."""


@dataclass(frozen=True, slots=True)
class HiddenSession:
    """A deleted session that is not purged yet."""

    session_id: str
    title: str | None
    deleted_at: int

    def can_be_restored(self, now: int) -> bool:
        # Also after the clock was set back: otherwise the session would stay hidden for that long.
        return self.deleted_at != _PURGING and abs(now - self.deleted_at) < _RESTORE_US


@dataclass(frozen=True, slots=True)
class KeptData:
    """Data that deleting a session does not touch, because it was copied or is shared on purpose."""

    forks: int
    """Sessions that began with its lines."""
    children: int
    """Sessions that were spawned from it."""
    shared_state: bool
    """Whether its runners have state of users, subjects or runners."""
    storage: bool
    """Whether any plugin or workspace has stored values."""


def delete_where(conn: Connection, table: Table, *conditions: ColumnElement[bool]) -> int:
    """Delete the rows that match, and return their number."""
    return conn.execute(delete(table).where(*conditions)).rowcount


def audit(conn: Connection, event_type: str, event_id: str, at: int, metadata: Mapping[str, Any]) -> None:
    """Add an event about a deletion to the event log.

    It has no conversation: a new session with the same id starts with an empty event log.
    """
    event_log.append(
        conn,
        EventRow(
            event_id=event_id,
            event_type=event_type,
            source=Source.HOST,
            created_at=at,
            event_time=at,
            metadata=metadata,
        ),
    )


# Hide and restore


def hide(conn: Connection, session_id: str, *, at: int) -> HiddenSession:
    """Take a session out of every list, search and call, until it is restored or purged.

    Raises SessionRefused if a run of the session is in progress.
    """
    session = get_session(conn, session_id)
    _refuse_busy(conn, session_id)
    conn.execute(update(sessions).where(sessions.c.session_id == session_id).values(deleted_at=at))
    return HiddenSession(session_id, session.title, at)


def restore(conn: Connection, session_id: str, *, now: int) -> Session:
    """Show a hidden session again. Raises SessionRefused if it was deleted too long ago."""
    found = next((one for one in hidden(conn) if one.session_id == session_id), None)
    if found is None:
        raise NotFound(f"no deleted session {session_id}. It was never deleted, or its data is gone.")
    if not found.can_be_restored(now):
        raise SessionRefused(
            f"session {session_id} was deleted more than {RESTORE_SECONDS} seconds ago and cannot be restored."
        )
    conn.execute(update(sessions).where(sessions.c.session_id == session_id).values(deleted_at=None))
    return get_session(conn, session_id)


def hidden(conn: Connection) -> list[HiddenSession]:
    """Return the hidden sessions, the one that was deleted last first."""
    columns = (sessions.c.session_id, sessions.c.title, sessions.c.deleted_at)
    query = select(*columns).where(sessions.c.deleted_at.is_not(None)).order_by(sessions.c.deleted_at.desc())
    return [HiddenSession(*row) for row in conn.execute(query)]


def kept_data(conn: Connection, session_id: str) -> KeptData:
    """Return what deleting a session would not touch. Reads the state of its runners."""
    parent = sessions.c.parent_session_id == session_id
    is_fork = func.json_extract(sessions.c.metadata, f"$.{FORKED_FROM}") == session_id
    shown = sessions.c.deleted_at.is_(None)
    forks, children = (
        conn.execute(select(func.count()).select_from(sessions).where(parent, shown, each)).scalar_one()
        for each in (is_fork, func.coalesce(is_fork, False).is_(False))
    )
    its_runners = select(runs.c.runner_id).where(runs.c.conversation_id == session_id)
    shared = select(state_rows.c.scope_key).where(
        state_rows.c.conversation_id.is_(None), state_rows.c.runner_id.in_(its_runners)
    )
    return KeptData(
        forks=forks,
        children=children,
        shared_state=conn.execute(shared.limit(1)).first() is not None,
        storage=conn.execute(select(storage.c.key).limit(1)).first() is not None,
    )


# Purge


def delete_session(conn: Connection, session_id: str, *, at: int, event_id: str) -> Deleted:
    """Delete a session at once, without a chance to restore it. It may be hidden already."""
    if not is_hidden(conn, session_id):
        hide(conn, session_id, at=at)
    purge = Purge(session_id)
    while not purge.delete_slice(conn, at=at, event_id=event_id):
        pass
    return purge.deleted


def purge_hidden(conn: Connection, session_ids: Collection[str | None], *, at: int, event_id: str) -> bool:
    """Purge those of these sessions that are hidden. Returns whether any was."""
    found = [each for each in session_ids if each is not None and is_hidden(conn, each)]
    for number, session_id in enumerate(found):
        delete_session(conn, session_id, at=at, event_id=f"{event_id}:{number}" if number else event_id)
    return bool(found)


def next_to_purge(conn: Connection, now: int) -> str | None:
    """Return a hidden session that can no longer be restored."""
    return next((one.session_id for one in hidden(conn) if not one.can_be_restored(now)), None)


class Purge:
    """Removes a hidden session and its data in slices, so that other writes do not wait long. Children are kept.

    If the process ends, any process can begin another purge, which removes the rest.
    """

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._count = Counter[str]()
        self._left = 0
        self._is_handed_over = False

    @property
    def deleted(self) -> Deleted:
        """The number of rows that were deleted so far."""
        return Deleted(**self._count)

    def delete_slice(self, conn: Connection, *, at: int, event_id: str, max_rows: int = SLICE_ROWS) -> bool:
        """Delete about `max_rows` rows. Returns whether nothing is left, also if the session is no longer hidden."""
        session_id = self._session_id
        if not is_hidden(conn, session_id):
            return True  # another process has finished it
        self._left = max_rows
        conn.execute(update(sessions).where(sessions.c.session_id == session_id).values(deleted_at=_PURGING))
        if not self._is_handed_over:
            _hand_over_artifacts(conn, session_id)
            self._is_handed_over = True
        if not self._delete_rows(conn):
            return False
        delete_where(conn, sessions, sessions.c.session_id == session_id)
        delete_session_files(_path_of(conn), session_id)
        audit(conn, "session.deleted", event_id, at, {"session_id": session_id, "deleted": asdict(self.deleted)})
        return True

    def _delete_rows(self, conn: Connection) -> bool:
        """Delete rows of all tables but `sessions`. Returns whether none is left."""
        own = transcript.c.conversation_id == self._session_id
        lines = self._delete(conn, "transcript", transcript, transcript.c.seq, own, cost=_LINE_COST)
        # In the transaction that deletes the first line: the words must not be forgotten if the process ends.
        index_cleanup.request(conn, has_words=lines > 0)
        self._delete_runs(conn)
        own = events.c.conversation_id == self._session_id
        self._delete(conn, "events", events, events.c.seq, own, events.c.source.not_in(AUDIT_SOURCES))
        self._strip_audit_events(conn)
        own = state_changes.c.conversation_id == self._session_id
        self._delete(conn, "", state_changes, state_changes.c.change, own)
        own = state_rows.c.conversation_id == self._session_id
        self._delete(conn, "state", state_rows, None, own)
        own = queue.c.conversation_id == self._session_id
        self._delete(conn, "queue", queue, queue.c.item_id, own)
        self._delete_artifacts(conn, artifacts.c.conversation_id == self._session_id)
        return self._left > 0

    def _delete_runs(self, conn: Connection) -> None:
        """Delete one run after another, so that no slice looks at runs whose journal is deleted."""
        first = select(runs.c.run_id).where(runs.c.conversation_id == self._session_id).limit(1)
        while self._left > 0 and (run_id := conn.execute(first).scalar()) is not None:
            self._delete(conn, "journal", journal, journal.c.row, journal.c.run_id == run_id)
            own = func.coalesce(artifacts.c.conversation_id, self._session_id) == self._session_id
            self._delete_artifacts(conn, and_(artifacts.c.run_id == run_id, own))
            self._remove_storage_log(conn, run_id)
            self._release_parts(conn, run_id)
            if self._left > 0:
                self._delete(conn, "runs", runs, runs.c.run_id, runs.c.run_id == run_id)

    def _delete(
        self,
        conn: Connection,
        name: str,
        table: Table,
        key: "Column[Any] | None",
        *conditions: ColumnElement[bool],
        cost: int = 1,
    ) -> int:
        """Delete rows up to the end of the slice, or all of a table without a single key, and count them."""
        if self._left <= 0:
            return 0
        if key is not None:
            conditions = (key.in_(select(key).where(*conditions).limit(max(1, self._left // cost))),)
        count = delete_where(conn, table, *conditions)
        self._left -= count * cost
        if name:
            self._count[name] += count
        return count

    def _delete_artifacts(self, conn: Connection, condition: ColumnElement[bool]) -> None:
        if self._left > 0:
            limit = max(1, self._left // _LINE_COST)
            count, blobs = artifact_rows.delete_where(conn, condition, limit=limit)
            self._left -= count * _LINE_COST
            self._count.update(artifacts=count, blobs=blobs)

    def _remove_storage_log(self, conn: Connection, run_id: str) -> None:
        if self._left > 0:
            count = storage_log.remove_changes(conn, run_id, max(1, self._left // storage_log.REMOVAL_COST))
            self._left -= count * storage_log.REMOVAL_COST
            self._count["storage_log"] += count

    def _release_parts(self, conn: Connection, run_id: str) -> None:
        if self._left > 0:
            released = parts.release(conn, run_id, self._left)
            self._left -= released.cost
            self._count["parts"] += released.parts

    def _strip_audit_events(self, conn: Connection) -> None:
        """Remove the text of the session's audit events; type, time and ids stay.

        They lose their conversation, so that no run of a new session with this id can read them.
        """
        if self._left <= 0:
            return
        edited_at = select(state_changes.c.at).where(
            state_changes.c.conversation_id == self._session_id, state_changes.c.editor == Source.USER
        )
        # Edits of state have no conversation. They are found by the time of their changes, which is indexed.
        is_edit = and_(
            events.c.created_at.in_(edited_at),
            events.c.source == Source.USER,
            func.json_extract(events.c.metadata, "$.scope.conversation_id") == self._session_id,
            func.json_extract(events.c.metadata, "$.session_id").is_(None),
        )
        for condition in (events.c.conversation_id == self._session_id, is_edit):
            found = conn.execute(select(events.c.seq, events.c.metadata).where(condition).limit(self._left)).all()
            for seq, metadata in found:
                stripped = _ids_of(metadata) | {"session_id": self._session_id}
                without_text: dict[str, Any] = {"input_summary": None, "actor_name": None, "source_event_type": None}
                place = {"conversation_id": None, "thread_id": None}
                conn.execute(
                    update(events).where(events.c.seq == seq).values(metadata=stripped, **without_text, **place)
                )
            self._left -= len(found)


def _hand_over_artifacts(conn: Connection, session_id: str) -> None:
    """Give artifacts that lines of its forks refer to, also of forks of forks, to one of these sessions.

    They are deleted with that one, unless another fork refers to them then. All forks have the root of the session; the
    sessions between them may be deleted already.
    """
    root = select(sessions.c.root_session_id).where(sessions.c.session_id == session_id).scalar_subquery()
    is_staying = func.coalesce(sessions.c.deleted_at, 1) != _PURGING  # a hidden one may be restored
    forks = select(sessions.c.session_id).where(
        sessions.c.root_session_id == root, sessions.c.session_id != session_id, is_staying
    )
    artifact_rows.hand_over(conn, session_id, list(conn.execute(forks).scalars()))


def _path_of(conn: Connection) -> Path:
    paths = {row[1]: row[2] for row in conn.exec_driver_sql("PRAGMA database_list")}
    return Path(paths.get(memory_state.FILE) or paths["main"])


def _ids_of(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ids and codes in the metadata of an audit event, without its text."""
    kept: dict[str, Any] = {}
    for key, value in metadata.items():
        if key == "reason" and value not in tuple(DropReason):
            continue
        if key in _CODES or key == "reason" or key.endswith(("_id", "_key")):
            kept[key] = _ids_of(cast("dict[str, Any]", value)) if isinstance(value, dict) else value
    return kept


def _refuse_busy(conn: Connection, session_id: str) -> None:
    own = select(runs.c.run_id).where(runs.c.conversation_id == session_id)
    run_id = conn.execute(own.where(runs.c.status.in_(LIVE_STATUSES)).limit(1)).scalar()
    if run_id is not None:
        raise SessionRefused(
            f"session {session_id} is busy with run {run_id}; stop it first: `trackside stop {run_id}`."
        )
