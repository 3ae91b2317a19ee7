"""Calls for the run itself. Real agents poll `run_get` twice a second, so it is answered from memory."""

from functools import partial
from typing import Any, Literal

import orjson

from engine.access.call import Arguments, CallType, NoArguments
from engine.access.ownership import read_cursor
from engine.access.paging import MAX_PAGE_CHARACTERS, Limit, build_page, clamp_limit
from engine.access.services import Services
from engine.clock import epoch_seconds, exact_epoch_seconds
from engine.events import Status
from engine.run.live import LiveRun
from engine.store import cursors, entries
from engine.store.entries import Entry
from engine.store.row_mapping import ConversationKey
from engine.version import VERSION


class PageArguments(Arguments):
    before_cursor: str | None = None
    after_cursor: str | None = None
    limit: Limit = 50
    direction: Literal["backward", "forward"] = "forward"


async def get(services: Services, run: LiveRun, arguments: NoArguments) -> dict[str, Any]:  # noqa: ARG001
    order, grants = run.order, run.order.grants
    return {
        "run_id": order.run_id,
        "event_id": order.envelope.event_id,
        "agent_id": order.binding.agent_id,
        "binding_id": grants.binding_id,
        "runner_id": grants.runner_id,
        "conversation_id": grants.conversation_id,
        "thread_id": grants.thread_id,
        "bot_id": grants.bot_id,
        "workspace_id": grants.workspace_id,
        "status": Status.RUNNING,
        "started_at": epoch_seconds(run.started_at),
        "deadline_at": exact_epoch_seconds(run.deadline_at),
        "cancel_requested_at": epoch_seconds(run.cancel_requested_at),
        "usage": dict(run.usage) or None,
    }


async def events_page(services: Services, run: LiveRun, arguments: PageArguments) -> dict[str, Any]:
    place, limit, run_id = ConversationKey(run.order.run_id), clamp_limit(arguments.limit), run.order.run_id
    before = read_cursor(cursors.read_entries, place, arguments.before_cursor)
    after = read_cursor(cursors.read_entries, place, arguments.after_cursor)
    query = entries.page_query(
        run_id,
        after=after,
        before=before,
        limit=limit + 1,
        newest_first=arguments.direction == "backward",
        max_characters=MAX_PAGE_CHARACTERS,
    )
    await services.writer.flush()
    return build_page(await services.database.fetch(query), limit, partial(_entry_data, place))


async def version(services: Services, run: LiveRun, arguments: NoArguments) -> dict[str, Any]:  # noqa: ARG001
    return {"version": f"trackside {VERSION}"}


async def prompt(services: Services, run: LiveRun, arguments: NoArguments) -> dict[str, Any]:  # noqa: ARG001
    return {"prompt": [dict(message) for message in run.order.prompt]}


def _entry_data(place: ConversationKey, entry: Entry) -> dict[str, Any]:
    return {
        "run_id": entry.run_id,
        "position": entry.position,
        "at": epoch_seconds(entry.at),
        "source": entry.source,
        "type": entry.type,
        "data": orjson.Fragment(entry.data),
        "outcome": entry.outcome,
        "reason": entry.reason,
        "sequence": entry.sequence,
        "cursor": cursors.entries(place, entry.position),
    }


CALLS = (
    CallType("run_get", NoArguments, (), get),
    CallType("run_events_page", PageArguments, (), events_page, reads_much=True),
    CallType("get_langbot_version", NoArguments, (), version),
    CallType("get_prompt", NoArguments, (), prompt),
)
