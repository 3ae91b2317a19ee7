"""The transcript: the messages of a conversation, line by line."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cache
from shlex import quote
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    Text,
    and_,
    bindparam,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    text,
    type_coerce,
)

from engine.store import json_text, search_index
from engine.store.artifacts import is_not_internal
from engine.store.async_reader import PreparedSelect, Query, run_query
from engine.store.errors import NotFound
from engine.store.hidden_sessions import is_shown
from engine.store.redact import redact
from engine.store.row_mapping import ConversationKey, driver_of, every, first, merged, values
from engine.store.tables import Json, artifacts, transcript
from engine.store.transcript_line import TranscriptLine

MAX_LINE_CHARS: Final = 4_000
CUT: Final = "..."
MAX_REFERENCE_CHARS: Final = 255
"""Characters of an artifact's name and types in a reference to it."""
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
    search_index.index(conn, seq, line)
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


def session_page_query(
    conversation_id: str,
    *,
    thread_id: str | None = None,
    bot_id: str | None = None,
    workspace_id: str | None = None,
    before: int | None = None,
    after: int | None = None,
    limit: int = 100,
) -> Query[list[TranscriptLine]]:
    """Return the query of a conversation's lines in all threads and of all bots, or only of those that are named.

    An empty text selects the lines without a thread, bot or workspace. After a line the oldest come first, otherwise
    the newest.
    """
    edges = {"after": 0 if after is None else after, "before": _NEVER if before is None else before}
    wanted = {"thread_id": thread_id, "bot_id": bot_id, "workspace_id": workspace_id}
    prepared = _session_page(ascending=after is not None)
    return prepared.query(conversation_id=conversation_id, **wanted, **edges, limit=limit)


def text_page_query(
    place: ConversationKey,
    *,
    before: int | None,
    after: int | None,
    limit: int,
    oldest_first: bool,
    artifacts_at: int | None,
    max_characters: int,
) -> Query[list[TranscriptLine]]:
    """Return the query of a page that is sent on: JSON stays text, and the page ends before it is too long.

    `artifact_refs` has the references as objects, with what is known of each at `artifacts_at`; without it, none.
    """
    edges = {"after": 0 if after is None else after, "before": _NEVER if before is None else before}
    return _text_page(ascending=oldest_first, with_artifacts=artifacts_at is not None).text_query(
        max_characters, **place.parameters(), **edges, limit=limit, artifacts_at=artifacts_at
    )


def text_lines_query(seqs: Sequence[int], *, artifacts_at: int, max_characters: int) -> Query[list[TranscriptLine]]:
    """Return the query of these lines, newest first, with their JSON as text and their references as objects."""
    return _lines().text_query(max_characters, seqs=json_text.encode(list(seqs)), artifacts_at=artifacts_at)


def _columns_to_send(*, with_artifacts: bool) -> Iterator[ColumnElement[Any]]:
    """Yield the columns of a line, with objects in place of the ids of its artifacts, or without them.

    Only artifacts of the line's own conversation are looked up: a message may name any id, and a runner must not learn
    which ids exist. At most `MAX_REFERENCE_CHARS` of each text are sent, because a line may refer to very many.
    """
    for column in transcript.columns:
        if column.name != "artifact_refs":
            yield column
        elif with_artifacts:
            yield _references().label(column.name)
        else:
            yield type_coerce(literal("[]", Text), Json).label(column.name)


def _references() -> ColumnElement[Any]:
    named = func.json_each(transcript.c.artifact_refs).table_valued("value", name="named")
    found = and_(
        artifacts.c.artifact_id == named.c.value,
        *(artifacts.c[each.name].is_not_distinct_from(transcript.c[each.name]) for each in fields(ConversationKey)),
        or_(artifacts.c.expires_at.is_(None), artifacts.c.expires_at > bindparam("artifacts_at", type_=Integer)),
        is_not_internal(),
    )
    reference = func.json_object(
        *("artifact_id", named.c.value),
        *("artifact_type", func.coalesce(_cut(artifacts.c.artifact_type), "unknown")),
        *("mime_type", _cut(artifacts.c.mime_type)),
        *("name", _cut(artifacts.c.name)),
        *("size_bytes", artifacts.c.size_bytes),
    )
    query = select(func.json_group_array(reference)).select_from(named.outerjoin(artifacts, found))
    return type_coerce(query.correlate(transcript).scalar_subquery(), Json)


def _cut(column: ColumnElement[Any]) -> ColumnElement[Any]:
    return func.substr(column, 1, MAX_REFERENCE_CHARS)


@cache
def _lines() -> PreparedSelect[TranscriptLine]:
    chosen = text("transcript.seq IN (SELECT value FROM json_each(:seqs))").bindparams(bindparam("seqs"))
    query = select(*_columns_to_send(with_artifacts=True)).where(chosen)
    return PreparedSelect(query.order_by(transcript.c.seq.desc()), TranscriptLine)


@cache
def _text_page(*, ascending: bool, with_artifacts: bool) -> PreparedSelect[TranscriptLine]:
    return _prepare_page(select(*_columns_to_send(with_artifacts=with_artifacts)), ascending=ascending)


@cache
def _page(*, ascending: bool) -> PreparedSelect[TranscriptLine]:
    return _prepare_page(select(transcript), ascending=ascending)


def _prepare_page(columns: Select[Any], *, ascending: bool) -> PreparedSelect[TranscriptLine]:
    seq = transcript.c.seq
    query = columns.where(ConversationKey.within_bound(transcript), is_shown(transcript.c.conversation_id))
    query = query.where(seq > bindparam("after"), seq < bindparam("before"))
    order = seq if ascending else seq.desc()
    return PreparedSelect(query.order_by(order).limit(bindparam("limit", type_=Integer)), TranscriptLine)


@cache
def _session_page(*, ascending: bool) -> PreparedSelect[TranscriptLine]:
    seq = transcript.c.seq
    query = select(transcript).where(
        transcript.c.conversation_id == bindparam("conversation_id"),
        is_shown(transcript.c.conversation_id),
        *(_is_wanted(name) for name in ("thread_id", "bot_id", "workspace_id")),
        seq > bindparam("after"),
        seq < bindparam("before"),
    )
    order = seq if ascending else seq.desc()
    return PreparedSelect(query.order_by(order).limit(bindparam("limit", type_=Integer)), TranscriptLine)


def _is_wanted(name: str) -> ColumnElement[bool]:
    """Return the condition that a line has the wanted value: NULL accepts every line, '' those without a value."""
    wanted = bindparam(name, type_=Text)
    return or_(wanted.is_(None), func.coalesce(transcript.c[name], "") == wanted)


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
            f"Send one: trackside run --session {quote(conversation_id)} -m TEXT"
        )
    raise NotFound(
        f"session {conversation_id} has no line {name}. "
        f"`trackside transcript {quote(conversation_id)}` shows the number of each."
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
