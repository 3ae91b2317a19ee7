"""Full-text search over the transcript: newest first, within one conversation or in all.

`transcript_search` has every line under its `seq`: the terms of `tokenizer`, after marks for its conversation, role and
type. With the marks, a search in one of many conversations intersects two short lists instead of reading every line
that has a common word.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, Text, column, exists, func, select, table

from engine.events import EntryKind
from engine.store import hidden_sessions, tokenizer
from engine.store.entries import IS_APPLIED
from engine.store.row_mapping import ConversationKey, every
from engine.store.tables import runs, sessions, transcript
from engine.store.tokenizer import Phrase
from engine.store.transcript_line import TranscriptLine

MAX_HITS: Final = 1_000
"""Hits are counted up to this number, and at most this many are returned."""
BEGINNING: Final = 3
"""Letters that the last word needs to match as a prefix, too. The index stores prefixes of this length."""
COMPLETIONS: Final = 32
"""Words with the same prefix that are searched for one by one, at 0.1 ms each.

If there are more, SQLite collects all their lines before it returns the first one: 20 to 200 ms for a common prefix in
a million lines.
"""
MARKS: Final = 32
BATCH: Final = 1_000
_MARK: Final = "§"
"""Start of a term that marks a conversation, role or type. No query can contain it."""

_ADD: Final = "INSERT INTO transcript_search (rowid, words) VALUES (?, ?)"
_WORD_FROM: Final = "SELECT term FROM transcript_words WHERE term >= ? LIMIT 1"
_BATCH: Final = """
    SELECT seq, conversation_id, thread_id, bot_id, workspace_id, role, item_type, content
    FROM transcript WHERE seq > ? ORDER BY seq LIMIT ?
