"""The transcript: the messages of a conversation, line by line."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from sqlalchemy import Connection, Integer, bindparam, delete, func, insert, select, text

from engine.store import json_text, search
from engine.store.async_reader import PreparedSelect, Query, run_query
from engine.store.errors import NotFound
from engine.store.hidden_sessions import is_shown
from engine.store.redact import redact
from engine.store.row_mapping import ConversationKey, driver_of, every, first, merged, values
from engine.store.tables import transcript
from engine.store.transcript_line import TranscriptLine

MAX_LINE_CHARS: Final = 4_000
CUT: Final = "..."
_NEVER: Final = 2**62
_HAS: Final = "SELECT 1 FROM transcript WHERE transcript_id = ?"
_APPEND: Final = insert(transcript).returning(transcript.c.seq)


def append(conn: Connection, line: TranscriptLine) -> int:
    """Add a line to the transcript and the search index; returns its `seq`.

    Long text is cut; then `content_json` has all of it.
    """
    content, whole = line.content, line.content_json
    if content is not None and len(content) > MAX_LINE_CHARS:
        whole = {"role": line.role, "content": content} if whole is None else whole
        content = content[: MAX_LINE_CHARS - len(CUT)] + CUT
    line = replace(
        line,
        content=content,
        content_json=redact(whole),
        artifact_refs=redact(list(line.artifact_refs)),
        metadata=redact(dict(line.metadata)),
    )
    seq = conn.execute(_APPEND, values(line, without="seq")).scalar_one()
    search.index(conn, seq, line)
    return seq


def page(
    conn: Connection,
    place: ConversationKey,
    *,
    before: int | None = None,
    after: int | None = None,
    limit: int = 100,
    oldest_first: bool | None = None,
) -> list[TranscriptLine]:
    """Return lines of one conversation key. After a line the oldest come first, otherwise the newest.

    `oldest_first` overrides the order.
    """
    return run_query(conn, page_query(place, before=before, after=after, limit=limit, oldest_first=oldest_first))


def page_query(
    place: ConversationKey,
    *,
    before: int | None = None,
    after: int | None = None,
    limit: int = 100,
    oldest_first: bool | None = None,
) -> Query[list[TranscriptLine]]:
    """Return the query of `page`."""
    ascending = after is not None if oldest_first is None else oldest_first
    edges = {"after": 0 if after is None else after, "before": _NEVER if before is None else before}
    return _page(ascending=ascending).query(**place.parameters(), **edges, limit=limit)


def text_page_query(
    place: ConversationKey,
    *,
    before: int | None,
    after: int | None,
    limit: int,
    oldest_first: bool,
    max_characters: int,
) -> Query[list[TranscriptLine]]:
    """Return the query of a page that is sent on: JSON stays text, and the page ends before it is too long."""
    edges = {"after": 0 if after is None else after, "before": _NEVER if before is None else before}
    return _page(ascending=oldest_first).text_query(max_characters, **place.parameters(), **edges, limit=limit)


def text_lines_query(seqs: Sequence[int], *, max_characters: int) -> Query[list[TranscriptLine]]:
    """Return the query of these lines, newest first, with their JSON as text."""
    return _lines().text_query(max_characters, seqs=json_text.encode(list(seqs)))


@cache
def _lines() -> PreparedSelect[TranscriptLine]:
    chosen = text("transcript.seq IN (SELECT value FROM json_each(:seqs))").bindparams(bindparam("seqs"))
    return PreparedSelect(select(transcript).where(chosen).order_by(transcript.c.seq.desc()), TranscriptLine)


@cache
def _page(*, ascending: bool) -> PreparedSelect[TranscriptLine]:
    seq = transcript.c.seq
    query = select(transcript).where(
        ConversationKey.within_bound(transcript),
        is_shown(transcript.c.conversation_id),
        seq > bindparam("after"),
        seq < bindparam("before"),
    )
    order = seq if ascending else seq.desc()
    return PreparedSelect(query.order_by(order).limit(bindparam("limit", type_=Integer)), TranscriptLine)


def latest_seq(conn: Connection, place: ConversationKey, *, before_line: str | None = None) -> int | None:
    """Return the last `seq` of exactly this conversation key, before a line if one is named; None if there is none."""
    query = select(transcript.c.seq).where(place.within(transcript)).order_by(transcript.c.seq.desc()).limit(1)
    if before_line is not None:
        own = select(transcript.c.seq).where(transcript.c.transcript_id == before_line).scalar_subquery()
        query = query.where(transcript.c.seq < func.coalesce(own, _NEVER))
    return conn.execute(query).scalar()


def has(conn: Connection, transcript_id: str) -> bool:
    return driver_of(conn).execute(_HAS, (transcript_id,)).fetchone() is not None


def remove(conn: Connection, transcript_id: str) -> None:
    """Delete a line whose message turned out not to be delivered yet."""
    conn.execute(delete(transcript).where(transcript.c.transcript_id == transcript_id))


def line_of(conn: Connection, conversation_id: str, name: int | str | None) -> TranscriptLine:
    """Return a line of a conversation by its `seq` or id; the last line if `name` is None."""
    shown = is_shown(transcript.c.conversation_id)
    query = select(transcript).where(transcript.c.conversation_id == conversation_id, shown)
    if name is not None:
        query = query.where((transcript.c.seq if isinstance(name, int) else transcript.c.transcript_id) == name)
    line = first(conn, query.order_by(transcript.c.seq.desc()), TranscriptLine)
    if line is not None:
        return line
    if name is None:
        raise NotFound(
            f"session {conversation_id} has no messages yet. "
            f"Send one: trackside run --session {conversation_id} -m TEXT"
        )
    raise NotFound(
        f"session {conversation_id} has no line {name}. "
        f"`trackside transcript {conversation_id}` shows the number of each."
    )


def length(conn: Connection, conversation_id: str) -> int:
    """Return the number of lines of a conversation in all its threads."""
    query = select(func.count()).select_from(transcript).where(transcript.c.conversation_id == conversation_id)
    return conn.execute(query).scalar_one()


def copy(conn: Connection, source: str, target: str, *, until: int, new_id: Callable[[], str]) -> int:
    """Copy the lines of a conversation up to one of them to another conversation. Returns their number.

    The metadata of each copy names the original.
    """
    query = (
        select(transcript)
        .where(transcript.c.conversation_id == source, transcript.c.seq <= until)
        .order_by(transcript.c.seq)
    )
    lines = every(conn, query, TranscriptLine)
    for line in lines:
        metadata = merged(line.metadata, {"forked_from": line.transcript_id})
        append(conn, replace(line, transcript_id=new_id(), conversation_id=target, metadata=metadata))
    return len(lines)
