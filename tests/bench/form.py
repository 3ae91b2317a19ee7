"""Opening the form of a runner with a hundred fields, and the event composer, against an empty screen."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from textual.pilot import Pilot
from textual.screen import Screen

from console.app import Trackside
from console.launch import LaunchOptions
from engine.api import Engine
from tests.bench.lines import Line, print_lines, within

SIZE = (160, 45)
FIELDS, ROUNDS = 100, 15
TYPES = (
    "string", "text", "integer", "float", "boolean", "select", "prompt-editor", "llm-model-selector",
    "model-fallback-selector", "rerank-model-selector", "knowledge-base-multi-selector", "file", "array[file]",
    "array[string]",
)  # fmt: skip
TIMEOUT_SECONDS = 20
MIN_LIST_ROWS = 30
"""The list of the form is laid out as soon as it is higher than this."""


def _write_runner(folder: Path) -> Path:
    """Write a runner whose settings have every type of field several times."""
    config = [
        {"name": f"field_{number}", "type": kind, "label": f"Field {number}", "description": "What it is for. " * 5}
        | ({"options": ["one", "two", "three"]} if kind == "select" else {})
        for number in range(FIELDS)
        for kind in (TYPES[number % len(TYPES)],)
    ]
    path = folder / "many.py"
    path.write_text(f"config = {config!r}\nasync def run(ctx):\n    yield\n")
    return path


async def _time_opening(
    pilot: Pilot[None], open_screen: Callable[[], object], is_laid_out: Callable[[], bool]
) -> float:
    """Return the milliseconds until the opened screen is drawn."""
    began = time.perf_counter()
    open_screen()
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not is_laid_out():  # noqa: ASYNC110  (Textual has no event for it)
            await asyncio.sleep(0.001)
        drawn = asyncio.Event()
        pilot.app.screen.call_after_refresh(drawn.set)
        await drawn.wait()
    return (time.perf_counter() - began) * 1_000


async def _close(pilot: Pilot[None], app: Trackside) -> None:
    app.screen.dismiss()
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while app.screen is not app.main:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    await pilot.pause(0.1)


async def measure() -> AsyncIterator[Line]:
    """Open all screens in turn, so that other load falls on each. The first time loads code, and is its own figure."""
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        path = _write_runner(Path(folder))
        open_engine: Callable[[], Awaitable[Engine]] = partial(Engine.open, path, db=Path(folder, "bench.db"))
        app = Trackside(LaunchOptions(), open_engine)
        async with app.run_test(size=SIZE) as pilot:
            while not app.active_session.is_open:
                await pilot.pause(0.05)
            await pilot.pause(0.5)
            empty, forms, events = list[float](), list[float](), list[float]()
            for _ in range(ROUNDS):
                screen = Screen[None]()
                empty.append(
                    await _time_opening(pilot, partial(app.push_screen, screen), partial(_is_current, app, screen))
                )
                await _close(pilot, app)
                forms.append(
                    await _time_opening(
                        pilot, app.controllers.settings_form.action_settings, lambda: _is_form_laid_out(app)
                    )
                )
                _check_text(app, "Field 30", "message.received")
                await _close(pilot, app)
                events.append(
                    await _time_opening(
                        pilot, app.controllers.composer.action_compose, lambda: _is_composer_laid_out(app)
                    )
                )
                _check_text(app, "message.received")
                await _close(pilot, app)
    first, rest = forms[0], forms[1:]
    empty_p50 = median(empty[1:])
    yield within(f"form of {FIELDS} fields, first time, key to frame", first, "ms", empty[0], limit=300)
    yield within(f"form of {FIELDS} fields, key to frame p50", median(rest), "ms", empty_p50, limit=300)
    yield within(
        f"form of {FIELDS} fields, key to frame slowest of {len(rest)}", max(rest), "ms", max(empty), limit=300
    )
    yield within("new event, first time, key to frame", events[0], "ms", empty[0], limit=300)
    yield within("new event, key to frame p50", median(events[1:]), "ms", empty_p50, limit=300)


def _is_current(app: Trackside, screen: Screen[None]) -> bool:
    return app.screen is screen and bool(screen.size)


def _is_form_laid_out(app: Trackside) -> bool:
    if app.screen is app.main:  # nothing to import yet: the first opening loads the code, and that is measured
        return False
    from console.ui.settings_form.screen import FormScreen

    return isinstance(app.screen, FormScreen) and app.screen.list.size.height > MIN_LIST_ROWS


def _is_composer_laid_out(app: Trackside) -> bool:
    if app.screen is app.main:
        return False
    from console.ui.composer.screen import ComposerScreen

    screen = app.screen
    return isinstance(screen, ComposerScreen) and screen.focused is not None and screen.focused.size.width > 0


def _check_text(app: Trackside, *texts: str) -> None:
    """Check that the expected screen was drawn. Called when the time is already taken."""
    shown = "\n".join("".join(part.text for part in strip) for strip in app.screen._compositor.render_strips())
    if missing := [text for text in texts if text not in shown]:
        raise AssertionError(f"not drawn: {missing}\n{shown}")


async def main() -> None:
    async for line in measure():
        print_lines([line])


if __name__ == "__main__":
    asyncio.run(main())
