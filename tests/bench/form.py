"""The form of a runner with a hundred fields, and a new event: from the key to the frame, against an empty screen."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen

from console.app import Trackside
from console.launch import LaunchOptions
from engine.api import Engine
from tests.bench.lines import Line, print_lines, within

SIZE = (160, 45)
FIELDS, TIMES = 100, 15
TYPES = (
    "string", "text", "integer", "float", "boolean", "select", "prompt-editor", "llm-model-selector",
    "model-fallback-selector", "rerank-model-selector", "knowledge-base-multi-selector", "file", "array[file]",
    "array[string]",
)  # fmt: skip
PATIENCE = 20


def _runner(folder: Path) -> Path:
    """One with every type of field, again and again."""
    config = [
        {"name": f"field_{place}", "type": kind, "label": f"Field {place}", "description": "What it is for. " * 5}
        | ({"options": ["one", "two", "three"]} if kind == "select" else {})
        for place in range(FIELDS)
        for kind in (TYPES[place % len(TYPES)],)
    ]
    path = folder / "many.py"
    path.write_text(f"config = {config!r}\nasync def run(ctx):\n    yield\n")
    return path


async def _took(pilot: Pilot[None], act: Callable[[], object], is_laid_out: Callable[[], bool]) -> float:
    """Milliseconds from an act until what it opens is drawn."""
    began = time.perf_counter()
    act()
    async with asyncio.timeout(PATIENCE):
        while not is_laid_out():  # noqa: ASYNC110  (Textual has no event for it)
            await asyncio.sleep(0.001)
        drawn = asyncio.Event()
        pilot.app.screen.call_after_refresh(drawn.set)
        await drawn.wait()
    return (time.perf_counter() - began) * 1_000


async def _back(pilot: Pilot[None], app: Trackside) -> None:
    app.screen.dismiss()
    async with asyncio.timeout(PATIENCE):
        while app.screen is not app.main:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    await pilot.pause(0.1)


async def measure() -> AsyncIterator[Line]:
    """By turns, so that both see the same machine. The first time loads the code, and is told apart."""
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        path = _runner(Path(folder))
        open_engine: Callable[[], Awaitable[Engine]] = partial(Engine.open, path, db=Path(folder, "bench.db"))
        app = Trackside(LaunchOptions(), open_engine)
        async with app.run_test(size=SIZE) as pilot:
            while not app.active_session.is_open:
                await pilot.pause(0.05)
            await pilot.pause(0.5)
            empty, forms, events = list[float](), list[float](), list[float]()
            for _ in range(TIMES):
                screen: Screen[Any] = Screen()
                empty.append(await _took(pilot, partial(app.push_screen, screen), partial(_is_current, app, screen)))
                await _back(pilot, app)
                forms.append(await _took(pilot, app.action_settings, lambda: _is_laid_out(app)))
                _look(app, "Field 30", "Granted on message.received")
                await _back(pilot, app)
                events.append(await _took(pilot, app.action_compose, lambda: _is_composer(app)))
                _look(app, "someone says something", "what the platform calls it")
                await _back(pilot, app)
    first, rest = forms[0], forms[1:]
    bare = median(empty[1:])
    yield within(f"form of {FIELDS} fields, first time, key to frame", first, "ms", empty[0], limit=300)
    yield within(f"form of {FIELDS} fields, key to frame p50", median(rest), "ms", bare, limit=300)
    yield within(
        f"form of {FIELDS} fields, key to frame slowest of {len(rest)}", max(rest), "ms", max(empty), limit=300
    )
    yield within("new event, first time, key to frame", events[0], "ms", empty[0], limit=300)
    yield within("new event, key to frame p50", median(events[1:]), "ms", bare, limit=300)


def _is_current(app: Trackside, screen: Screen[Any]) -> bool:
    return app.screen is screen and bool(screen.size)


def _is_laid_out(app: Trackside) -> bool:
    """By its name: to import it here would hide what that takes."""
    screen: Any = app.screen
    return type(screen).__name__ == "FormScreen" and screen.list.size.height > 30


def _is_composer(app: Trackside) -> bool:
    screen: Any = app.screen
    return type(screen).__name__ == "Composer" and screen.focused is not None and screen.focused.size.width > 0


def _look(app: Trackside, *words: str) -> None:
    """What was drawn must be what was asked for; the clock stands already."""
    shown = "\n".join("".join(part.text for part in strip) for strip in app.screen._compositor.render_strips())
    if not all(each in shown for each in words):
        raise AssertionError(f"that is not it:\n{shown}")


async def main() -> None:
    async for line in measure():
        print_lines([line])


if __name__ == "__main__":
    asyncio.run(main())
