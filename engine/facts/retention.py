"""Deleting by age, when someone asks for it. Together with deleting a session, the only way facts go."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, or_, select

from engine.facts import event_log
from engine.facts.artifacts import delete_orphans
from engine.facts.event_log import EventRow
from engine.facts.queue import FINAL as DECIDED
from engine.facts.runs import FINAL, LIVE
from engine.facts.tables import artifacts, events, journal, queue, runs, transcript


@dataclass(frozen=True, slots=True)
class Deleted:
    """How many rows went."""

    events: int = 0
    transcript: int = 0
    runs: int = 0
    journal: int = 0
    artifacts: int = 0
    blobs: int = 0
    queue: int = 0
    state: int = 0


def prune(conn: Connection, older_than: int, now: int, *, event_id: str) -> Deleted:
    """Delete events, transcript and ended runs from before a time, and artifacts that have expired.

    Live runs keep all they hold, waiting messages keep their events, and state is never touched.
    """
    live = select(runs.c.run_id).where(runs.c.status.in_(LIVE))
    worked_on = select(runs.c.event_id).where(runs.c.status.in_(LIVE), runs.c.event_id.is_not(None))
    waiting = select(queue.c.event_id).where(queue.c.fate.not_in(DECIDED))
    ended = select(runs.c.run_id).where(runs.c.status.in_(FINAL), runs.c.finished_at < older_than)
    old_event = events.c.created_at < older_than
    old_line = transcript.c.created_at < older_than
    not_live = or_(transcript.c.run_id.is_(None), transcript.c.run_id.not_in(live))
    # The arguments are evaluated in order: journals go while their runs still name them.
    deleted = Deleted(
        journal=delete_where(conn, journal, journal.c.run_id.in_(ended)),
        runs=delete_where(conn, runs, runs.c.run_id.in_(ended)),
        queue=delete_where(conn, queue, queue.c.fate.in_(DECIDED), queue.c.decided_at < older_than),
        events=delete_where(
            conn, events, old_event, events.c.event_id.not_in(worked_on), events.c.event_id.not_in(waiting)
        ),
        transcript=delete_where(conn, transcript, old_line, not_live),
        artifacts=delete_where(conn, artifacts, or_(artifacts.c.expires_at <= now, _of_no_entry())),
        blobs=delete_orphans(conn),
    )
    audit(conn, "facts.pruned", event_id, now, {"older_than": older_than, "deleted": asdict(deleted)})
    return deleted


def _of_no_entry() -> ColumnElement[bool]:
    """Artifacts that are the large part of a journal entry, once their run is gone."""
    part_of_an_entry = and_(artifacts.c.source == "host", artifacts.c.artifact_type.like("call.%"))
    return and_(part_of_an_entry, artifacts.c.run_id.not_in(select(runs.c.run_id)))


def delete_where(conn: Connection, table: Table, *conditions: ColumnElement[bool]) -> int:
    """Delete rows; how many there were."""
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
    """Note in the event log what was deleted."""
    event_log.append(
        conn,
        EventRow(
            event_id=event_id,
            event_type=event_type,
            source="host",
            created_at=at,
            event_time=at,
            conversation_id=conversation_id,
            metadata=metadata,
        ),
    )
