"""Requests to the host of a run: written by another process, carried out and answered by the host.

A row exists from the request until its sender has read the receipt. The arguments may contain the text of a message, so
they are removed as soon as the request is answered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from engine.store.async_reader import PreparedSelect, Query, Row
from engine.store.row_mapping import every, first
from engine.store.tables import requests

_IS_WAITING: Final = "SELECT 1 FROM requests WHERE host = ? AND answered_at IS NULL AND taken_at IS NULL LIMIT 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRow:
    """One request: an action for a host, and the receipt once the host has answered."""

    request_id: int
    """Requests are carried out in the order of this number."""
    host: str
    run_id: str | None
    action: str
    arguments: Mapping[str, Any] | None
    """None once the request is answered."""
    sender: str
    created_at: int
    taken_at: int | None = None
    """When the host began to carry out the request. From then on its sender can no longer withdraw it."""
    answered_at: int | None = None
    receipt: Mapping[str, Any] | None = None


def add(
    conn: Connection,
    *,
    host: str,
    run_id: str | None,
    action: str,
    arguments: Mapping[str, Any],
    sender: str,
    at: int,
) -> int:
    """Store a request and return its id."""
    row = {
        "host": host,
        "run_id": run_id,
        "action": action,
        "arguments": arguments,
        "sender": sender,
        "created_at": at,
    }
    return conn.execute(insert(requests).values(row).returning(requests.c.request_id)).scalar_one()


def is_waiting_query(host: str) -> Query[bool]:
    """Return the query whether a host has a request that it has not taken yet."""
    return Query(_IS_WAITING, (host,), _has_rows)


def take(conn: Connection, host: str, *, at: int) -> list[RequestRow]:
    """Mark the new requests of a host as taken, and return them in order."""
    is_new = (requests.c.host == host, requests.c.answered_at.is_(None), requests.c.taken_at.is_(None))
    found = every(conn, select(requests).where(*is_new).order_by(requests.c.request_id), RequestRow)
    conn.execute(update(requests).where(*is_new).values(taken_at=at))
    return found


def unanswered(conn: Connection, host: str) -> list[RequestRow]:
    """Return the requests to a host that it has not answered, in order."""
    query = select(requests).where(requests.c.host == host, requests.c.answered_at.is_(None))
    return every(conn, query.order_by(requests.c.request_id), RequestRow)


def get(conn: Connection, request_id: int) -> RequestRow | None:
    return first(conn, select(requests).where(requests.c.request_id == request_id), RequestRow)


def find_query(request_id: int) -> Query[list[RequestRow]]:
    """Return the query for the request with this id."""
    return _find().query(request_id=request_id)


@cache
def _find() -> PreparedSelect[RequestRow]:
    return PreparedSelect(select(requests).where(requests.c.request_id == bindparam("request_id")), RequestRow)


def answer(conn: Connection, request_id: int, receipt: Mapping[str, Any], *, at: int) -> None:
    """Write the receipt of a request and remove its arguments. A second answer changes nothing."""
    query = update(requests).where(requests.c.request_id == request_id, requests.c.answered_at.is_(None))
    conn.execute(query.values(receipt=receipt, answered_at=at, arguments=None))


def remove(conn: Connection, request_id: int) -> None:
    """Delete a request whose receipt was read, or that is withdrawn."""
    conn.execute(delete(requests).where(requests.c.request_id == request_id))


def remove_answered(conn: Connection, *, before: int) -> None:
    """Delete requests that were answered before a time: their senders have ended without reading the receipt."""
    conn.execute(delete(requests).where(requests.c.answered_at < before))


def _has_rows(rows: Sequence[Row]) -> bool:
    return bool(rows)
