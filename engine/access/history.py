"""The conversation as it was said: pages and search of the run's own."""

from functools import partial
from typing import Any, Literal

from sqlalchemy import Connection

from engine.access.action import Action, Arguments
from engine.access.gate import of_own_conversation, of_own_filters
from engine.access.pages import Limit, at_most, page_of
from engine.access.places import place_of_run, position_in
from engine.access.room import Room, stamp
from engine.facts import cursors, search, transcript
from engine.facts.rows import Place
from engine.facts.transcript import Line
from engine.run.live import LiveRun


class PageArguments(Arguments):
    conversation_id: str | None = None
    before_cursor: str | None = None
    after_cursor: str | None = None
    limit: Limit = 50
    direction: Literal["backward", "forward"] = "backward"
    include_artifacts: bool = False


class SearchArguments(Arguments):
    query: str
    filters: dict[str, Any] | None = None
    top_k: Limit = 10


async def page(room: Room, run: LiveRun, given: PageArguments) -> dict[str, Any]:
    place, limit = place_of_run(run), at_most(given.limit)
    before = position_in(cursors.read_history, place, given.before_cursor)
    after = position_in(cursors.read_history, place, given.after_cursor)
    has_cursor = before is not None or after is not None
    found = await room.read(
        run,
        lambda conn: transcript.page(
            conn,
            place,
            before=before,
            after=after,
            limit=limit + 1,
            oldest_first=has_cursor and given.direction == "forward",
        ),
    )
    return page_of(found, limit, partial(_item, place, with_artifacts=given.include_artifacts))


async def find(room: Room, run: LiveRun, given: SearchArguments) -> dict[str, Any]:
    place = place_of_run(run)
    wanted = given.filters or {}

    def query(conn: Connection) -> tuple[list[Line], int]:
        roles, item_types = wanted.get("roles"), wanted.get("item_types")
        return search.find(conn, given.query, place, roles=roles, item_types=item_types, limit=at_most(given.top_k))

    lines, total = await room.read(run, query)
    return {
        "items": [_item(place, line, with_artifacts=True) for line in lines],
        "total_count": total,
        "query": given.query,
    }


def _item(place: Place, line: Line, *, with_artifacts: bool) -> dict[str, Any]:
    return {
        "transcript_id": line.transcript_id,
        "event_id": line.event_id,
        "conversation_id": line.conversation_id,
        "thread_id": line.thread_id,
        "role": line.role,
        "item_type": line.item_type,
        "content": line.content,
        "content_json": line.content_json,
        "artifact_refs": list(line.artifact_refs) if with_artifacts else [],
        "seq": line.seq,
        "cursor": cursors.history(place, line.seq),
        "created_at": stamp(line.created_at),
        "metadata": dict(line.metadata),
    }


CALLS = (
    Action("history_page", PageArguments, (of_own_conversation,), page),
    Action("history_search", SearchArguments, (of_own_filters,), find),
)
