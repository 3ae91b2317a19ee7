"""Full-text search over the transcript: newest first, within one conversation or in all.

The words that contain the text of a query are looked up first, and then the lines that have these words: a part of a
word costs little more than a whole word. The lines' own parts are used if there are too many such words, and for parts
of three letters. With the marks, a search in one of many conversations intersects two short lists instead of reading
every line that has a common word.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, Table, Text, column, exists, func, select, table

from engine.events import EntryKind
from engine.store import hidden_sessions, tokenizer
from engine.store.entries import IS_APPLIED
from engine.store.row_mapping import ConversationKey, driver_of, every
from engine.store.search_index import WHOLE_WORD, place_mark, quoted, role_mark, type_mark
from engine.store.tables import runs, sessions, transcript
from engine.store.tokenizer import Phrase
from engine.store.transcript_line import TranscriptLine

MAX_HITS: Final = 1_000
"""Hits are counted up to this number, and at most this many are returned."""
MAX_WORDS: Final = 32
"""Words with the same part that are searched for one by one, at 0.05 ms each."""
MAX_ALL_WORDS: Final = 256
"""The same for all parts of a query together."""
SMALL_LINES: Final = 5_000
"""Lines of a conversation up to which all its hits are read."""
MAX_MARKED_LINES: Final = 50_000
"""Lines of the largest session whose threads and bots are read before it is searched."""
MAX_MARKS: Final = 32
"""Roles or types that are searched by their marks."""
_WORDS_WITH: Final = """
    SELECT word FROM search_word_parts WHERE search_word_parts MATCH ? AND instr(word, ?) LIMIT ?
"""
_KEYS: Final = "SELECT DISTINCT thread_id, bot_id, workspace_id FROM transcript WHERE conversation_id = ? LIMIT ?"
_COUNT: Final = "SELECT count(*) FROM (SELECT 1 FROM transcript WHERE conversation_id = ? LIMIT ?)"
_index: Final = table("transcript_search", column("rowid"), column("transcript_search", Text))


@dataclass(frozen=True, slots=True)
class WholeSession:
    """A session with all its threads, bots and workspaces, as a place to search in."""

    conversation_id: str

    def within(self, table: Table) -> ColumnElement[bool]:
        """Return the condition that a row of the table belongs to the session."""
        return table.c.conversation_id == self.conversation_id


Place = ConversationKey | WholeSession


class Reach(Enum):
    """How the words of a query match."""

    NOTHING = auto()
    """The query has no word, so no line is searched."""
    WHOLE = auto()
    """At least one word is so short that it matches whole words only."""
    ANYWHERE = auto()
    """Every word matches also within longer words."""


def reach(query: str) -> Reach:
    """Return how the words of a query match."""
    found = list(tokenizer.phrases(query))
    if not found:
        return Reach.NOTHING
    return Reach.WHOLE if any(phrase.is_short for phrase in found) else Reach.ANYWHERE


def find(
    conn: Connection,
    query: str,
    place: Place | None,
    *,
    roles: Sequence[str] | None = None,
    item_types: Sequence[str] | None = None,
    before: int | None = None,
    limit: int = 10,
) -> tuple[list[TranscriptLine], int]:
    """Return the newest lines that contain everything in the query, and the number of matches, up to 1,000.

    With `before`, the `seq` of a line, only earlier lines are returned and counted.

    Words separated by spaces match in any order, each also within longer words: "night" finds "midnight". A word of one
    or two letters matches as a whole. What is typed without spaces ("3.14", "don't") matches side by side. Chinese and
    other scripts without spaces match wherever the characters are adjacent, even a single character. Case, accents,
    width and punctuation are ignored, and queries have no operators. Without `place` all conversations are searched;
    without roles or types, any.
    """
    found = find_seqs(conn, query, place, roles=roles, item_types=item_types, before=before)
    lines = select(transcript).where(transcript.c.seq.in_(found[:limit])).order_by(transcript.c.seq.desc())
    return every(conn, lines, TranscriptLine), len(found)


def find_seqs(
    conn: Connection,
    query: str,
    place: Place | None,
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
    if place is not None and _is_small(conn, place):
        return conn.execute(hits.order_by(_index.c.rowid)).scalars().all()[::-1][:MAX_HITS]
    return conn.execute(hits.order_by(_index.c.rowid.desc()).limit(MAX_HITS)).scalars().all()


def _is_small(conn: Connection, place: Place, lines: int = SMALL_LINES) -> bool:
    """Return whether to read all hits of a conversation: SQLite intersects lists twice as fast from their beginning."""
    return driver_of(conn).execute(_COUNT, (place.conversation_id, lines)).fetchone()[0] < lines


def _place_marks(conn: Connection, place: Place | None) -> set[str]:
    """Return the marks of the lines of a place; none if they would not narrow the search."""
    if isinstance(place, ConversationKey):
        return {place_mark(place)}
    # The lines of a larger session are so many that the newest hits are found soon without marks.
    if place is None or not _is_small(conn, place, MAX_MARKED_LINES):
        return set()
    keys = driver_of(conn).execute(_KEYS, (place.conversation_id, MAX_MARKS + 1)).fetchall()
    return {place_mark(ConversationKey(place.conversation_id, *key)) for key in keys}


def _within(
    conn: Connection, place: Place | None, roles: Sequence[str] | None, item_types: Sequence[str] | None
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
    place: Place | None,
    roles: Sequence[str] | None,
    item_types: Sequence[str] | None,
) -> str | None:
    """Return the FTS5 match expression; None if the query has no terms, or a word that no line has."""
    phrases = list(tokenizer.phrases(query))
    if not phrases:
        return None
    marks = (
        _place_marks(conn, place),
        set(map(role_mark, roles or ())),
        set(map(type_mark, item_types or ())),
    )
    # Many marks would not narrow the search much; then only the line itself is checked.
    needed = [_any_of(kind) for kind in marks if 0 < len(kind) <= MAX_MARKS]
    max_words = min(MAX_WORDS, MAX_ALL_WORDS // len(phrases))
    for phrase in phrases:
        expression = _expression_of(conn, phrase, max_words)
        if expression is None:
            return None
        needed.append(expression)
    return " AND ".join(needed)


def _expression_of(conn: Connection, phrase: Phrase, max_words: int) -> str | None:
    """Return the match expression of a phrase; None if no line can have it."""
    if phrase.word is not None:
        words = _words_with(conn, phrase.word, max_words + 1)
        if not words:
            return None
        if len(words) <= max_words:
            return _any_of([WHOLE_WORD + word for word in words])
    return quoted(" ".join(phrase.terms)) + ("*" if phrase.ends_within else "")


def _words_with(conn: Connection, part: str, limit: int) -> list[str]:
    """Return words that contain a part of at least three letters."""
    expression = " AND ".join(quoted(each) for each in dict.fromkeys(tokenizer.parts(part)))
    return [word for (word,) in driver_of(conn).execute(_WORDS_WITH, (expression, part, limit))]


def _any_of(terms: Iterable[str]) -> str:
    return f"({' OR '.join(map(quoted, terms))})"


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


def page(conn: Connection, query: str, place: Place | None, *, before: int | None = None, limit: int = 50) -> Hits:
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
