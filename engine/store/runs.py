"""Runs: their input, status and end."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

from sqlalchemy import Connection, bindparam, func, insert, select, tuple_, update
from sqlalchemy.exc import IntegrityError

from engine.events import FINAL_STATUSES, LIVE_STATUSES, Status
from engine.store import sessions
from engine.store.async_reader import PreparedSelect, Query, Row, run_query
from engine.store.errors import AlreadyFinal, Ambiguous, NotFound, SlotTaken
from engine.store.hidden_sessions import is_shown
from engine.store.json_text import encode
from engine.store.row_mapping import ConversationKey, driver_of, every, first, merged, values
from engine.store.tables import ONE_LIVE_RUN, runs

LAST: Final = "last"
INPUT_GLIMPSE: Final = 200
"""Characters of the input that a run's row stores."""
Used = tuple[str, str | None]
"""A runner, and the agent that it ran for; None if the runner was chosen directly."""
KEPT: Final = "kept"
"""Key in the metadata of a run or message: the user's stored settings apply."""
EXTERNAL: Final = "external"
"""Key in the metadata of a run: its runner is executed elsewhere, so it has no child process here."""
ACTIVE_AT: Final = func.coalesce(runs.c.last_activity_at, runs.c.started_at, runs.c.created_at)
"""The time since which a live run is idle, as `RunRow.active_at`."""


NEXT: Final[Mapping[Status, frozenset[Status]]] = {
    Status.CREATED: FINAL_STATUSES | {Status.RUNNING},
    Status.RUNNING: FINAL_STATUSES,
}
# SQL for the driver itself: a steering message waits for these.
_LIVE: Final = ", ".join(f"'{status}'" for status in sorted(LIVE_STATUSES))
_IS_LIVE: Final = f"SELECT 1 FROM runs WHERE run_id = ? AND status IN ({_LIVE})"  # noqa: S608
_IS_CANCELLED: Final = "SELECT 1 FROM runs WHERE run_id = ? AND cancel_requested_at IS NOT NULL"
_CANCEL_REQUESTED: Final = (
    f"SELECT run_id FROM runs WHERE host = ? AND status IN ({_LIVE}) AND cancel_requested_at IS NOT NULL"  # noqa: S608
)
_NOTE_ACTIVITY: Final = f"UPDATE runs SET last_activity_at = ? WHERE run_id = ? AND status IN ({_LIVE})"  # noqa: S608
_LAST_USED: Final = """
SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), (
    SELECT max(created_at) FROM (
        SELECT created_at, agent_id FROM runs WHERE runner_id = json_extract(value, '$[0]')
        ORDER BY created_at DESC LIMIT 1000
    ) WHERE agent_id IS json_extract(value, '$[1]')
) FROM json_each(?)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One run. `authorization` is the snapshot that was frozen when the run began."""

    run_id: str
    runner_id: str
    created_at: int
    updated_at: int
    status: str = Status.CREATED
    status_reason: str | None = None
    event_id: str | None = None
    agent_id: str | None = None
    binding_id: str | None = None
    host: str | None = None
    conversation_id: str | None = None
    thread_id: str | None = None
    bot_id: str | None = None
    workspace_id: str | None = None
    started_at: int | None = None
    finished_at: int | None = None
    deadline_at: int | None = None
    cancel_requested_at: int | None = None
    usage: Mapping[str, Any] | None = None
    authorization: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    last_activity_at: int | None = None
    """The time of the last result or call. While the run is live it is written at most once a second."""
    journal_bytes: int | None = None
    """The size of an ended run's journal, without the parts that it refers to; None while the run is in progress."""

    @property
    def active_at(self) -> int:
        """The time since which a live run is idle."""
        return self.last_activity_at or self.started_at or self.created_at


def advance(run: RunRow, to: Status) -> RunRow:
    """Return the run with its next status. Raises AlreadyFinal if the transition is not allowed."""
    if to not in NEXT.get(Status(run.status), frozenset()):
        raise AlreadyFinal(f"run {run.run_id} is {run.status}; it cannot become {to}.")
    return replace(run, status=to)


