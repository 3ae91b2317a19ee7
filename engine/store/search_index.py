"""The search index over the transcript: adds lines, and removes the words that no line has any more.

`transcript_search` has every line under its `seq`: marks for its conversation, role and type, its words, and the terms
of `tokenizer`. `search_words` has every word once, with an index of the parts of the words.

The index keeps no copy of the text. `line_terms` gives the terms of a deleted line again, for the trigger that removes
them, so its result for a line must not change without a migration that makes the index anew.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from sqlalchemy import Connection

from engine.store import tokenizer
from engine.store.row_mapping import ConversationKey, driver_of
from engine.store.tokenizer import Split
from engine.store.transcript_line import TranscriptLine

WORDS_PER_CHECK: Final = 1_000
BACKLOG_LINES: Final = 5_000
"""Lines that an upgrade indexes at once, in 0.3 s."""
_MARK: Final = "§"
"""Start of a term that marks a conversation, role or type. No query can contain it."""
WHOLE_WORD: Final = f"{_MARK}w"
"""Start of a term that is a whole word."""

_ADD: Final = "INSERT INTO transcript_search (rowid, words) VALUES (?, ?)"
_ADD_WORD: Final = "INSERT OR IGNORE INTO search_words (word, is_unchecked) VALUES (?, 0)"
_UNCHECKED: Final = "SELECT word_id, word FROM search_words WHERE is_unchecked = 1 LIMIT ?"
_IN_USE: Final = "SELECT 1 FROM transcript_search WHERE transcript_search MATCH ? LIMIT 1"
_BATCH: Final = """
    SELECT seq, conversation_id, thread_id, bot_id, workspace_id, role, item_type, content
    FROM transcript WHERE seq > ? ORDER BY seq LIMIT ?
"""


def index(conn: Connection, seq: int, line: TranscriptLine) -> None:
    """Add a new line to the index. A trigger of the table removes it when the line is deleted."""
    place = ConversationKey(line.conversation_id, line.thread_id, line.bot_id, line.workspace_id)
    _add(driver_of(conn), [(seq, place, line.role, line.item_type, line.content)])


def index_backlog(conn: Connection) -> Iterator[int]:
    """Add the lines of an upgraded database to the index, and yield their number after each slice.

    Does nothing if all lines are in the index. An upgrade does this in its transaction.
    """
    driver = driver_of(conn)
    row = driver.execute("SELECT seq FROM search_backlog").fetchone()
    if row is None:
        return
    seq = row[0]
    while rows := driver.execute(_BATCH, (seq, BACKLOG_LINES)).fetchall():
        _add(driver, ((seq, ConversationKey(*place), role, kind, text) for seq, *place, role, kind, text in rows))
        seq = rows[-1][0]
        yield len(rows)
    driver.execute("DELETE FROM search_backlog")


def _add(driver: sqlite3.Connection, lines: Iterable[tuple[int, ConversationKey, str, str, str | None]]) -> None:
    entries: list[tuple[int, str]] = []
    words: set[str] = set()
    for seq, place, role, item_type, content in lines:
        found = tokenizer.split(content or "")
        if found.terms:
            entries.append((seq, _entry(place, role, item_type, found)))
            words |= found.words
    # Sorted, so that neighbours in the table are looked up together.
    driver.executemany(_ADD_WORD, [(word,) for word in sorted(words)])
    driver.executemany(_ADD, entries)


def _entry(place: ConversationKey, role: str, item_type: str, found: Split) -> str:
    marks = (place_mark(place), role_mark(role), type_mark(item_type))
    return " ".join((*marks, *(WHOLE_WORD + word for word in sorted(found.words)), *found.terms))


def line_terms(
    conversation_id: str | None,
    thread_id: str | None,
    bot_id: str | None,
    workspace_id: str | None,
    role: str,
    item_type: str,
    content: str | None,
) -> str | None:
    """Return what the index has of a line; None if nothing. A function of every SQL connection."""
    found = tokenizer.split(content or "")
    place = ConversationKey(conversation_id, thread_id, bot_id, workspace_id)
    return _entry(place, role, item_type, found) if found.terms else None


def line_words(content: str | None) -> str:
    """Return the words of a line as a JSON list. A function of every SQL connection."""
    return json.dumps(sorted(tokenizer.split(content or "").words))


def remove_unused_words(conn: Connection, limit: int = WORDS_PER_CHECK) -> bool:
    """Forget words that no line has any more, after lines were deleted. Returns whether there may be more of them."""
    driver = driver_of(conn)
    found = driver.execute(_UNCHECKED, (limit,)).fetchall()
    for word_id, word in found:
        if driver.execute(_IN_USE, (quoted(WHOLE_WORD + word),)).fetchone():
            driver.execute("UPDATE search_words SET is_unchecked = 0 WHERE word_id = ?", (word_id,))
        else:
            driver.execute("DELETE FROM search_words WHERE word_id = ?", (word_id,))
    return len(found) == limit


@lru_cache(1_024)
def place_mark(place: ConversationKey) -> str:
    return _mark("p", place.conversation_id, place.thread_id, place.bot_id, place.workspace_id)


@lru_cache(64)
def role_mark(role: str) -> str:
    return _mark("r", role)


@lru_cache(64)
def type_mark(item_type: str) -> str:
    return _mark("t", item_type)


def _mark(kind: str, *parts: str | None) -> str:
    return f"{_MARK}{kind}{hashlib.blake2b(json.dumps(parts).encode(), digest_size=5).hexdigest()}"


def quoted(terms: str) -> str:
    """Return a phrase of FTS5. No term contains a quotation mark."""
    return f'"{terms}"'