"""
_index: Final = table("transcript_search", column("rowid"), column("transcript_search", Text))


def index(conn: Connection, seq: int, line: TranscriptLine) -> None:
    """Add a new line to the index. A trigger of the table removes it when the line is deleted."""
    place = ConversationKey(line.conversation_id, line.thread_id, line.bot_id, line.workspace_id)
    if entry := _entry(seq, place, line.role, line.item_type, line.content):
        conn.exec_driver_sql(_ADD, entry)


def index_all(conn: Connection) -> None:
    """Add all existing lines to an empty index."""
    done = 0
    while rows := conn.exec_driver_sql(_BATCH, (done, BATCH)).all():
        done = rows[-1].seq
        entries = [_entry(seq, ConversationKey(*place), role, kind, text) for seq, *place, role, kind, text in rows]
        if found := [entry for entry in entries if entry is not None]:
            conn.exec_driver_sql(_ADD, found)


class Reach(Enum):
    """How the last word of a query matches. Earlier words match whole words only."""

    NOTHING = auto()
    """The query has no word, so no line is searched."""
    WHOLE = auto()
    BEGINNING = auto()
    """Matches also words that start with it."""
    ANYWHERE = auto()
    """Matches anywhere in a run of characters, for scripts without spaces between words."""


def reach(query: str) -> Reach:
    """Return how the last word of a query matches."""
    phrases = list(tokenizer.phrases(query))
    if not phrases:
        return Reach.NOTHING
    last = phrases[-1]
    if tokenizer.is_run(last.terms[-1]):
        return Reach.ANYWHERE
    return Reach.WHOLE if len(last.terms[-1]) < BEGINNING else Reach.BEGINNING


def find(
    conn: Connection,
    query: str,
    place: ConversationKey | None,
    *,
    roles: Sequence[str] | None = None,
    item_types: Sequence[str] | None = None,
    before: int | None = None,
    limit: int = 10,
) -> tuple[list[TranscriptLine], int]:
    """Return the newest lines that contain everything in the query, and the number of matches, up to 1,000.

    With `before`, the `seq` of a line, only earlier lines are returned and counted.

    Words separated by spaces match in any order; what is typed without spaces ("3.14", "don't") matches side by side. A
    word matches as a whole; the last one, from three letters on, also as a prefix: "mid" finds "midnight". Chinese and
    other scripts without spaces match wherever the characters are adjacent, even a single character. Case, width and
    punctuation are ignored, and queries have no operators. Without `place` all conversations are searched; without
    roles or types, any.
    """
    found = find_seqs(conn, query, place, roles=roles, item_types=item_types, before=before)
    lines = select(transcript).where(transcript.c.seq.in_(found[:limit])).order_by(transcript.c.seq.desc())
    return every(conn, lines, TranscriptLine), len(found)


def find_seqs(
    conn: Connection,
    query: str,
    place: ConversationKey | None,
    *,
    roles: Sequence[str] | None = None,
    item_types: Sequence[str] | None = None,
    before: int | None = None,
) -> Sequence[int]:
    """Return the `seq` of up to 1,000 lines that `find` finds, the newest first."""
    expression = _expression(conn, query, place, roles, item_types)
    if expression is None:
        return []
    hits = select(_index.c.rowid).where(
        _index.c.transcript_search.match(expression), *_within(conn, place, roles, item_types)
    )
    if before is not None:
        hits = hits.where(_index.c.rowid < before)
    # Never by rank: to rank a common word SQLite reads every line that has it.
    return conn.execute(hits.order_by(_index.c.rowid.desc()).limit(MAX_HITS)).scalars().all()


def _entry(seq: int, place: ConversationKey, role: str, item_type: str, content: str | None) -> tuple[int, str] | None:
    terms = tokenizer.terms(content or "")
    if not terms:
        return None
    return seq, " ".join((_of_place(place), _of_role(role), _of_type(item_type), *terms))


def _within(
    conn: Connection, place: ConversationKey | None, roles: Sequence[str] | None, item_types: Sequence[str] | None
) -> list[ColumnElement[bool]]:
    """Return the conditions on the lines themselves, because another conversation may have the same mark."""
    conditions: list[ColumnElement[bool]] = []
    if hidden_sessions.has_any(conn):
        conditions.append(hidden_sessions.is_shown(transcript.c.conversation_id))
    if place is not None:
        conditions.append(place.within(transcript))
    if roles:
        conditions.append(transcript.c.role.in_(_listed(roles)))
    if item_types:
        conditions.append(transcript.c.item_type.in_(_listed(item_types)))
    return [exists().where(transcript.c.seq == _index.c.rowid, *conditions)] if conditions else []


def _listed(names: Sequence[str]) -> Select[Any]:
    # As one JSON value: SQLite limits the number of parameters, and a runner may pass any number of names.
    return select(func.json_each(json.dumps(list(names))).table_valued("value").c.value)


def _expression(
    conn: Connection,
    query: str,
    place: ConversationKey | None,
    roles: Sequence[str] | None,
    item_types: Sequence[str] | None,
) -> str | None:
    """Return the FTS5 match expression; None if the query has no terms."""
    phrases = list(tokenizer.phrases(query))
    if not phrases:
        return None
    marks = (
        {_of_place(place)} if place is not None else set[str](),
        set(map(_of_role, roles or ())),
        set(map(_of_type, item_types or ())),
    )
    # Many marks would not narrow the search much; then only the line itself is checked.
    needed = [_any_of([(mark,) for mark in kind]) for kind in marks if 0 < len(kind) <= MARKS]
    *before, last = phrases
    return " AND ".join([*needed, *map(_phrase, before), _last(conn, last)])


def _last(conn: Connection, phrase: Phrase) -> str:
    *before, word = phrase.terms
    if phrase.ends_within or len(word) < BEGINNING:
        return _phrase(phrase)
    found = [] if len(word) == BEGINNING else list(islice(_completions(conn, word), COMPLETIONS + 1))
    if len(word) == BEGINNING or len(found) > COMPLETIONS:
        return _phrase(Phrase(phrase.terms, ends_within=True))
    return _any_of([(*before, each) for each in found or [word]])


def _completions(conn: Connection, word: str) -> Iterator[str]:
    """Yield the indexed words that start with this one, including itself."""
    term = conn.exec_driver_sql(_WORD_FROM, (word,)).scalar()
    while term is not None and term.startswith(word):
        yield term
        # The next possible term: the table lists a term once per occurrence, and this skips all of them.
        term = conn.exec_driver_sql(_WORD_FROM, (f"{term}\x01",)).scalar()


def _phrase(phrase: Phrase) -> str:
    return f'"{" ".join(phrase.terms)}"{"*" if phrase.ends_within else ""}'


def _any_of(phrases: Sequence[Sequence[str]]) -> str:
    return f"({' OR '.join(_phrase(Phrase(tuple(terms))) for terms in phrases)})"


@lru_cache(1_024)
def _of_place(place: ConversationKey) -> str:
    return _mark("p", place.conversation_id, place.thread_id, place.bot_id, place.workspace_id)


@lru_cache(64)
def _of_role(role: str) -> str:
    return _mark("r", role)


@lru_cache(64)
def _of_type(item_type: str) -> str:
    return _mark("t", item_type)


def _mark(kind: str, *parts: str | None) -> str:
    return f"{_MARK}{kind}{hashlib.blake2b(json.dumps(parts).encode(), digest_size=5).hexdigest()}"


_LINE_KINDS: Final = f"('{EntryKind.MESSAGE_COMPLETED}', '{EntryKind.RUN_COMPLETED}', '{EntryKind.RUN_FINISHED}')"
"""Types of entries that write an assistant's line; `run.finished` writes it from deltas."""
_NEAR: Final = 64
"""Number of preceding lines that may have the same microsecond."""

