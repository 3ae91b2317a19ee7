"""The session browser over ten thousand sessions and a million lines: how long the loop stands while it is used."""

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
ROUNDS = 24
PATIENCE = 60.0
TYPING = 0.06
"""Seconds between two keys."""
FAR = 2_000

Act = Callable[[Trackside, "_Watch"], Awaitable[None]]


class _Empty(FullScreen):
    """A screen with nothing on it: what the console itself needs while it is looked at."""

    place = "nowhere"
    heading = "Nothing"

    def tick(self, now: Situation) -> None:
        pass


class _Watch:
    """Notes how long each turn of the loop takes, which turns every millisecond if nothing keeps it."""

    def __init__(self) -> None:
        self.stood: list[float] = []
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def looking(self) -> AsyncIterator[None]:
        self._task = asyncio.ensure_future(self._look())
        try:
            yield
        finally:
            self._task.cancel()

    async def _look(self) -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            self.stood.append((now - last) * 1_000)
            last = now


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110  (what it waits for has no event)
            await asyncio.sleep(0.005)


async def _painted(app: Trackside) -> None:
    """What is shown now has been drawn."""
    drawn = asyncio.Event()
    app.screen.refresh()
    app.screen.call_after_refresh(drawn.set)
    await asyncio.wait_for(drawn.wait(), PATIENCE)


async def _leave(app: Trackside) -> None:
    """Until what was left has been taken down, too."""
    left = app.screen
    app.action_escape()
    await _until(lambda: app.screen is app.main and not left.is_running)
    await _painted(app)


async def _empty(app: Trackside, watch: "_Watch") -> None:
    async with watch.looking():
        app.push_screen(_Empty())
        await _until(lambda: isinstance(app.screen, _Empty) and app.screen.footer.is_mounted)
        await _painted(app)
    await _leave(app)


async def _opening(app: Trackside, watch: "_Watch") -> None:
    async with watch.looking():
        await _opened(app)
        await _painted(app)
    await _leave(app)


async def _leaving(app: Trackside, watch: "_Watch") -> None:
    await _opened(app)
    await _painted(app)
    async with watch.looking():
        await _leave(app)


async def _search(word: str, app: Trackside, watch: "_Watch") -> None:
    """Letter by letter, as it is typed."""
    screen = await _opened(app)
    async with watch.looking():
        for end in range(1, len(word) + 1):
            screen.search.value = word[:end]
            await asyncio.sleep(TYPING)
        await _until(lambda: screen.found is not None and screen.found.query == word and not screen.reading)
        await _painted(app)
    screen.search.value = ""
    await _until(lambda: screen.found is None and not screen.reading)
    await _leave(app)


async def _scroll(app: Trackside, watch: "_Watch") -> None:
    """Down by pages until so many sessions are read."""
    screen = await _opened(app)
    async with watch.looking():
        while len(screen.desk.tree) < FAR:
            screen.action_page(1)
            await asyncio.sleep(TYPING)
    await _leave(app)


async def _opened(app: Trackside) -> SessionsScreen:
    app.action_sessions()
    await _until(lambda: isinstance(app.screen, SessionsScreen) and app.screen.list.source.height > 0)
    screen = app.screen
    assert isinstance(screen, SessionsScreen)
    return screen


async def _measured(path: Path, acts: dict[str, Act]) -> dict[str, list[float]]:
    """Milliseconds of every turn of the loop during each of these, after one that is not counted."""
    app = Trackside(LaunchOptions(), partial(Engine.open, RUNNERS / "talks.py", db=path))
    stood: dict[str, list[float]] = {}
    async with app.run_test(size=SIZE) as pilot:
        await _until(lambda: app.drafts is not None)  # the last that is begun when it is opened
        await pilot.pause()
        for name, act in acts.items():
            await act(app, _Watch())
            watch = _Watch()
            for _ in range(ROUNDS):
                await act(app, watch)
            stood[name] = watch.stood
    return stood


def measure(path: Path, writing: Writing) -> Iterator[Line]:
    acts: dict[str, Act] = {
        "an empty screen": _empty,
        "opening it": _opening,
        "leaving it": _leaving,
        "searching a common word": partial(_search, writing.common),
        "searching a rare word": partial(_search, RARE),
        f"scrolling through {FAR:,} sessions": _scroll,
    }
    stood = asyncio.run(_measured(path, acts))
    empty = stood.pop("an empty screen")
    for name, times in stood.items():
        yield within(f"{name}, the loop stands, p95", _p95(times), "ms", _p95(empty), limit=FRAME)
        yield within(f"{name}, the loop stands, longest", max(times), "ms", max(empty))


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
