"""Full-text search over the transcript: newest first, within one place or everywhere.

Every line is in `transcript_search` under its `seq` as the terms of `words`, behind marks for its place, role and
type: a search within one conversation among many meets two short lists instead of reading all of a common word's.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, Text, column, exists, func, select, table

from engine.facts import words
from engine.facts.line import Line
from engine.facts.rows import Place, every
from engine.facts.tables import transcript
from engine.facts.words import Phrase

MOST: Final = 1_000
"""Hits are counted up to here, and no more than these are given."""
BEGINNING: Final = 3
"""Letters from which on the last word also finds the words that begin with it; the index knows these beginnings."""
COMPLETIONS: Final = 32
"""Words of one beginning that are looked up one by one, at 0.1 ms each. Where there are more, SQLite gathers all
their lines before it gives the first: 20 to 200 ms for a common one among a million."""
MARKS: Final = 32
BATCH: Final = 1_000
_MARK: Final = "§"
"""Begins what is no word of a line: nothing that is typed gives a term with it."""

_ADD: Final = "INSERT INTO transcript_search (rowid, words) VALUES (?, ?)"
_WORD_FROM: Final = "SELECT term FROM transcript_words WHERE term >= ? LIMIT 1"
_BATCH: Final = """
    SELECT seq, conversation_id, thread_id, bot_id, workspace_id, role, item_type, content
    FROM transcript WHERE seq > ? ORDER BY seq LIMIT ?
"""
_index: Final = table("transcript_search", column("rowid"), column("transcript_search", Text))


def index(conn: Connection, seq: int, line: Line) -> None:
    """Let a new line be found; the table's trigger forgets it again."""
    place = Place(line.conversation_id, line.thread_id, line.bot_id, line.workspace_id)
    if entry := _entry(seq, place, line.role, line.item_type, line.content):
        conn.exec_driver_sql(_ADD, entry)


def index_all(conn: Connection) -> None:
    """Let every line be found that is there already; for an index that has none of them."""
    done = 0
    while rows := conn.exec_driver_sql(_BATCH, (done, BATCH)).all():
        done = rows[-1].seq
        entries = [_entry(seq, Place(*place), role, kind, text) for seq, *place, role, kind, text in rows]
        if found := [entry for entry in entries if entry is not None]:
            conn.exec_driver_sql(_ADD, found)


class Reach(Enum):
    """How the last word of a query is found in lines; those before it are found as a whole."""

    NOTHING = auto()
    """There is no word in it: no line is looked at."""
    WHOLE = auto()
    BEGINNING = auto()
    """Also where a word begins with it."""
    ANYWHERE = auto()
    """Wherever its characters stand in a row: nothing stands between words."""


def reach(query: str) -> Reach:
    """How far a query reaches."""
    phrases = list(words.phrases(query))
    if not phrases:
        return Reach.NOTHING
    last = phrases[-1]
    if words.is_run(last.terms[-1]):
        return Reach.ANYWHERE
    return Reach.WHOLE if len(last.terms[-1]) < BEGINNING else Reach.BEGINNING


def find(
    conn: Connection,
    query: str,
    place: Place | None,
    *,
    roles: Sequence[str] | None = None,
    item_types: Sequence[str] | None = None,
    before: int | None = None,
    limit: int = 10,
) -> tuple[list[Line], int]:
    """The newest lines that hold everything that was typed, and how many there are, counted up to 1,000.

    With `before`, a line's `seq`, only what was said before that line is given and counted.

    Words between spaces are found in any order; what was typed together ("3.14", "don't") side by side. A word is
    found as a whole, and the last one, from three letters on, also as a beginning: "mid" finds "midnight". Chinese
    and other scripts without spaces are found wherever the characters stand in a row, one character too. Case, width
    and punctuation make no difference, and nothing that is typed is an operator. No place means all of them; no roles
    and no types mean any.
    """
    expression = _expression(conn, query, place, roles, item_types)
    if expression is None:
        return [], 0
    hits = select(_index.c.rowid).where(
        _index.c.transcript_search.match(expression), *_within(place, roles, item_types)
    )
    if before is not None:
        hits = hits.where(_index.c.rowid < before)
    # Never by rank: to rank a common word SQLite reads every line that has it.
    found = conn.execute(hits.order_by(_index.c.rowid.desc()).limit(MOST)).scalars().all()
    lines = select(transcript).where(transcript.c.seq.in_(found[:limit])).order_by(transcript.c.seq.desc())
    return every(conn, lines, Line), len(found)


def _entry(seq: int, place: Place, role: str, item_type: str, content: str | None) -> tuple[int, str] | None:
    terms = words.terms(content or "")
    if not terms:
        return None
    return seq, " ".join((_of_place(place), _of_role(role), _of_type(item_type), *terms))


def _within(
    place: Place | None, roles: Sequence[str] | None, item_types: Sequence[str] | None
) -> list[ColumnElement[bool]]:
    """The line itself has the last word on where it was said: a mark may be another place's by chance."""
    conditions: list[ColumnElement[bool]] = []
    if place is not None:
        conditions.append(place.within(transcript))
    if roles:
        conditions.append(transcript.c.role.in_(_listed(roles)))
    if item_types:
        conditions.append(transcript.c.item_type.in_(_listed(item_types)))
    return [exists().where(transcript.c.seq == _index.c.rowid, *conditions)] if conditions else []


def _listed(names: Sequence[str]) -> Select[Any]:
    # As one value: SQLite takes no more than so many, and a runner may name as many as it likes.
    return select(func.json_each(json.dumps(list(names))).table_valued("value").c.value)


def _expression(
    conn: Connection,
    query: str,
    place: Place | None,
    roles: Sequence[str] | None,
    item_types: Sequence[str] | None,
) -> str | None:
    """What SQLite is asked to match; nothing where nothing was typed that could be found."""
    phrases = list(words.phrases(query))
    if not phrases:
        return None
    marks = (
        {_of_place(place)} if place is not None else set[str](),
        set(map(_of_role, roles or ())),
        set(map(_of_type, item_types or ())),
    )
    # Many marks would narrow little down; then the line alone decides.
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
    """The words that begin with this one, itself included, as far as lines have them."""
    term = conn.exec_driver_sql(_WORD_FROM, (word,)).scalar()
    while term is not None and term.startswith(word):
        yield term
        # The next term there can be: the table lists a term as often as it occurs, and this leaps over all of them.
        term = conn.exec_driver_sql(_WORD_FROM, (f"{term}\x01",)).scalar()


def _phrase(phrase: Phrase) -> str:
    return f'"{" ".join(phrase.terms)}"{"*" if phrase.ends_within else ""}'


def _any_of(phrases: Sequence[Sequence[str]]) -> str:
    return f"({' OR '.join(_phrase(Phrase(tuple(terms))) for terms in phrases)})"


@lru_cache(1_024)
def _of_place(place: Place) -> str:
    return _mark("p", place.conversation_id, place.thread_id, place.bot_id, place.workspace_id)


@lru_cache(64)
def _of_role(role: str) -> str:
    return _mark("r", role)


@lru_cache(64)
def _of_type(item_type: str) -> str:
    return _mark("t", item_type)


def _mark(kind: str, *parts: str | None) -> str:
    return f"{_MARK}{kind}{hashlib.blake2b(json.dumps(parts).encode(), digest_size=5).hexdigest()}"
