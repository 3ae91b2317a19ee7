"""The event log of the run's own conversation."""

from functools import partial
from typing import Any

from engine.access.action import Action, Arguments
from engine.access.pages import Limit, at_most, page_of
from engine.access.places import check_place, place_of_run, position_in
from engine.access.room import Room, stamp
from engine.facts import cursors, event_log
from engine.facts.event_log import EventRow
from engine.facts.rows import Place
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.run.live import LiveRun


class GetArguments(Arguments):
    event_id: str


class PageArguments(Arguments):
    before_cursor: str | None = None
    limit: Limit = 50


async def get(room: Room, run: LiveRun, given: GetArguments) -> dict[str, Any]:
    row = await room.read(run, lambda conn: event_log.seen(conn, given.event_id))
    if row is None:
        raise AgentAPIException.of(ErrorCode.NOT_FOUND, f"no event {given.event_id!r:.80}")
    place = Place(row.conversation_id, row.thread_id, row.bot_id, row.workspace_id)
    check_place(run, "event", given.event_id, place, run_id=row.run_id)
    return _record(place, row)


async def page(room: Room, run: LiveRun, given: PageArguments) -> dict[str, Any]:
    place, limit = place_of_run(run), at_most(given.limit)
    before = position_in(cursors.read_events, place, given.before_cursor)
    found = await room.read(run, lambda conn: event_log.page(conn, place, before=before, limit=limit + 1))
    return page_of(found, limit, partial(_record, place))


def _record(place: Place, row: EventRow) -> dict[str, Any]:
    return {
        "event_id": row.event_id,
        "event_type": row.event_type,
        "event_time": stamp(row.event_time),
        "source": row.source,
        "bot_id": row.bot_id,
        "workspace_id": row.workspace_id,
        "conversation_id": row.conversation_id,
        "thread_id": row.thread_id,
        "actor_type": row.actor_type,
        "actor_id": row.actor_id,
        "actor_name": row.actor_name,
        "subject_type": row.subject_type,
        "subject_id": row.subject_id,
        "input_summary": row.input_summary,
        "input_ref": row.input_ref,
        "raw_ref": row.raw_ref,
        "seq": row.seq,
        "cursor": cursors.events(place, row.seq),
        "created_at": stamp(row.created_at),
        "metadata": dict(row.metadata),
    }


CALLS = (Action("event_get", GetArguments, (), get), Action("event_page", PageArguments, (), page))
