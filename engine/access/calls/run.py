"""Calls for the run itself. Real agents poll `run_get` twice a second, so it is answered from memory."""

from functools import partial
from typing import Any, Final, Literal

import orjson

from engine.access.call import Arguments, CallType, Decision, NoArguments
from engine.access.gate import require_own_conversation
from engine.access.ownership import conversation_key_of_run, not_found, read_cursor
from engine.access.paging import MAX_PAGE_CHARACTERS, Limit, build_page, clamp_limit
from engine.access.services import Services
from engine.clock import epoch_seconds, exact_epoch_seconds
from engine.events import Status, Usage
from engine.protocol.errors import ErrorCode
from engine.run.grants import Grants
from engine.run.live import LiveRun
from engine.store import cursors, entries, runs
from engine.store.entries import Entry
from engine.store.row_mapping import ConversationKey
from engine.store.runs import RunRow
from engine.version import VERSION


class PageArguments(Arguments):
    before_cursor: str | None = None
    after_cursor: str | None = None
    limit: Limit = 50
    direction: Literal["backward", "forward"] = "forward"


class ListArguments(Arguments):
    conversation_id: str | None = None
    statuses: list[str] | None = None
    before_cursor: str | None = None
    limit: Limit = 50


class CancelArguments(Arguments):
    target_run_id: str | None = None
    reason: str | None = None


KNOWN_STATUSES: Final = (*Status, "queued", "claimed")
"""The last two are statuses of LangBot that no run has here."""
MAX_REASON_CHARACTERS: Final = 500


def require_known_statuses(grants: Grants, arguments: ListArguments) -> Decision | None:  # noqa: ARG001
    """A rule: `statuses` has only statuses of runs."""
    unknown = next((status for status in arguments.statuses or () if status not in KNOWN_STATUSES), None)
    if unknown is None:
        return None
    clause = f"{unknown!r:.40} is not a status of a run; use {', '.join(Status)}"
    return Decision(False, clause, ErrorCode.INVALID_ARGUMENT)


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
        "usage": dict(run.usage.claimed) or None,
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


async def list_runs(services: Services, run: LiveRun, arguments: ListArguments) -> dict[str, Any]:
    place, limit = conversation_key_of_run(run), clamp_limit(arguments.limit)
    before = read_cursor(cursors.read_runs, place, arguments.before_cursor)
    statuses = None if arguments.statuses is None else set(arguments.statuses)
    runner_id = run.order.grants.runner_id
    found = await services.read(
        run,
        lambda conn: runs.of_runner(conn, runner_id, place, statuses=statuses, before=before, limit=limit + 1),
    )
    return build_page(found, limit, partial(_listed_data, place))


async def cancel(services: Services, run: LiveRun, arguments: CancelArguments) -> dict[str, Any]:
    """Request the stop of a run of the same runner in the same conversation. A run that has ended stays as it is.

    A conversation and thread has one live run, so a run that has not ended is the run that makes the call.
    """
    run_id = arguments.target_run_id
    if run_id is None or run_id == run.order.run_id:
        return _row_data(await services.stop_run(run, (arguments.reason or "")[:MAX_REASON_CHARACTERS]))
    found = await services.fetch(run, runs.exact_query(run_id))
    if not found or found[0].runner_id != run.order.grants.runner_id:
        raise not_found("run", run_id)
    if _place_of(found[0]) != conversation_key_of_run(run):
        raise not_found("run", run_id)
    return _row_data(found[0])


async def version(services: Services, run: LiveRun, arguments: NoArguments) -> dict[str, Any]:  # noqa: ARG001
    return {"version": f"trackside {VERSION}"}


async def prompt(services: Services, run: LiveRun, arguments: NoArguments) -> dict[str, Any]:  # noqa: ARG001
    return {"prompt": [dict(message) for message in run.order.prompt]}


def _place_of(row: RunRow) -> ConversationKey:
    return ConversationKey(row.conversation_id, row.thread_id, row.bot_id, row.workspace_id)


def _listed_data(place: ConversationKey, row: RunRow) -> dict[str, Any]:
    return {**_row_data(row), "cursor": cursors.runs(place, row.created_at, row.run_id)}


def _row_data(row: RunRow) -> dict[str, Any]:
    return {
        "run_id": row.run_id,
        "event_id": row.event_id,
        "agent_id": row.agent_id,
        "binding_id": row.binding_id,
        "runner_id": row.runner_id,
        "conversation_id": row.conversation_id,
        "thread_id": row.thread_id,
        "bot_id": row.bot_id,
        "workspace_id": row.workspace_id,
        "status": row.status,
        "status_reason": row.status_reason,
        "created_at": epoch_seconds(row.created_at),
        "started_at": epoch_seconds(row.started_at),
        "finished_at": epoch_seconds(row.finished_at),
        "updated_at": epoch_seconds(row.updated_at),
        "last_activity_at": epoch_seconds(row.last_activity_at),
        "deadline_at": exact_epoch_seconds(row.deadline_at),
        "cancel_requested_at": epoch_seconds(row.cancel_requested_at),
        "usage": Usage.read(row.usage).claimed or None,
    }


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
    CallType("run_list", ListArguments, (require_own_conversation, require_known_statuses), list_runs, reads_much=True),
    CallType("run_cancel", CancelArguments, (), cancel),
    CallType("get_langbot_version", NoArguments, (), version),
    CallType("get_prompt", NoArguments, (), prompt),
)
