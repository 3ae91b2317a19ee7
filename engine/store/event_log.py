"""The event log: every event that came in and every audit event of the host, in the order of recording."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    bindparam,
    case,
    cast,
    func,
    insert,
    select,
    type_coerce,
)

from engine.store.async_reader import PreparedSelect, Query, run_query
from engine.store.errors import EventTaken, NotFound
from engine.store.hidden_sessions import is_shown
from engine.store.redact import redact
from engine.store.row_mapping import ConversationKey, driver_of, one, values
from engine.store.tables import Json, events

SUMMARY: Final = 1_000
_NO_LIMIT: Final = 2**62
_CLAIMED_AT: Final = "$.steering.claimed_at"
# Built once: a steering message goes through each of these while the runner waits.
_APPEND: Final = insert(events).returning(events.c.seq)
_SEEN: Final = select(events).where(events.c.event_id == bindparam("event_id")).limit(1)
_IS_SEEN: Final = "SELECT 1 FROM events WHERE event_id = ?"
_ATTACH: Final = "UPDATE events SET run_id = ? WHERE event_id = ? AND run_id IS NULL"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """One event as the log stores it: actor, conversation and subject, without the raw payload."""

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
    """The sequence number in the log; assigned by `append`."""


def append(conn: Connection, row: EventRow) -> int:
    """Store an event and return its sequence number. Raises EventTaken if the id exists.

    The summary is cut to 1,000 characters, and inline base64 is removed.
    """
    if driver_of(conn).execute(_IS_SEEN, (row.event_id,)).fetchone() is not None:
        raise EventTaken(f"event {row.event_id} is in the log already. Use another event_id.")
    summary = row.input_summary[:SUMMARY] if row.input_summary is not None else None
    row = replace(row, input_summary=summary, metadata=redact(dict(row.metadata)))
    added = conn.execute(_APPEND, values(row, without="seq"))
    return added.scalar_one()


def attach(conn: Connection, event_id: str, run_id: str) -> None:
    """Set the run of an event, if it has none yet."""
    driver_of(conn).execute(_ATTACH, (run_id, event_id))


def seen(conn: Connection, event_id: str) -> EventRow | None:
    return one(conn, _SEEN, EventRow, {"event_id": event_id})


def get(conn: Connection, event_id: str) -> EventRow:
    row = seen(conn, event_id)
    if row is None:
        raise NotFound(f"no event {event_id} in the log.")
    return row


def page(conn: Connection, place: ConversationKey, *, before: int | None = None, limit: int = 100) -> list[EventRow]:
    """Return events of one conversation key, newest first."""
    return run_query(conn, page_query(place, before=before, limit=limit))


def page_query(place: ConversationKey, *, before: int | None = None, limit: int = 100) -> Query[list[EventRow]]:
    """Return the query of `page`."""
    return _page().query(**place.parameters(), before=2**62 if before is None else before, limit=limit)


def text_query(event_id: str) -> Query[list[EventRow]]:
    """Return the query of one event that is sent on: its JSON stays text."""
    return _one().text_query(_NO_LIMIT, event_id=event_id)


def text_page_query(
    place: ConversationKey, *, before: int | None, limit: int, max_characters: int
) -> Query[list[EventRow]]:
    """Return the query of a page that is sent on: JSON stays text, and the page ends before it is too long."""
    edge = 2**62 if before is None else before
    return _text_page().text_query(max_characters, **place.parameters(), before=edge, limit=limit)


def _columns_to_send() -> Iterator[ColumnElement[Any]]:
    """Yield the columns of an event, with `steering.claimed_at` in seconds. Older versions stored it as text."""
    for column in events.columns:
        if column.name != "metadata":
            yield column
            continue
        time = func.strftime("%s", func.json_extract(column, _CLAIMED_AT))
        converted = func.json_set(column, _CLAIMED_AT, cast(time, Integer))
        is_text = func.json_type(column, _CLAIMED_AT) == "text"
        yield type_coerce(case((is_text, converted), else_=column), Json).label(column.name)


@cache
def _one() -> PreparedSelect[EventRow]:
    return PreparedSelect(select(*_columns_to_send()).where(events.c.event_id == bindparam("event_id")), EventRow)


@cache
def _text_page() -> PreparedSelect[EventRow]:
    return _prepare_page(select(*_columns_to_send()))


@cache
def _page() -> PreparedSelect[EventRow]:
    return _prepare_page(select(events))


def _prepare_page(columns: Select[Any]) -> PreparedSelect[EventRow]:
    query = columns.where(ConversationKey.within_bound(events), events.c.seq < bindparam("before"))
    query = query.where(is_shown(events.c.conversation_id))
    return PreparedSelect(query.order_by(events.c.seq.desc()).limit(bindparam("limit", type_=Integer)), EventRow)


def latest_seq(conn: Connection, place: ConversationKey) -> int | None:
    query = select(events.c.seq).where(place.within(events)).order_by(events.c.seq.desc()).limit(1)
    return conn.execute(query).scalar()