def create(conn: Connection, run: RunRow, *, project: str | None = None) -> None:
    """Store a run, which takes the conversation's slot in all processes. Raises SlotTaken if another run holds it.

    The session counts the run's event, and remembers its runner, agent and project folder.
    """
    try:
        conn.execute(insert(runs).values(values(run)))
    except IntegrityError as error:
        taken = holder(conn, run.conversation_id, run.thread_id) if ONE_LIVE_RUN in str(error.orig) else None
        if taken is None:
            raise
        raise SlotTaken(taken.run_id, run.conversation_id) from error
    if run.conversation_id is not None:
        sessions.add_run(conn, run.conversation_id, runner_id=run.runner_id, agent_id=run.agent_id, project=project)


def start(conn: Connection, run_id: str, *, at: int, deadline_at: int | None = None) -> RunRow:
    run = advance(get(conn, run_id), Status.RUNNING)
    return _save(conn, replace(run, started_at=at, updated_at=at, deadline_at=deadline_at or run.deadline_at))


def finish(
    conn: Connection,
    run_id: str,
    status: Status,
    *,
    at: int,
    reason: str | None = None,
    usage: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    last_activity_at: int | None = None,
    journal_bytes: int | None = None,
) -> RunRow:
    """End a run. Ending it with the same status again merges usage and metadata; another status raises AlreadyFinal."""
    run = get(conn, run_id)
    if run.status != status or status not in FINAL_STATUSES:
        run = replace(advance(run, status), finished_at=at, status_reason=reason)
    return _save(
        conn,
        replace(
            run,
            updated_at=at,
            status_reason=run.status_reason or reason,
            usage=merged(run.usage, usage) if run.usage is not None or usage is not None else None,
            metadata=merged(run.metadata, metadata),
            last_activity_at=last_activity_at or run.last_activity_at,
            journal_bytes=run.journal_bytes if journal_bytes is None else journal_bytes,
        ),
    )


def note_activity(conn: Connection, active: Mapping[str, int]) -> None:
    """Write the time of the last result or call of live runs, given by their ids."""
    driver_of(conn).executemany(_NOTE_ACTIVITY, [(at, run_id) for run_id, at in active.items()])


def request_cancel(conn: Connection, run_id: str, *, at: int) -> RunRow:
    """Record the request to stop a run; the run's own host stops it. A second request does not change the time."""
    run = get(conn, run_id)
    check_stoppable(run)
    if run.cancel_requested_at is not None:
        return run
    return _save(conn, replace(run, cancel_requested_at=at, updated_at=at))


def check_stoppable(run: RunRow) -> None:
    """Raise AlreadyFinal if the run has ended."""
    if run.status in FINAL_STATUSES:
        raise AlreadyFinal(f"run {run.run_id} is {run.status} already; there is nothing to stop.")


def get(conn: Connection, run_id: str) -> RunRow:
    run = first(conn, select(runs).where(runs.c.run_id == run_id, is_shown(runs.c.conversation_id)), RunRow)
    if run is None:
        raise NotFound(f"no run {run_id}. `trackside runs` lists them.")
    return run


def exact_query(run_id: str) -> Query[list[RunRow]]:
    """Return the query for the run with this exact id."""
    return _exact().query(run_id=run_id)


@cache
def _exact() -> PreparedSelect[RunRow]:
    shown = is_shown(runs.c.conversation_id)
    return PreparedSelect(select(runs).where(runs.c.run_id == bindparam("run_id"), shown), RunRow)


def find(conn: Connection, name: str) -> RunRow:
    """Return the run that the user named: by its id, the unique start of an id, or 'last'."""
    if name == LAST:
        newest = page(conn, limit=1)
        if not newest:
            raise NotFound("there is no run yet. `trackside run` starts one.")
        return newest[0]
    # A range and not LIKE: it uses the index, and an id may contain '_'.
    query = select(runs).where(runs.c.run_id >= name, runs.c.run_id < name + "\U0010ffff")
    query = query.where(is_shown(runs.c.conversation_id))
    found = every(conn, query.order_by(runs.c.run_id.desc()).limit(6), RunRow) if name else []
    exact = [run for run in found if run.run_id == name]
    if len(exact or found) > 1:
        shown = ", ".join(run.run_id for run in found[:5]) + (", …" if len(found) > 5 else "")
        raise Ambiguous(f"{name!r} matches several runs: {shown}. Type more of the id.")
    return (exact or found)[0] if found else get(conn, name)