_AT: Final = "SELECT at FROM journal WHERE run_id = ? AND position = ?"
_LAST: Final = "SELECT max(position) FROM journal WHERE run_id = ?"
_LINES_AT: Final = (
    f"SELECT position FROM journal WHERE run_id = ? AND position >= ? AND at = ? AND type IN {_LINE_KINDS}"  # noqa: S608
    f" AND {IS_APPLIED} ORDER BY position LIMIT ?"
)
_BEFORE: Final = """
    SELECT count(*) FROM (
        SELECT run_id, role, created_at FROM transcript WHERE conversation_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?
    ) WHERE run_id = ? AND role = 'assistant' AND created_at = ?
"""
_ASKED: Final = "SELECT 1 FROM runs WHERE run_id = ? AND event_id = ?"
_STEERED: Final = """
    SELECT coalesce(pulled_position, json_extract(metadata, '$.queued_position')) FROM queue
    WHERE run_id = ? AND event_id = ?
"""


class Hit(NamedTuple):
    """A line that matches the query."""

    line: TranscriptLine
    title: str | None
    """The title of the line's session."""
    position: int | None
    """The entry of `line.run_id` that wrote the line; None if that run does not exist."""


class Hits(NamedTuple):
    """One page of search results."""

    hits: list[Hit]
    total: int
    """The number of matches from this page on, counted up to 1,000."""


def page(
    conn: Connection, query: str, place: ConversationKey | None, *, before: int | None = None, limit: int = 50
) -> Hits:
    """Return lines that match the query, newest first, only those before a line's `seq` if one is given."""
    lines, total = find(conn, query, place, before=before, limit=limit)
    titles = _titles(conn, {line.conversation_id for line in lines})
    return Hits([Hit(line, titles.get(line.conversation_id), position_of(conn, line)) for line in lines], total)


def position_of(conn: Connection, line: TranscriptLine) -> int | None:
    """Return the position of the entry that wrote a line. For a line of a fork, that of the original line."""
    if line.run_id is None:
        return None
    if line.role == "user":
        if conn.exec_driver_sql(_ASKED, (line.run_id, line.event_id)).scalar():
            return 1
        return conn.exec_driver_sql(_STEERED, (line.run_id, line.event_id)).scalar()
    start = _first_at(conn, line.run_id, line.created_at)
    found: Sequence[int] = (
        conn.exec_driver_sql(_LINES_AT, (line.run_id, start, line.created_at, _NEAR)).scalars().all() if start else ()
    )
    if len(found) < 2:
        return found[0] if found else None
    earlier = (line.conversation_id, line.seq, _NEAR, line.run_id, line.created_at)
    return found[min(conn.exec_driver_sql(_BEFORE, earlier).scalar() or 0, len(found) - 1)]


def line_at(conn: Connection, run_id: str, position: int) -> TranscriptLine | None:
    """Return the last line of a run up to an entry, in the run's own conversation."""
    at = conn.exec_driver_sql(_AT, (run_id, position)).scalar()
    if at is None:
        return None
    place = select(runs.c.conversation_id).where(runs.c.run_id == run_id).scalar_subquery()
    query = (
        select(transcript)
        .where(transcript.c.conversation_id == place, transcript.c.run_id == run_id, transcript.c.created_at <= at)
        .order_by(transcript.c.seq.desc())
    )
    # Only the entries tell which lines of the same microsecond came before the position.
    said = (
        line for line in every(conn, query.limit(_NEAR), TranscriptLine) if (position_of(conn, line) or 0) <= position
    )
    return next(said, None)


def _first_at(conn: Connection, run_id: str, at: int) -> int | None:
    """Return the first position of a run at or after a time.

    Times rise with positions, so a binary search needs twenty reads among a million entries.
    """
    low, high = 1, conn.exec_driver_sql(_LAST, (run_id,)).scalar()
    if high is None:
        return None
    while low < high:
        middle = (low + high) // 2
        found = conn.exec_driver_sql(_AT, (run_id, middle)).scalar()
        if found is not None and found < at:
            low = middle + 1
        else:
            high = middle
    return low


def _titles(conn: Connection, ids: set[str]) -> dict[str, str | None]:
    query = select(sessions.c.session_id, sessions.c.title).where(sessions.c.session_id.in_(sorted(ids)))
    return {row.session_id: row.title for row in conn.execute(query)}
