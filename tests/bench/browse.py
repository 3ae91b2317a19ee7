"""Pages of sessions, hits and state among a million lines, and how long each read blocks the event loop."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import Connection

from engine.api import Engine
from engine.store import state
from engine.store.database import Database
from engine.store.scope_identity import Scope, ScopeIdentity
from engine.store.state import ChangeOrigin
from tests.bench.lines import Line, print_lines, within
from tests.bench.search import ADD, RARE_WORD, SampleText, index_all

SESSIONS = 10_000
LINES = 1_000_000
RUNS = 50_000
ENTRIES_PER_RUN = 8
KEYS = 100_000
ROUNDS = 20
FRAME_MS = 33.0
"""The time between two frames of the console."""

SESSION = """
INSERT INTO sessions (session_id, root_session_id, depth, user_id, title, created_at, last_active, message_count,
                      metadata)
VALUES (?, ?, 0, 'local', ?, ?, ?, 0, '{}')
"""
RUN = """
INSERT INTO runs (run_id, runner_id, event_id, conversation_id, status, created_at, updated_at, metadata)
VALUES (?, 'plugin:a/b/c', ?, ?, 'completed', ?, ?, '{}')
"""
ENTRY = """
INSERT INTO journal (run_id, position, at, source, type, data, turn) VALUES (?, ?, ?, 'runner', ?, '{}', 1)
"""


def fill(conn: Connection, text: SampleText) -> None:
    fill_sessions(conn, text)
    fill_state(conn)


def fill_sessions(conn: Connection, text: SampleText) -> None:
    """Write five runs per session and twenty lines per run, and index the lines.

    Only the last entry of a run completes a message.
    """
    conn.exec_driver_sql("BEGIN")
    conn.exec_driver_sql(SESSION, [(_session(n), _session(n), text.line(n), n, n) for n in range(SESSIONS)])
    for first in range(0, RUNS, 1_000):
        runs = range(first, first + 1_000)
        conn.exec_driver_sql(RUN, [(f"run_{n:08}", f"event_{n}", _session(n), n, n) for n in runs])
        conn.exec_driver_sql(
            ENTRY,
            [
                (
                    f"run_{n:08}",
                    position,
                    n * 1_000 + position,
                    "message.completed" if position == ENTRIES_PER_RUN else "message.delta",
                )
                for n in runs
                for position in range(1, ENTRIES_PER_RUN + 1)
            ],
        )
        conn.exec_driver_sql(ADD, [_line(n, index, text) for n in runs for index in range(LINES // RUNS)])
    conn.exec_driver_sql("COMMIT")
    index_all(conn)


def fill_state(conn: Connection) -> None:
    """Write ten keys per session."""
    conn.exec_driver_sql("BEGIN")
    for number in range(KEYS):
        scope = ScopeIdentity(
            scope=Scope.CONVERSATION, runner_id="plugin:a/b/c", binding_id="x", conversation_id=_session(number)
        )
        state.put(conn, scope, f"key_{number}", "x" * 100, ChangeOrigin(editor="runner", at=number, journal_row=number))
    conn.exec_driver_sql("COMMIT")


def _session(number: int) -> str:
    return f"conv_{number % SESSIONS:05}"


def _line(run: int, index: int, text: SampleText) -> tuple[object, ...]:
    """Return a row of the transcript, at the time of the run's last entry."""
    number = run * (LINES // RUNS) + index + 1
    ids = (f"line_{number}", f"event_{run}", f"run_{run:08}", _session(run))
    return number, *ids, "assistant", text.line(number), None, run * 1_000 + ENTRIES_PER_RUN


async def measure(path: Path, text: SampleText) -> AsyncIterator[Line]:
    async with await Engine.open(db=path, mode="read") as engine:
        deep_session = (await engine.sessions.browse(limit=1_000))[-1]
        deep_state = (await engine.state.browse(limit=1_000))[-1]
        common = text.common_word
        deep_hit = (await engine.search.hits(common, limit=1_000)).hits[-1].line.seq
        reads: dict[str, Callable[[], Awaitable[object]]] = {
            "sessions, first page": engine.sessions.browse,
            "sessions, deep page": lambda: engine.sessions.browse(before=deep_session),
            "sessions, title without a match": lambda: engine.sessions.browse(text="matches nothing"),
            "hits of a common word": lambda: engine.search.hits(common),
            "hits of a common word, deep page": lambda: engine.search.hits(common, before=deep_hit),
            "hits of a rare word": lambda: engine.search.hits(RARE_WORD),
            "state, first page": engine.state.browse,
            "state, deep page": lambda: engine.state.browse(after=deep_state),
            "state, key without a match": lambda: engine.state.browse(text="matches nothing"),
        }
        for name, read in reads.items():
            took, blocked, idle = await _time_read(read)
            yield within(f"{name}, until it is read", took, "ms", idle)
            yield within(f"{name}, the loop is blocked", blocked, "ms", idle, limit=FRAME_MS)


async def _time_read(read: Callable[[], Awaitable[object]]) -> tuple[float, float, float]:
    """Return medians in milliseconds: of the read, of its longest block of the loop, and of that of an idle loop."""
    took, blocked, idle = [], [], []
    for _ in range(ROUNDS):
        idle.append(await longest_block(asyncio.sleep(0.02)))
        began = time.perf_counter()
        blocked.append(await longest_block(read()))
        took.append((time.perf_counter() - began) * 1_000)
    return statistics.median(took), statistics.median(blocked), statistics.median(idle)


async def longest_block(work: Awaitable[object]) -> float:
    """Return the longest turn of the event loop in milliseconds; a turn takes one if nothing blocks the loop."""
    task, longest, last = asyncio.ensure_future(work), 0.0, time.perf_counter()
    while not task.done():
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    await task
    return longest * 1_000


def lines() -> Iterator[Line]:
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        path, text = Path(folder, "browse.db"), SampleText()
        database = Database.open(path, write=True)
        with database.writing_connection() as conn:
            fill(conn, text)
        database.close()
        yield from asyncio.run(_all_lines(path, text))


async def _all_lines(path: Path, text: SampleText) -> list[Line]:
    return [line async for line in measure(path, text)]


if __name__ == "__main__":
    print_lines(lines())