def page(
    conn: Connection,
    *,
    before: str | None = None,
    after: str | None = None,
    limit: int = 100,
    status: str | None = None,
    conversation_id: str | None = None,
    runner_id: str | None = None,
    idle_since: int | None = None,
) -> list[RunRow]:
    """Return runs, newest first; `before` is a run id. With `after`, return the runs that follow it, oldest first.

    With `idle_since`, return only live runs without a result or call after that time.
    """
    order = (runs.c.created_at, runs.c.run_id)
    query = select(runs).order_by(*(order if after is not None else (column.desc() for column in order))).limit(limit)
    query = query.where(is_shown(runs.c.conversation_id))
    for column, wanted in (
        (runs.c.status, status),
        (runs.c.conversation_id, conversation_id),
        (runs.c.runner_id, runner_id),
    ):
        if wanted is not None:
            query = query.where(column == wanted)
    if idle_since is not None:
        query = query.where(runs.c.status.in_(LIVE_STATUSES), idle_since >= ACTIVE_AT)
    if before is not None:
        query = query.where(tuple_(*order) < select(*order).where(runs.c.run_id == before).scalar_subquery())
    if after is not None:
        query = query.where(tuple_(*order) > select(*order).where(runs.c.run_id == after).scalar_subquery())
    return every(conn, query, RunRow)


def of_runner(
    conn: Connection,
    runner_id: str,
    place: ConversationKey,
    *,
    statuses: Collection[str] | None = None,
    before: tuple[int, str] | None = None,
    limit: int = 50,
) -> list[RunRow]:
    """Return the runs of a runner in a conversation, thread, bot and workspace, newest first.

    `before` is the time and the id of the run before which the page starts.
    """
    order = (runs.c.created_at, runs.c.run_id)
    query = select(runs).where(runs.c.runner_id == runner_id).order_by(*(one.desc() for one in order)).limit(limit)
    for column, value in (
        (runs.c.conversation_id, place.conversation_id),
        (runs.c.thread_id, place.thread_id),
        (runs.c.bot_id, place.bot_id),
        (runs.c.workspace_id, place.workspace_id),
    ):
        query = query.where(column == value)  # SQLAlchemy writes IS NULL for None
    if statuses is not None:
        query = query.where(runs.c.status.in_(statuses))
    if before is not None:
        query = query.where(tuple_(*order) < before)
    return every(conn, query, RunRow)


def holder(conn: Connection, conversation_id: str | None, thread_id: str | None) -> RunRow | None:
    """Return the live run of a conversation and thread."""
    query = select(runs).where(
        runs.c.conversation_id == conversation_id,
        func.coalesce(runs.c.thread_id, "") == (thread_id or ""),
        runs.c.status.in_(LIVE_STATUSES),
    )
    return first(conn, query, RunRow)


def last_used(conn: Connection, wanted: Collection[Used]) -> dict[Used, int]:
    """Return when each of these runners last got a run for that agent.

    Only the last thousand runs of each runner are searched, by an index, so the cost does not grow with the database.
    """
    found = driver_of(conn).execute(_LAST_USED, (encode(list(wanted)),)).fetchall()
    return {(runner_id, agent_id): at for runner_id, agent_id, at in found if at is not None}


def is_live(conn: Connection, run_id: str) -> bool:
    """Return whether the run has not ended yet."""
    return driver_of(conn).execute(_IS_LIVE, (run_id,)).fetchone() is not None


def is_to_be_cancelled(conn: Connection, run_id: str) -> bool:
    """Return whether any process has requested to stop the run."""
    return driver_of(conn).execute(_IS_CANCELLED, (run_id,)).fetchone() is not None


def live_of_host(conn: Connection, host: str) -> list[RunRow]:
    """Return the live runs of this host, oldest first."""
    query = select(runs).where(runs.c.host == host, runs.c.status.in_(LIVE_STATUSES))
    return every(conn, query.order_by(runs.c.created_at, runs.c.run_id), RunRow)


def cancel_requested(conn: Connection, host: str) -> list[str]:
    """Return the ids of this host's live runs that any process has requested to stop."""
    return run_query(conn, cancel_requested_query(host))


def cancel_requested_query(host: str) -> Query[list[str]]:
    """Return the query of `cancel_requested`."""
    return Query(_CANCEL_REQUESTED, (host,), _first_column)


def _first_column(rows: Sequence[Row]) -> list[str]:
    return [row[0] for row in rows]


def _save(conn: Connection, run: RunRow) -> RunRow:
    conn.execute(update(runs).where(runs.c.run_id == run.run_id).values(values(run, without="run_id")))
    return run
