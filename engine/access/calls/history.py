"""Calls for the transcript of the run's own conversation: pages and search."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, Literal

import orjson
from sqlalchemy import Connection

from engine.access.call import Arguments, CallType
from engine.access.gate import (
    CONVERSATION_FIELDS,
    SEARCH_FILTERS,
    require_own_conversation,
    require_own_filters,
)
from engine.access.ownership import conversation_key_of_run, read_cursor
from engine.access.paging import MAX_PAGE_CHARACTERS, Limit, build_page, clamp_limit
from engine.access.services import Services
from engine.clock import epoch_seconds
from engine.journal.secret_mask import SecretMask, has_mark
from engine.run.live import LiveRun
from engine.store import cursors, search, transcript
from engine.store.row_mapping import ConversationKey
from engine.store.transcript import TranscriptLine

MAX_NAMED_FILTERS: Final = 10
"""Unknown filters that a warning names."""


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


async def page(services: Services, run: LiveRun, arguments: PageArguments) -> dict[str, Any]:
    place, limit = conversation_key_of_run(run), clamp_limit(arguments.limit)
    before = read_cursor(cursors.read_history, place, arguments.before_cursor)
    after = read_cursor(cursors.read_history, place, arguments.after_cursor)
    query = transcript.text_page_query(
        place,
        before=before,
        after=after,
        limit=limit + 1,
        oldest_first=arguments.direction == "forward",
        artifacts_at=services.clock.now() if arguments.include_artifacts else None,
        max_characters=MAX_PAGE_CHARACTERS,
    )
    return build_page(await services.fetch(run, query), limit, partial(_line_data, place, run.order.secret_mask))


async def search_history(services: Services, run: LiveRun, arguments: SearchArguments) -> dict[str, Any]:
    place = conversation_key_of_run(run)
    filters = arguments.filters or {}
    _warn_of_unknown_filters(run, filters)

    def query(conn: Connection) -> Sequence[int]:
        roles, item_types = filters.get("roles"), filters.get("item_types")
        return search.find_seqs(conn, arguments.query, place, roles=roles, item_types=item_types)

    found = await services.read(run, query)
    chosen = found[: clamp_limit(arguments.top_k)]
    lines = await services.fetch(
        run,
        transcript.text_lines_query(chosen, artifacts_at=services.clock.now(), max_characters=MAX_PAGE_CHARACTERS),
    )
    return {
        "items": [_line_data(place, run.order.secret_mask, line) for line in lines],
        "total_count": len(found),
        "query": arguments.query,
    }


def _warn_of_unknown_filters(run: LiveRun, filters: Mapping[str, Any]) -> None:
    unknown = [name for name in filters if name not in SEARCH_FILTERS and name not in CONVERSATION_FIELDS]
    if unknown and not run.has_ended:
        names = ", ".join(f"{name!r:.80}" for name in unknown[:MAX_NAMED_FILTERS])
        more = f" and {len(unknown) - MAX_NAMED_FILTERS} more" if len(unknown) > MAX_NAMED_FILTERS else ""
        run.recorder.warn(
            f"history_search ignored unknown filters: {names}{more}. It knows {' and '.join(SEARCH_FILTERS)}."
        )


def _line_data(place: ConversationKey, mask: SecretMask, line: TranscriptLine) -> dict[str, Any]:
    line = _with_secrets(line, mask)
    return {
        "transcript_id": line.transcript_id,
        "event_id": line.event_id,
        "conversation_id": line.conversation_id,
        "thread_id": line.thread_id,
        "role": line.role,
        "item_type": line.item_type,
        "content": line.content,
        "content_json": line.content_json,
        "artifact_refs": line.artifact_refs,
        "seq": line.seq,
        "cursor": cursors.history(place, line.seq),
        "created_at": epoch_seconds(line.created_at),
        "metadata": line.metadata,
    }


def _with_secrets(line: TranscriptLine, mask: SecretMask) -> TranscriptLine:
    """Return a message of the user as it was sent: the stored one, whose JSON is text, has the secrets masked.

    Only secrets of this run are put back, so that they are masked in its journal.
    """
    if line.role != "user" or not mask.secrets or not has_mark(text := orjson.dumps(line.content_json).decode()):
        return line
    content = None if line.content is None else mask.put_back_words(line.content)
    return replace(line, content=content, content_json=mask.put_back(orjson.loads(text)))


CALLS = (
    CallType("history_page", PageArguments, (require_own_conversation,), page, reads_much=True),
    CallType("history_search", SearchArguments, (require_own_filters,), search_history, reads_much=True),
)
