"""What a search finds, each with the session and the entry of the journal where it was said."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from sqlalchemy import Connection, select

from engine.facts import search
from engine.facts.line import Line
from engine.facts.rows import Place, every
from engine.facts.tables import runs, sessions, transcript

_SAYING: Final = "('message.completed', 'run.completed', 'run.finished')"
"""Entries that write an assistant's line; the last one from deltas."""
_NEAR: Final = 64
"""Lines before one that may have been said in the same microsecond."""

_AT: Final = "SELECT at FROM journal WHERE run_id = ? AND position = ?"
_LAST: Final = "SELECT max(position) FROM journal WHERE run_id = ?"
_SAID: Final = (
    f"SELECT position FROM journal WHERE run_id = ? AND position >= ? AND at = ? AND type IN {_SAYING}"  # noqa: S608
    " AND (outcome IS NULL OR outcome = 'warned') ORDER BY position LIMIT ?"
)
_BEFORE: Final = """
    SELECT count(*) FROM (
        SELECT run_id, role, created_at FROM transcript WHERE conversation_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?
    ) WHERE run_id = ? AND role = 'assistant' AND created_at = ?
"""
_ASKED: Final = "SELECT 1 FROM runs WHERE run_id = ? AND event_id = ?"
_STEERED: Final = """
    SELECT coalesce(pulled_position, json_extract(metadata, '$.queued_position')) FROM queue
    WHERE run_id = ? AND event_id = ?
"""


class Hit(NamedTuple):
    """A line that holds what was looked for."""

    line: Line
    title: str | None
    """Of its session."""
    position: int | None
    """The entry of `line.run_id` that said it; None where that run is gone, or never was."""


class Hits(NamedTuple):
    """One page of a search."""

    hits: list[Hit]
    total: int
    """How many there are from here on, counted up to 1,000."""


def page(conn: Connection, query: str, place: Place | None, *, before: int | None = None, limit: int = 50) -> Hits:
    """Lines that hold what was typed, newest first, said before a line's `seq`."""
    lines, total = search.find(conn, query, place, before=before, limit=limit)
    titles = _titles(conn, {line.conversation_id for line in lines})
    return Hits([Hit(line, titles.get(line.conversation_id), position_of(conn, line)) for line in lines], total)


def position_of(conn: Connection, line: Line) -> int | None:
    """Where in its run's journal a line was said. A fork's line is where the first of it was said."""
    if line.run_id is None:
        return None
    if line.role == "user":
        if conn.exec_driver_sql(_ASKED, (line.run_id, line.event_id)).scalar():
            return 1
        return conn.exec_driver_sql(_STEERED, (line.run_id, line.event_id)).scalar()
    start = _first_at(conn, line.run_id, line.created_at)
    found: Sequence[int] = (
        conn.exec_driver_sql(_SAID, (line.run_id, start, line.created_at, _NEAR)).scalars().all() if start else ()
    )
    if len(found) < 2:
        return found[0] if found else None
    earlier = (line.conversation_id, line.seq, _NEAR, line.run_id, line.created_at)
    return found[min(conn.exec_driver_sql(_BEFORE, earlier).scalar() or 0, len(found) - 1)]


def line_at(conn: Connection, run_id: str, position: int) -> Line | None:
    """The last line of a run that was said by one of its entries, in the run's own conversation."""
    at = conn.exec_driver_sql(_AT, (run_id, position)).scalar()
    if at is None:
        return None
    place = select(runs.c.conversation_id).where(runs.c.run_id == run_id).scalar_subquery()
    query = (
        select(transcript)
        .where(transcript.c.conversation_id == place, transcript.c.run_id == run_id, transcript.c.created_at <= at)
        .order_by(transcript.c.seq.desc())
    )
    # Of those of its very microsecond only their entries tell which were said by then.
    said = (line for line in every(conn, query.limit(_NEAR), Line) if (position_of(conn, line) or 0) <= position)
    return next(said, None)


def _first_at(conn: Connection, run_id: str, at: int) -> int | None:
    """The first position of a run from a time on. Times rise with positions, so twenty looks find one in a million."""
    low, high = 1, conn.exec_driver_sql(_LAST, (run_id,)).scalar()
    if high is None:
        return None
    while low < high:
        middle = (low + high) // 2
        found = conn.exec_driver_sql(_AT, (run_id, middle)).scalar()
        if found is not None and found < at:
            low = middle + 1
        else:
            high = middle
    return low


def _titles(conn: Connection, ids: set[str]) -> dict[str, str | None]:
    query = select(sessions.c.session_id, sessions.c.title).where(sessions.c.session_id.in_(sorted(ids)))
    return {row.session_id: row.title for row in conn.execute(query)}
