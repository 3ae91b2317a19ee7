"""The session browser over ten thousand sessions and a million lines: how long it blocks the event loop."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

from console.app import Trackside
from console.launch import LaunchOptions
from console.model.commands.situation import Situation
from console.ui.sessions.screen import SessionsScreen
from console.ui.shared.full_screen import FullScreen
from engine.api import Engine
from engine.store.database import Database
from tests.bench.browse import FRAME, fill_talks
from tests.bench.lines import Line, print_lines, within
from tests.bench.search import RARE, Writing
from tests.bench.stage import RUNNERS

SIZE = (160, 45)
ROUNDS = 20
TIMEOUT_SECONDS = 60.0
KEY_SECONDS = 0.06
"""Between two keys."""
SCROLLED_SESSIONS = 2_000
LONGEST_GAP_MS = 100
"""The longest time without a frame that is allowed while scrolling."""

Act = Callable[[Trackside, "_Watch"], Awaitable[None]]


class _Empty(FullScreen):
    """The baseline: an empty screen over the same console."""

    place = "nowhere"
    heading = "Nothing"

    def tick(self, now: Situation) -> None:
        pass


class _Watch:
    """Measures every turn of the event loop, which takes a millisecond if nothing blocks it."""

    def __init__(self) -> None:
        self.turns_ms: list[float] = []
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def measuring(self) -> AsyncIterator[None]:
        self._task = asyncio.ensure_future(self._measure())
        try:
            yield
        finally:
            self._task.cancel()

    async def _measure(self) -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            self.turns_ms.append((now - last) * 1_000)
            last = now


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not holds():  # noqa: ASYNC110  (the condition has no event)
            await asyncio.sleep(0.005)


async def _painted(app: Trackside) -> None:
    """Wait until the current screen is drawn."""
    drawn = asyncio.Event()
    app.screen.refresh()
    app.screen.call_after_refresh(drawn.set)
    await asyncio.wait_for(drawn.wait(), TIMEOUT_SECONDS)


async def _leave(app: Trackside) -> None:
    """Close the screen and wait until it is removed."""
    left = app.screen
    app.action_escape()
    await _until(lambda: app.screen is app.main and not left.is_running)
    await _painted(app)


async def _empty(app: Trackside, watch: "_Watch") -> None:
    async with watch.measuring():
        app.push_screen(_Empty())
        await _until(lambda: isinstance(app.screen, _Empty) and app.screen.footer.is_mounted)
        await _painted(app)
    await _leave(app)


async def _opening(app: Trackside, watch: "_Watch") -> None:
    async with watch.measuring():
        await _opened(app)
        await _painted(app)
    await _leave(app)


async def _leaving(app: Trackside, watch: "_Watch") -> None:
    await _opened(app)
    await _painted(app)
    async with watch.measuring():
        await _leave(app)


async def _search(word: str, app: Trackside, watch: "_Watch") -> None:
    """Type a word letter by letter."""
    screen = await _opened(app)
    async with watch.measuring():
        for end in range(1, len(word) + 1):
            screen.search.value = word[:end]
            await asyncio.sleep(KEY_SECONDS)
        await _until(lambda: screen.found is not None and screen.found.query == word and not screen.reading)
        await _painted(app)
    screen.search.value = ""
    await _until(lambda: screen.found is None and not screen.reading)
    await _leave(app)


async def _scroll(app: Trackside, watch: "_Watch") -> None:
    """Page down until enough sessions are read."""
    screen = await _opened(app)
    async with watch.measuring():
        while len(screen.desk.tree) < SCROLLED_SESSIONS:
            screen.action_page(1)
            await asyncio.sleep(KEY_SECONDS)
    await _leave(app)


async def _opened(app: Trackside) -> SessionsScreen:
    app.action_sessions()
    await _until(lambda: isinstance(app.screen, SessionsScreen) and app.screen.list.shelf.height > 0)
    screen = app.screen
    assert isinstance(screen, SessionsScreen)
    return screen


async def _measured(path: Path, acts: dict[str, Act]) -> dict[str, list[float]]:
    """Milliseconds of every turn of the loop during each act, after one round that does not count."""
    app = Trackside(LaunchOptions(), partial(Engine.open, RUNNERS / "talks.py", db=path))
    turns: dict[str, list[float]] = {}
    async with app.run_test(size=SIZE) as pilot:
        await _until(lambda: app.drafts is not None)  # set last when the console opens
        await pilot.pause()
        for name, act in acts.items():
            await act(app, _Watch())
            watch = _Watch()
            for _ in range(ROUNDS):
                await act(app, watch)
            turns[name] = watch.turns_ms
    return turns


def measure(path: Path, writing: Writing) -> Iterator[Line]:
    scrolling = f"scrolling through {SCROLLED_SESSIONS:,} sessions"
    acts: dict[str, Act] = {
        "an empty screen": _empty,
        "opening it": _opening,
        "leaving it": _leaving,
        "searching a common word": partial(_search, writing.common),
        "searching a rare word": partial(_search, RARE),
        scrolling: _scroll,
    }
    turns = asyncio.run(_measured(path, acts))
    empty = turns.pop("an empty screen")
    for name, times in turns.items():
        limit = LONGEST_GAP_MS if name == scrolling else None
        yield within(f"{name}, the loop is blocked, p95", _p95(times), "ms", _p95(empty), limit=FRAME)
        yield within(f"{name}, the loop is blocked, longest", max(times), "ms", max(empty), limit=limit)


def _p95(times: list[float]) -> float:
    return quantiles(times, n=100, method="inclusive")[94]


def lines() -> Iterator[Line]:
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        path, writing = Path(folder, "browse.db"), Writing()
        database = Database.open(path, write=True)
        with database.writing_connection() as conn:
            fill_talks(conn, writing)
        database.close()
        yield from measure(path, writing)


if __name__ == "__main__":
    print_lines(lines())
