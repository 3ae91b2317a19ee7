"""The run itself. `run_get` is polled twice a second by real agents, so it is answered from memory."""

from functools import partial
from typing import Any, Literal

from engine.access.action import Action, Arguments, NoArguments
from engine.access.pages import Limit, at_most, page_of
from engine.access.places import position_in
from engine.access.room import Room, stamp
from engine.facts import cursors, journal
from engine.facts.journal import Entry
from engine.facts.json_text import decode
from engine.facts.rows import Place
from engine.run.live import LiveRun
from engine.version import VERSION


class PageArguments(Arguments):
    before_cursor: str | None = None
    after_cursor: str | None = None
    limit: Limit = 50
    direction: Literal["backward", "forward"] = "forward"


async def get(room: Room, run: LiveRun, given: NoArguments) -> dict[str, Any]:  # noqa: ARG001
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
        "status": "running",
        "started_at": stamp(run.started_at),
        "deadline_at": stamp(run.deadline_at),
        "cancel_requested_at": stamp(run.cancel_requested_at),
        "usage": dict(run.usage) or None,
    }


async def events_page(room: Room, run: LiveRun, given: PageArguments) -> dict[str, Any]:
    place, limit, run_id = Place(run.order.run_id), at_most(given.limit), run.order.run_id
    before = position_in(cursors.read_entries, place, given.before_cursor)
    after = position_in(cursors.read_entries, place, given.after_cursor)
    backward = given.direction == "backward" or (before is None and after is None)
    await room.writer.flush()
    edge = {"before": before if before is not None else 2**62} if backward else {"after": after or 0}
    found = await room.database.read(lambda conn: journal.page(conn, run_id, **edge, limit=limit + 1))
    inside = [entry for entry in found if (before is None or entry.position < before) and entry.position > (after or 0)]
    return page_of(inside, limit, partial(_event, place))


async def version(room: Room, run: LiveRun, given: NoArguments) -> dict[str, Any]:  # noqa: ARG001
    return {"version": f"trackside {VERSION}"}


async def prompt(room: Room, run: LiveRun, given: NoArguments) -> dict[str, Any]:  # noqa: ARG001
    return {"prompt": [dict(message) for message in run.order.prompt]}


def _event(place: Place, entry: Entry) -> dict[str, Any]:
    return {
        "run_id": entry.run_id,
        "position": entry.position,
        "at": stamp(entry.at),
        "source": entry.source,
        "type": entry.type,
        "data": decode(entry.data),
        "outcome": entry.outcome,
        "reason": entry.reason,
        "sequence": entry.sequence,
        "cursor": cursors.entries(place, entry.position),
    }


CALLS = (
    Action("run_get", NoArguments, (), get),
    Action("run_events_page", PageArguments, (), events_page),
    Action("get_langbot_version", NoArguments, (), version),
    Action("get_prompt", NoArguments, (), prompt),
)
