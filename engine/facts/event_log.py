"""The event log: every event that came in and every audit of the host, in the order it was noted."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlalchemy import Connection, bindparam, insert, select

from engine.facts.errors import EventTaken, NotFound
from engine.facts.redact import redact
from engine.facts.rows import Place, driver_of, every, one, values
from engine.facts.tables import events

SUMMARY: Final = 1_000
# Built once: a message that steers a run goes through each of these, and the runner waits.
_APPEND: Final = insert(events).returning(events.c.seq)
_SEEN: Final = select(events).where(events.c.event_id == bindparam("event_id")).limit(1)
_IS_SEEN: Final = "SELECT 1 FROM events WHERE event_id = ?"
_ATTACH: Final = "UPDATE events SET run_id = ? WHERE event_id = ? AND run_id IS NULL"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """One event as the log keeps it: who, where and what about, never its raw payload."""

    event_id: str
    event_type: str
    source: str
    created_at: int
    event_time: int | None = None
    source_event_type: str | None = None
    conversation_id: str | None = None
    thread_id: str | None = None
    bot_id: str | None = None
    workspace_id: str | None = None
    actor_type: str | None = None
    actor_id: str | None = None
    actor_name: str | None = None
    subject_type: str | None = None
    subject_id: str | None = None
    input_summary: str | None = None
    input_ref: str | None = None
    raw_ref: str | None = None
    run_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    seq: int = 0
    """Its place in the log; given by `append`."""


def append(conn: Connection, row: EventRow) -> int:
    """Note an event; its summary is cut and inline base64 taken out."""
    if driver_of(conn).execute(_IS_SEEN, (row.event_id,)).fetchone() is not None:
        raise EventTaken(f"event {row.event_id} is in the log already; an event id names one event.")
    summary = row.input_summary[:SUMMARY] if row.input_summary is not None else None
    row = replace(row, input_summary=summary, metadata=redact(dict(row.metadata)))
    added = conn.execute(_APPEND, values(row, without="seq"))
    return added.scalar_one()


def attach(conn: Connection, event_id: str, run_id: str) -> None:
    """Say which run an event got, once; a second run does not replace the first."""
    driver_of(conn).execute(_ATTACH, (run_id, event_id))


def seen(conn: Connection, event_id: str) -> EventRow | None:
    return one(conn, _SEEN, EventRow, {"event_id": event_id})


def get(conn: Connection, event_id: str) -> EventRow:
    row = seen(conn, event_id)
    if row is None:
        raise NotFound(f"no event {event_id} in the log.")
    return row


def page(conn: Connection, place: Place, *, before: int | None = None, limit: int = 100) -> list[EventRow]:
    """Events of one place, newest first."""
    query = select(events).where(place.within(events)).order_by(events.c.seq.desc()).limit(limit)
    return every(conn, query if before is None else query.where(events.c.seq < before), EventRow)


def latest_seq(conn: Connection, place: Place) -> int | None:
    query = select(events.c.seq).where(place.within(events)).order_by(events.c.seq.desc()).limit(1)
    return conn.execute(query).scalar()
