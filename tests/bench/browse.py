"""Pages of sessions, hits and state among a million lines, and how long the loop stands meanwhile."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import Connection

from engine.api import Engine
from engine.store import search, state
from engine.store.database import Database
from engine.store.state import ChangeOrigin
from engine.store.state_scopes import Scope, ScopeIdentity
from tests.bench.lines import Line, print_lines, within
from tests.bench.search import ADD, RARE, Writing

SESSIONS = 10_000
LINES = 1_000_000
RUNS = 50_000
ENTRIES = 8
"""Of each run."""
KEYS = 100_000
ROUNDS = 20
FRAME = 33.0
"""Milliseconds in which the screen must be drawn again."""

SESSION = "INSERT INTO sessions VALUES (?, NULL, ?, 0, 'local', ?, ?, ?, 0, '{}')"
RUN = """
INSERT INTO runs (run_id, runner_id, event_id, conversation_id, status, created_at, updated_at, metadata)
VALUES (?, 'plugin:a/b/c', ?, ?, 'completed', ?, ?, '{}')
"""
ENTRY = """
INSERT INTO journal (run_id, position, at, source, type, data, turn) VALUES (?, ?, ?, 'runner', ?, '{}', 1)
"""


def fill(conn: Connection, writing: Writing) -> None:
    """All of it."""
    fill_talks(conn, writing)
    fill_state(conn)


def fill_talks(conn: Connection, writing: Writing) -> None:
    """Twenty lines to a run, five runs to a session, and the last line of each run is said by its last entry."""
    conn.exec_driver_sql("BEGIN")
    named = ((f"talk_{n:05}", f"talk_{n:05}", writing.line(n), n, n) for n in range(SESSIONS))
    conn.exec_driver_sql(SESSION, list(named))
    for first in range(0, RUNS, 1_000):
        runs = range(first, first + 1_000)
        conn.exec_driver_sql(RUN, [(f"run_{n:08}", f"event_{n}", _talk(n), n, n) for n in runs])
        conn.exec_driver_sql(
            ENTRY,
            [
                (f"run_{n:08}", place, n * 1_000 + place, "message.completed" if place == ENTRIES else "message.delta")
                for n in runs
                for place in range(1, ENTRIES + 1)
            ],
        )
        conn.exec_driver_sql(ADD, [_line(n, place, writing) for n in runs for place in range(LINES // RUNS)])
    conn.exec_driver_sql("COMMIT")
    conn.exec_driver_sql("BEGIN")
    search.index_all(conn)
    conn.exec_driver_sql("COMMIT")


def fill_state(conn: Connection) -> None:
    """Ten keys to a session."""
    conn.exec_driver_sql("BEGIN")
    for number in range(KEYS):
        scope = ScopeIdentity(
            scope=Scope.CONVERSATION, runner_id="plugin:a/b/c", binding_id="x", conversation_id=_talk(number)
        )
        state.put(conn, scope, f"key_{number}", "x" * 100, ChangeOrigin(editor="runner", at=number, journal_row=number))
    conn.exec_driver_sql("COMMIT")


def _talk(number: int) -> str:
    return f"talk_{number % SESSIONS:05}"


def _line(run: int, place: int, writing: Writing) -> tuple[object, ...]:
    number = run * (LINES // RUNS) + place + 1
    text, at = writing.line(number), run * 1_000 + ENTRIES
    names = (f"line_{number}", f"event_{run}", f"run_{run:08}", _talk(run), "assistant")
    return number, *names, text, None, at


async def measure(path: Path, writing: Writing) -> AsyncIterator[Line]:
    async with await Engine.open(db=path, mode="read") as engine:
        deep_session = (await engine.sessions.browse(limit=1_000))[-1]
        deep_state = (await engine.state.browse(limit=1_000))[-1]
        common = writing.common
        deep_hit = (await engine.search.hits(common, limit=1_000)).hits[-1].line.seq
        asked: dict[str, Callable[[], Awaitable[object]]] = {
            "sessions, first page": engine.sessions.browse,
            "sessions, a page deep": lambda: engine.sessions.browse(before=deep_session),
            "sessions, a title that is nowhere": lambda: engine.sessions.browse(text="nowhere at all"),
            "hits of a common word": lambda: engine.search.hits(common),
            "hits of a common word, a page deep": lambda: engine.search.hits(common, before=deep_hit),
            "hits of a rare word": lambda: engine.search.hits(RARE),
            "state, first page": engine.state.browse,
            "state, a page deep": lambda: engine.state.browse(after=deep_state),
            "state, a key that is nowhere": lambda: engine.state.browse(text="nowhere at all"),
        }
        for name, ask in asked.items():
            took, stood, idle = await _asked(ask)
            yield within(f"{name}, until it is there", took, "ms", idle)
            yield within(f"{name}, the loop stands", stood, "ms", idle, limit=FRAME)


async def _asked(ask: Callable[[], Awaitable[object]]) -> tuple[float, float, float]:
    """The median of its time; the longest that the loop stood in the middle of all rounds; and that while idle."""
    took, stood, idle = [], [], []
    for _ in range(ROUNDS):
        idle.append(await _standing(asyncio.sleep(0.02)))
        began = time.perf_counter()
        stood.append(await _standing(ask()))
        took.append((time.perf_counter() - began) * 1_000)
    return statistics.median(took), statistics.median(stood), statistics.median(idle)


async def _standing(work: Awaitable[object]) -> float:
    """The longest time between two turns of the loop, which turns every millisecond."""
    task, longest, last = asyncio.ensure_future(work), 0.0, time.perf_counter()
    while not task.done():
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    await task
    return longest * 1_000


def lines() -> Iterator[Line]:
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        path, writing = Path(folder, "browse.db"), Writing()
        database = Database.open(path, write=True)
        with database.writing_connection() as conn:
            fill(conn, writing)
        database.close()
        yield from asyncio.run(_all(path, writing))


async def _all(path: Path, writing: Writing) -> list[Line]:
    return [line async for line in measure(path, writing)]


if __name__ == "__main__":
    print_lines(lines())
