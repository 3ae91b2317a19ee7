"""Calls for the event log of the run's own conversation."""

from functools import partial
from typing import Any

from engine.access.call import Arguments, CallType
from engine.access.ownership import check_ownership, conversation_key_of_run, not_found, read_cursor
from engine.access.paging import MAX_PAGE_CHARACTERS, Limit, build_page, clamp_limit
from engine.access.services import Services
from engine.clock import epoch_seconds
from engine.run.live import LiveRun
from engine.store import cursors, event_log
from engine.store.event_log import EventRow
from engine.store.row_mapping import ConversationKey


class GetArguments(Arguments):
    event_id: str


class PageArguments(Arguments):
    before_cursor: str | None = None
    limit: Limit = 50


async def get(services: Services, run: LiveRun, arguments: GetArguments) -> dict[str, Any]:
    found = await services.fetch(run, event_log.text_query(arguments.event_id))
    if not found:
        raise not_found("event", arguments.event_id)
    row = found[0]
    place = ConversationKey(row.conversation_id, row.thread_id, row.bot_id, row.workspace_id)
    check_ownership(run, "event", arguments.event_id, place, run_id=row.run_id)
    return _event_data(place, row)


async def page(services: Services, run: LiveRun, arguments: PageArguments) -> dict[str, Any]:
    place, limit = conversation_key_of_run(run), clamp_limit(arguments.limit)
    before = read_cursor(cursors.read_events, place, arguments.before_cursor)
    query = event_log.text_page_query(place, before=before, limit=limit + 1, max_characters=MAX_PAGE_CHARACTERS)
    found = await services.fetch(run, query)
    return build_page(found, limit, partial(_event_data, place))


def _event_data(place: ConversationKey, row: EventRow) -> dict[str, Any]:
    return {
        "event_id": row.event_id,
        "event_type": row.event_type,
        "event_time": epoch_seconds(row.event_time),
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
        "created_at": epoch_seconds(row.created_at),
        "metadata": row.metadata,
    }


CALLS = (
    CallType("event_get", GetArguments, (), get, reads_much=True),
    CallType("event_page", PageArguments, (), page, reads_much=True),
)
