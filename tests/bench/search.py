"""Search over a million lines against LIKE, and a deep page of a long conversation against its first page."""

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Connection

from engine.store import search, search_index, transcript
from engine.store.database import Database
from engine.store.row_mapping import ConversationKey
from engine.store.transcript_line import TranscriptLine
from tests.bench.lines import Line, at_least, at_most, percentile, print_lines, within

LINES = 1_000_000
CONVERSATIONS = 1_000
DEPTH = 990_000
ROUNDS = 50
SCAN_ROUNDS = 3
PARTS = 400
ADDED_LINES = 2_000
RARE_WORD, ABSENT_WORD, RARE_PAIR = "zephyr", "xylophone", "罕见"
LINES_PER_RARE_WORD = 50_000
"""One line of this many has the rare word, and another one the rare pair."""

ADD = """
INSERT INTO transcript (seq, transcript_id, event_id, run_id, conversation_id, role, item_type, content, content_json,
                        artifact_refs, created_at, metadata)
VALUES (?, ?, ?, ?, ?, ?, 'message', ?, ?, '[]', ?, '{}')
"""
COPY = """
INSERT INTO transcript (transcript_id, conversation_id, role, item_type, content, artifact_refs, created_at, metadata)
WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < ?)
SELECT 'line_' || n, 'long', 'user', 'message', ?, '[]', n, '{}' FROM count
"""
SCAN = "SELECT * FROM transcript WHERE content LIKE ? ESCAPE '\\' ORDER BY seq DESC LIMIT 1000"


class SampleText:
    """Makes lines of Latin and Chinese text, in which few words are common and most are rare, as in real text."""

    def __init__(self) -> None:
        self._random = random.Random(1)
        sounds = ["an", "be", "con", "der", "est", "for", "ing", "ka", "lu", "mid", "net", "pra", "ro", "ser", "ten"]
        latin = list(dict.fromkeys("".join(self._random.choices(sounds, k=1 + n % 4)) for n in range(60_000)))
        # No other word begins with the fourth word; hundreds begin with the second.
        self.common_word, self.common_prefix = latin[3], latin[1]
        self.common_character = "一"
        self._latin = self._phrases(latin, 4, " ")
        self._chinese = self._phrases([chr(ord("一") + n) for n in range(3_000)], 6, "")

    def line(self, number: int) -> str:
        if number % 3:
            text = " ".join(self._random.choices(self._latin, k=3))
            return f"{text} {RARE_WORD}." if number % LINES_PER_RARE_WORD == 1 else f"{text}."
        text = "，".join(self._random.choices(self._chinese, k=3))
        return f"{text}{RARE_PAIR}。" if number % LINES_PER_RARE_WORD < 3 else f"{text}。"

    def parts(self) -> Iterator[str]:
        """Yield parts of three to ten letters of words in lines, so that common words give more of them."""
        for number in range(1, PARTS * 3):
            words = [word for word in self.line(number).strip(".").split() if word.isascii() and len(word) >= 3]
            if words:
                word = self._random.choice(words)
                length = self._random.randint(3, min(len(word), 10))
                start = self._random.randint(0, len(word) - length)
                yield word[start : start + length]

    def _phrases(self, words: list[str], length: int, separator: str) -> list[str]:
        weights = list(accumulate(1 / (rank + 5) for rank in range(len(words))))
        return [separator.join(self._random.choices(words, cum_weights=weights, k=length)) for _ in range(50_000)]


def measure() -> Iterator[Line]:
    """Measure medians. A scan returns what a search counts: the newest 1,000 lines that match."""
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        yield from _search(Path(folder, "search.db"))
        yield from _pages(Path(folder, "pages.db"))


