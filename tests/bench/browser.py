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
from tests.bench.browse import FRAME_MS, fill_sessions
from tests.bench.fresh_engine import RUNNERS
from tests.bench.lines import Line, print_lines, within
from tests.bench.search import RARE_WORD, SampleText

SIZE = (160, 45)
ROUNDS = 20
TIMEOUT_SECONDS = 60.0
SECONDS_BETWEEN_KEYS = 0.06
SCROLLED_SESSIONS = 2_000
LONGEST_GAP_MS = 100
"""The longest time without a frame that is allowed while scrolling."""

Action = Callable[[Trackside, "_LoopMonitor"], Awaitable[None]]


class _Empty(FullScreen):
    """The baseline: an empty screen over the same console."""

    place = "nowhere"
    heading = "Nothing"

    def tick(self, now: Situation) -> None:
        pass


class _LoopMonitor:
    """Times every turn of the event loop, which takes a millisecond if nothing blocks it."""

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


async def _wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not condition():  # noqa: ASYNC110  (the condition has no event)
            await asyncio.sleep(0.005)


async def _wait_for_frame(app: Trackside) -> None:
    """Wait until the current screen is drawn."""
    drawn = asyncio.Event()
    app.screen.refresh()
    app.screen.call_after_refresh(drawn.set)
    await asyncio.wait_for(drawn.wait(), TIMEOUT_SECONDS)


async def _close(app: Trackside) -> None:
    """Close the screen and wait until it is removed."""
    closed = app.screen
    app.controllers.escape.action_escape()
    await _wait_until(lambda: app.screen is app.main and not closed.is_running)
    await _wait_for_frame(app)


async def _measure_empty_screen(app: Trackside, monitor: _LoopMonitor) -> None:
    async with monitor.measuring():
        app.push_screen(_Empty(app.services))
        await _wait_until(lambda: isinstance(app.screen, _Empty) and app.screen.footer.is_mounted)
        await _wait_for_frame(app)
    await _close(app)


async def _measure_opening(app: Trackside, monitor: _LoopMonitor) -> None:
    async with monitor.measuring():
        await _open(app)
        await _wait_for_frame(app)
    await _close(app)


async def _measure_closing(app: Trackside, monitor: _LoopMonitor) -> None:
    await _open(app)
    await _wait_for_frame(app)
    async with monitor.measuring():
        await _close(app)


async def _measure_search(word: str, app: Trackside, monitor: _LoopMonitor) -> None:
    """Type a word letter by letter."""
    screen = await _open(app)
    async with monitor.measuring():
        for end in range(1, len(word) + 1):
            screen.search.value = word[:end]
            await asyncio.sleep(SECONDS_BETWEEN_KEYS)
        await _wait_until(lambda: screen.found is not None and screen.found.query == word and not screen.reading)
        await _wait_for_frame(app)
    screen.search.value = ""
    await _wait_until(lambda: screen.found is None and not screen.reading)
    await _close(app)


async def _measure_scrolling(app: Trackside, monitor: _LoopMonitor) -> None:
    """Page down until enough sessions are read."""
    screen = await _open(app)
    async with monitor.measuring():
        while len(screen.reader.tree) < SCROLLED_SESSIONS:
            screen.action_page(1)
            await asyncio.sleep(SECONDS_BETWEEN_KEYS)
    await _close(app)


async def _open(app: Trackside) -> SessionsScreen:
    """Open the session browser and wait until it has rows."""
    app.controllers.sessions.action_sessions()
    await _wait_until(lambda: isinstance(app.screen, SessionsScreen) and app.screen.list.source.height > 0)
    screen = app.screen
    assert isinstance(screen, SessionsScreen)
    return screen


async def _turns(path: Path, actions: dict[str, Action]) -> dict[str, list[float]]:
    """Return the milliseconds of every turn of the loop during each action, after one round to warm up."""
    app = Trackside(LaunchOptions(), partial(Engine.open, RUNNERS / "messages.py", db=path))
    turns: dict[str, list[float]] = {}
    async with app.run_test(size=SIZE) as pilot:
        await _wait_until(lambda: app.controllers.drafts.is_open)  # set last when the console opens
        await pilot.pause()
        for name, action in actions.items():
            await action(app, _LoopMonitor())
            monitor = _LoopMonitor()
            for _ in range(ROUNDS):
                await action(app, monitor)
            turns[name] = monitor.turns_ms
    return turns


def measure(path: Path, text: SampleText) -> Iterator[Line]:
    scrolling = f"scrolling through {SCROLLED_SESSIONS:,} sessions"
    actions: dict[str, Action] = {
        "an empty screen": _measure_empty_screen,
        "opening the session browser": _measure_opening,
        "closing the session browser": _measure_closing,
        "searching a common word": partial(_measure_search, text.common_word),
        "searching a rare word": partial(_measure_search, RARE_WORD),
        scrolling: _measure_scrolling,
    }
    turns = asyncio.run(_turns(path, actions))
    empty = turns.pop("an empty screen")
    for name, times in turns.items():
        limit = LONGEST_GAP_MS if name == scrolling else None
        yield within(f"{name}, the loop is blocked, p95", _p95(times), "ms", _p95(empty), limit=FRAME_MS)
        yield within(f"{name}, the loop is blocked, longest", max(times), "ms", max(empty), limit=limit)


def _p95(times: list[float]) -> float:
    return quantiles(times, n=100, method="inclusive")[94]


def lines() -> Iterator[Line]:
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        path, text = Path(folder, "browse.db"), SampleText()
        database = Database.open(path, write=True)
        with database.writing_connection() as conn:
            fill_sessions(conn, text)
        database.close()
        yield from measure(path, text)


if __name__ == "__main__":
    print_lines(lines())
