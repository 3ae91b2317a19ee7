"""The sizes of sessions among ten thousand sessions and a million entries, against the list without sizes."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import Connection

from engine.api import Engine
from engine.store import sizes
from engine.store.database import Database
from tests.bench.browse import FRAME_MS, longest_block
from tests.bench.lines import Line, print_lines, within

SESSIONS = 10_000
RUNS = 50_000
ENTRIES_PER_RUN = 20
LINES_PER_RUN = 4
COMMON_PARTS = 5
"""Parts that all runs use, such as the list of tools."""
OWN_PARTS = 5
PAGE_ROWS = 100
ROUNDS = 7
PAGE_LIMIT_MS = 100
ALL_LIMIT_MS = 1_000

ADD_SESSION = """
INSERT INTO sessions (session_id, root_session_id, depth, created_at, last_active, message_count, metadata)
VALUES (?, ?, 0, ?, ?, 5, '{}')
"""
ADD_RUN = """
INSERT INTO runs (run_id, runner_id, conversation_id, status, created_at, updated_at, metadata, authorization,
                  journal_bytes)
VALUES (?, 'plugin:a/b/c', ?, 'completed', ?, ?, '{}', ?, 5000)
"""
ADD_ENTRY = """
INSERT INTO journal (run_id, position, at, source, type, data, turn) VALUES (?, ?, 1, 'runner', 'message.delta', ?, 1)
"""
ADD_LINE = """
INSERT INTO transcript (transcript_id, run_id, conversation_id, role, item_type, content, content_json, artifact_refs,
                        created_at, metadata)
VALUES (?, ?, ?, 'user', 'message', ?, ?, '[]', 1, '{}')
"""
ADD_ARTIFACT = """
INSERT INTO artifacts (artifact_id, artifact_type, storage, size_bytes, source, conversation_id, run_id, created_at,
                       blob_key, metadata)
VALUES (?, 'file', 'blob', 5000, 'runner', ?, ?, 1, ?, '{}')
"""


def fill(conn: Connection) -> None:
    """Write the sessions. Their runs share parts with each other and with all sessions, and some share a blob."""
    data, grants, text = '{"chunk":{"content":"' + "x" * 100 + '"}}', '{"apis":"' + "x" * 1_500 + '"}', "word " * 40
    write = conn.exec_driver_sql
    write("BEGIN")
    write(ADD_SESSION, [(_session(n), _session(n), n, n) for n in range(SESSIONS)])
    parts = range(COMMON_PARTS + SESSIONS * OWN_PARTS)
    write("INSERT INTO parts VALUES (?, 'data', ?)", [(_digest(n), b"x" * 4_000) for n in parts])
    blobs = range(SESSIONS - SESSIONS // 10)
    write("INSERT INTO artifact_blobs VALUES (?, ?)", [(f"blob_{n}", b"x" * 5_000) for n in blobs])
    artifacts = [(f"artifact_{n}", _session(n), _run(n), f"blob_{n % len(blobs)}") for n in range(SESSIONS)]
    write(ADD_ARTIFACT, artifacts)
    for first in range(0, RUNS, 1_000):
        runs = range(first, first + 1_000)
        write(ADD_RUN, [(_run(n), _session(n), n, n, grants) for n in runs])
        write(ADD_ENTRY, [(_run(n), place, data) for n in runs for place in range(1, ENTRIES_PER_RUN + 1)])
        lines = [(f"line_{n}_{k}", _run(n), _session(n), text, f'"{text}"') for n in runs for k in range(LINES_PER_RUN)]
        write(ADD_LINE, lines)
        write("INSERT INTO part_uses VALUES (?, ?)", [(_run(n), digest) for n in runs for digest in _digests(n)])
    write("COMMIT")


def _session(number: int) -> str:
    return f"conv_{number % SESSIONS:05}"


def _run(number: int) -> str:
    return f"run_{number:08}"


def _digest(number: int) -> str:
    return f"{number * 2_654_435_761:032x}"


def _digests(run: int) -> Iterator[str]:
    own = COMMON_PARTS + run % SESSIONS * OWN_PARTS
    yield from map(_digest, [*range(COMMON_PARTS), *range(own, own + OWN_PARTS)])


async def measure(path: Path) -> AsyncIterator[Line]:
    async with await Engine.open(db=path, mode="read") as engine:
        page = [row.session.session_id for row in await engine.sessions.browse(limit=PAGE_ROWS)]
        listed, _ = await _time_read(lambda: engine.sessions.browse(limit=PAGE_ROWS))
        took, blocked = await _time_read(lambda: engine.sessions.sizes(page))
        yield within(f"sizes of {PAGE_ROWS} sessions, against their list", took, "ms", listed, limit=PAGE_LIMIT_MS)
        yield within(f"sizes of {PAGE_ROWS} sessions, the loop is blocked", blocked, "ms", listed, limit=FRAME_MS)
        took, _ = await _time_read(engine.disk_usage)
        yield within("the size of the files, against a list of 100 sessions", took, "ms", listed, limit=FRAME_MS)


async def _time_read(read: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Return medians in milliseconds: of the read, and of its longest block of the loop."""
    took, blocked = [], []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        blocked.append(await longest_block(read()))
        took.append((time.perf_counter() - began) * 1_000)
    return statistics.median(took), statistics.median(blocked)


def lines() -> Iterator[Line]:
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        path = Path(folder, "sizes.db")
        database = Database.open(path, write=True)
        with database.writing_connection() as conn:
            fill(conn)
            conn.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        # As `doctor` reads them: in a process without an event loop.
        reads: dict[str, Callable[[Connection], object]] = {
            "the size of all data": sizes.of_database,
            "the largest of all sessions": lambda conn: sizes.largest(conn, 5),
        }
        count = _median(database, lambda conn: conn.exec_driver_sql("SELECT count(data) FROM journal").scalar())
        for name, read in reads.items():
            took = _median(database, read)
            yield within(f"{name}, against counting the entries", took, "ms", count, limit=ALL_LIMIT_MS)
        database.close()
        yield from asyncio.run(_all_lines(path))


def _median(database: Database, query: Callable[[Connection], object]) -> float:
    times: list[float] = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        database.read_now(query)
        times.append((time.perf_counter() - began) * 1_000)
    return statistics.median(times)


async def _all_lines(path: Path) -> list[Line]:
    return [line async for line in measure(path)]


if __name__ == "__main__":
    print_lines(lines())
