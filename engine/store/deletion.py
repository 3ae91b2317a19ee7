"""Deletes old data and sessions on request: the only ways in which stored data is deleted."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, or_, select

from engine.events import FINAL_FATES, FINAL_STATUSES, LIVE_STATUSES, DropReason, EntryKind, Fate, Source
from engine.store import event_log, search_index
from engine.store import queue as queue_items
from engine.store.artifacts import delete_orphans
from engine.store.errors import SessionRefused
from engine.store.event_log import EventRow
from engine.store.sessions import get as get_session
from engine.store.tables import artifacts, events, journal, queue, runs, sessions, state_changes, transcript
from engine.store.tables import state as state_rows


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


def prune(conn: Connection, older_than: int, now: int, *, event_id: str) -> Deleted:
    """Delete events, transcript lines and ended runs older than a time, and expired artifacts.

    Data of live runs and the events of queued messages are kept. State is never deleted.
    """
    live = select(runs.c.run_id).where(runs.c.status.in_(LIVE_STATUSES))
    worked_on = select(runs.c.event_id).where(runs.c.status.in_(LIVE_STATUSES), runs.c.event_id.is_not(None))
    waiting = select(queue.c.event_id).where(queue.c.fate.not_in(FINAL_FATES))
    ended = select(runs.c.run_id).where(runs.c.status.in_(FINAL_STATUSES), runs.c.finished_at < older_than)
    old_event = events.c.created_at < older_than
    old_line = transcript.c.created_at < older_than
    not_live = or_(transcript.c.run_id.is_(None), transcript.c.run_id.not_in(live))
    # The arguments are evaluated in order: journals are deleted while their runs still exist.
    deleted = Deleted(
        journal=delete_where(conn, journal, journal.c.run_id.in_(ended)),
        runs=delete_where(conn, runs, runs.c.run_id.in_(ended)),
        queue=delete_where(conn, queue, queue.c.fate.in_(FINAL_FATES), queue.c.decided_at < older_than),
        events=delete_where(
            conn, events, old_event, events.c.event_id.not_in(worked_on), events.c.event_id.not_in(waiting)
        ),
        transcript=delete_where(conn, transcript, old_line, not_live),
        artifacts=delete_where(conn, artifacts, or_(artifacts.c.expires_at <= now, _of_no_entry())),
        blobs=delete_orphans(conn),
    )
    _forget_words(conn)
    audit(conn, "facts.pruned", event_id, now, {"older_than": older_than, "deleted": asdict(deleted)})
    return deleted


def _of_no_entry() -> ColumnElement[bool]:
    """Return the condition for artifacts that hold a large part of a journal entry and whose run is deleted."""
    part_of_an_entry = and_(artifacts.c.source == Source.HOST, artifacts.c.artifact_type.like("call.%"))
    return and_(part_of_an_entry, artifacts.c.run_id.not_in(select(runs.c.run_id)))


def delete_where(conn: Connection, table: Table, *conditions: ColumnElement[bool]) -> int:
    """Delete the rows that match, and return their number."""
    return conn.execute(delete(table).where(*conditions)).rowcount


def audit(
    conn: Connection,
    event_type: str,
    event_id: str,
    at: int,
    metadata: Mapping[str, Any],
    *,
    conversation_id: str | None = None,
) -> None:
    """Add an event about a deletion to the event log."""
    event_log.append(
        conn,
        EventRow(
            event_id=event_id,
            event_type=event_type,
            source=Source.HOST,
            created_at=at,
            event_time=at,
            conversation_id=conversation_id,
            metadata=metadata,
        ),
    )


def delete_session(conn: Connection, session_id: str, *, at: int, event_id: str) -> Deleted:
    """Delete a session with its transcript, conversation state, artifacts and runs. Children are kept.

    Queued messages are dropped first, each with an entry in the event log. Raises SessionRefused if a run of the
    session is in progress.
    """
    get_session(conn, session_id)
    own = select(runs.c.run_id).where(runs.c.conversation_id == session_id)
    run_id = conn.execute(own.where(runs.c.status.in_(LIVE_STATUSES)).limit(1)).scalar()
    if run_id is not None:
        raise SessionRefused(
            f"session {session_id} is busy with run {run_id}; stop it first: `trackside stop {run_id}`."
        )
    _drop_waiting(conn, session_id, at=at)
    its_artifacts = or_(artifacts.c.conversation_id == session_id, artifacts.c.run_id.in_(own))
    deleted = Deleted(
        journal=delete_where(conn, journal, journal.c.run_id.in_(own)),
        artifacts=delete_where(conn, artifacts, its_artifacts),
        blobs=delete_orphans(conn),
        transcript=delete_where(conn, transcript, transcript.c.conversation_id == session_id),
        state=delete_where(conn, state_rows, state_rows.c.conversation_id == session_id),
        queue=delete_where(conn, queue, queue.c.conversation_id == session_id),
        runs=delete_where(conn, runs, runs.c.conversation_id == session_id),
    )
    delete_where(conn, state_changes, state_changes.c.conversation_id == session_id)
    delete_where(conn, sessions, sessions.c.session_id == session_id)
    _forget_words(conn)
    audit(conn, "session.deleted", event_id, at, {"deleted": asdict(deleted)}, conversation_id=session_id)
    return deleted


def _forget_words(conn: Connection) -> None:
    """Remove the words that only deleted lines had from the search."""
    while search_index.remove_unused_words(conn):
        pass


def _drop_waiting(conn: Connection, session_id: str, *, at: int) -> None:
    """Drop the queued messages of a session, of all hosts, and record the fate of each in the event log.

    The event log keeps the fate after the rows are deleted. The hosts notice it in the database and tell the senders.
    """
    for item in queue_items.waiting(conn, conversation_id=session_id):
        reason = DropReason.SESSION_DELETED
        queue_items.decide(conn, item.item_id, Fate.DROPPED, at=at, reason=reason)
        steering = {
            "status": Fate.DROPPED,
            "reason": reason,
            "item_id": item.item_id,
            "source_event_id": item.event_id,
        }
        event_log.append(
            conn,
            EventRow(
                event_id=f"{item.item_id}:{Fate.DROPPED}",
                event_type=EntryKind.STEERING_DROPPED,
                source="host",
                created_at=at,
                conversation_id=session_id,
                thread_id=item.thread_id,
                bot_id=item.bot_id,
                workspace_id=item.workspace_id,
                metadata={"steering": steering},
            ),
        )