def _search(path: Path) -> Iterator[Line]:
    text = SampleText()
    database = Database.open(path, write=True)
    began = time.perf_counter()
    with database.writing_connection() as conn:
        fill(conn, text)
        fill_seconds, size_without = time.perf_counter() - began, _megabytes(conn, path)
        index_all(conn)
        size = _megabytes(conn, path)
        index_seconds = time.perf_counter() - began - fill_seconds
        added = [_add_line(conn, number, text.line(number)) for number in range(LINES + 1, LINES + ADDED_LINES)]
    conversation = ConversationKey("conv_7")
    for name, query in (
        ("rare Latin word", RARE_WORD),
        ("absent word", ABSENT_WORD),
        ("two-character Chinese", RARE_PAIR),
    ):
        found = _median(database, lambda conn, query=query: search.find(conn, query, None), ROUNDS)
        scan = _median(database, lambda conn, query=query: _scan(conn, query), SCAN_ROUNDS)
        yield at_least(f"search, {name}", 1_000 / found, "searches/s", 1_000 / scan, aim=500, limit=50)
    scan = _median(database, lambda conn: _scan(conn, ABSENT_WORD), SCAN_ROUNDS)
    for name, query, key in (
        ("common word", text.common_word, None),
        ("common word in one conversation", text.common_word, conversation),
        ("three letters of a common word", text.common_word[:3], None),
        ("three letters of a common word in one conversation", text.common_word[:3], conversation),
        ("common beginning of hundreds of words", text.common_prefix, None),
        ("common Chinese character", text.common_character, None),
    ):
        found = _median(database, lambda conn, query=query, key=key: search.find(conn, query, key), ROUNDS)
        yield at_most(f"search, {name}, against a scan", found, "ms", scan)
    parts = [_median(database, lambda conn, part=part: search.find(conn, part, None), 3) for part in text.parts()]
    yield within("search, parts of words, p95", percentile(parts, 95), "ms", scan, limit=5)
    yield at_most("database with the index, against one without", size, "MB", size_without, limit=2.5)
    yield at_most("indexing a million lines, against writing them", index_seconds, "s", fill_seconds)
    with_index, without = zip(*added, strict=True)
    yield at_most("adding a line, against one that is not indexed", _mean(with_index), "µs", _mean(without))
    database.close()


def index_all(conn: Connection) -> None:
    """Make the index as an upgrade does."""
    conn.exec_driver_sql("BEGIN IMMEDIATE")
    conn.exec_driver_sql("INSERT INTO search_backlog VALUES (0)")
    for _ in search_index.index_backlog(conn):
        pass
    conn.exec_driver_sql("COMMIT")


def _add_line(conn: Connection, number: int, text: str) -> tuple[float, float]:
    """Return the microseconds that a line and its commit take, with the index and without."""
    taken: list[float] = []
    for content in (text, None):
        line = TranscriptLine(
            transcript_id=f"added_{number}_{content is None}",
            conversation_id=f"conv_{number % CONVERSATIONS}",
            role="user",
            created_at=number,
            content=content,
            content_json={"role": "user", "content": text},
        )
        began = time.perf_counter()
        conn.exec_driver_sql("BEGIN IMMEDIATE")
        transcript.append(conn, line)
        conn.exec_driver_sql("COMMIT")
        taken.append((time.perf_counter() - began) * 1_000_000)
    return taken[0], taken[1]


def _mean(numbers: Sequence[float]) -> float:
    # Not the median: now and then a commit merges the index, and that is a part of the cost.
    return statistics.fmean(numbers)


def fill(conn: Connection, text: SampleText, lines: int = LINES) -> None:
    """Add lines of many conversations to the transcript, without the index."""
    conn.exec_driver_sql("BEGIN")
    for first in range(1, lines + 1, 10_000):
        conn.exec_driver_sql(ADD, [_row(number, text.line(number)) for number in range(first, first + 10_000)])
    conn.exec_driver_sql("COMMIT")


def _row(number: int, text: str) -> tuple[Any, ...]:
    role = ("user", "assistant")[number % 2]
    ids = (f"line_{number:016x}", f"event_{number // 2:016x}", f"run_{number // 2:016x}")
    return number, *ids, f"conv_{number % CONVERSATIONS}", role, text, f'{{"role":"{role}","content":"{text}"}}', number


def _megabytes(conn: Connection, path: Path) -> float:
    conn.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.stat().st_size / 1_000_000


def _scan(conn: Connection, query: str) -> list[Any]:
    return list(conn.exec_driver_sql(SCAN, (f"%{query}%",)).all())


def _pages(path: Path) -> Iterator[Line]:
    database = Database.open(path, write=True)
    with database.writing_connection() as conn:
        conn.exec_driver_sql(COPY, (LINES, "x" * 100))
    long = ConversationKey("long")
    first, deep = [], []
    for _ in range(ROUNDS * 4):
        first.append(_milliseconds(database, lambda conn: transcript.page(conn, long)))
        deep.append(_milliseconds(database, lambda conn: transcript.page(conn, long, before=LINES - DEPTH)))
    database.close()
    yield at_most(
        "history page at 990,000 of 1,000,000", statistics.median(deep), "ms", statistics.median(first), limit=2
    )


def _median(database: Database, query: Callable[[Connection], object], rounds: int) -> float:
    return statistics.median(_milliseconds(database, query) for _ in range(rounds))


def _milliseconds(database: Database, query: Callable[[Connection], object]) -> float:
    began = time.perf_counter()
    database.read_now(query)
    return (time.perf_counter() - began) * 1_000


if __name__ == "__main__":
    print_lines(measure())
