"""The transcript: a conversation as it was said, line by line."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from sqlalchemy import Connection, delete, func, insert, select

from engine.facts import search
from engine.facts.errors import NotFound
from engine.facts.line import Line
from engine.facts.redact import redact
from engine.facts.rows import Place, driver_of, every, first, merged, values
from engine.facts.tables import transcript

LONGEST: Final = 4_000
CUT: Final = "..."
_NEVER: Final = 2**62
_HAS: Final = "SELECT 1 FROM transcript WHERE transcript_id = ?"
_APPEND: Final = insert(transcript).returning(transcript.c.seq)


def append(conn: Connection, line: Line) -> int:
    """Add a line, and let search know it; long text is cut, and then the whole is in `content_json`."""
    content, whole = line.content, line.content_json
    if content is not None and len(content) > LONGEST:
        whole = {"role": line.role, "content": content} if whole is None else whole
        content = content[: LONGEST - len(CUT)] + CUT
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
    place: Place,
    *,
    before: int | None = None,
    after: int | None = None,
    limit: int = 100,
    oldest_first: bool | None = None,
) -> list[Line]:
    """Lines of one place, between two edges: oldest first after a line, else newest first, unless it is said."""
    query = select(transcript).where(place.within(transcript)).limit(limit)
    if before is not None:
        query = query.where(transcript.c.seq < before)
    if after is not None:
        query = query.where(transcript.c.seq > after)
    ascending = after is not None if oldest_first is None else oldest_first
    return every(conn, query.order_by(transcript.c.seq if ascending else transcript.c.seq.desc()), Line)


def latest_seq(conn: Connection, place: Place, *, before_line: str | None = None) -> int | None:
    """Where the place's transcript ended, before a line if one is named; no other thread, bot or workspace counts."""
    query = select(transcript.c.seq).where(place.within(transcript)).order_by(transcript.c.seq.desc()).limit(1)
    if before_line is not None:
        own = select(transcript.c.seq).where(transcript.c.transcript_id == before_line).scalar_subquery()
        query = query.where(transcript.c.seq < func.coalesce(own, _NEVER))
    return conn.execute(query).scalar()


def has(conn: Connection, transcript_id: str) -> bool:
    return driver_of(conn).execute(_HAS, (transcript_id,)).fetchone() is not None


def remove(conn: Connection, transcript_id: str) -> None:
    """Take back a line that turned out not to have been said yet."""
    conn.execute(delete(transcript).where(transcript.c.transcript_id == transcript_id))


def line_of(conn: Connection, conversation_id: str, name: int | str | None) -> Line:
    """A conversation's line by its `seq` or its id; its last one where none is named."""
    query = select(transcript).where(transcript.c.conversation_id == conversation_id)
    if name is not None:
        query = query.where((transcript.c.seq if isinstance(name, int) else transcript.c.transcript_id) == name)
    line = first(conn, query.order_by(transcript.c.seq.desc()), Line)
    if line is not None:
        return line
    if name is None:
        raise NotFound(f"nothing was said in {conversation_id} yet. `trackside run --session {conversation_id}` does.")
    raise NotFound(
        f"{conversation_id} has no line {name}. `trackside transcript {conversation_id}` shows the number of each."
    )


def length(conn: Connection, conversation_id: str) -> int:
    """Lines of a conversation, all threads together."""
    query = select(func.count()).select_from(transcript).where(transcript.c.conversation_id == conversation_id)
    return conn.execute(query).scalar_one()


def copy(conn: Connection, source: str, target: str, *, until: int, new_id: Callable[[], str]) -> int:
    """Let a conversation start with another's lines up to one of them, each with where it is from; how many."""
    query = (
        select(transcript)
        .where(transcript.c.conversation_id == source, transcript.c.seq <= until)
        .order_by(transcript.c.seq)
    )
    lines = every(conn, query, Line)
    for line in lines:
        metadata = merged(line.metadata, {"forked_from": line.transcript_id})
        append(conn, replace(line, transcript_id=new_id(), conversation_id=target, metadata=metadata))
    return len(lines)
