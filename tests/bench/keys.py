"""From a key press to the frame that shows it while a runner streams, against RichLog."""

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from threading import Event

from rich.text import Text
from textual.app import App, ComposeResult
from textual.drivers.headless_driver import HeadlessDriver
from textual.events import Key
from textual.keys import _character_to_key
from textual.widgets import RichLog, TextArea

from console.app import Trackside
from console.cli.open import FPS
from console.launch import LaunchOptions
from engine.api import Engine, message
from engine.events import Status
from tests.bench.fresh_engine import RUNNERS
from tests.bench.lines import Line, at_most, print_lines, within

SIZE = (160, 45)
RESULTS_PER_SECOND, TYPING_SECONDS, ROUNDS = 2_000, 8, 3
LOAD_SECONDS = 100_000
"""Longer than any measurement: the run is stopped after the last key."""
WARM_UP_SECONDS = 2
"""Time under load before the first key: the first frames are slower than the others."""
PAUSE_SECONDS = (0.03, 0.13)
"""Between a frame and the next key: random in this range, so that keys fall on every moment between two ticks."""
LETTERS = [chr(code) for code in range(0x2801, 0x28FF)]
"""One for each key; nothing else on the screen contains them."""
KEY_TIMEOUT_SECONDS = 30
CHILD_TIMEOUT_SECONDS = 120


class _Terminal(HeadlessDriver):
    """A driver that gets every frame in full, as a terminal would, and looks for the typed letter."""

    wanted = "\0"
    painted = Event()
    painted_at = 0.0

    @property
    def is_headless(self) -> bool:
        return False

    def write(self, data: str) -> None:
        if self.wanted in data:
            type(self).painted_at = time.perf_counter()
            type(self).wanted = "\0"
            self.painted.set()


class _Log(App[None]):
    """The baseline: a RichLog with one line per entry, and a text area."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine = engine

    def compose(self) -> ComposeResult:
        yield RichLog()
        yield TextArea()

    def on_mount(self) -> None:
        self.query_one(TextArea).styles.height = 5
        self.query_one(TextArea).focus()
        self.run_worker(self._follow())

    async def _follow(self) -> None:
        log = self.query_one(RichLog)
        async with self.engine.subscribe(await self.engine.last_row()) as subscription:
            async for batch in subscription:
                for _, entry in batch:
                    log.write(Text(f"  {entry.position:>8}  {entry.type:22} {entry.data}"))


def _type(app: App[None]) -> list[float]:
    """Press keys one after the other. Returns the milliseconds until each was on the screen.

    A key that is not drawn within the timeout ends the typing and counts with the timeout: RichLog falls behind the
    load on a slow machine, and then catches up only after the run.
    """
    dice, took, end = random.Random(7), list[float](), time.perf_counter() + TYPING_SECONDS
    assert app._driver is not None
    for letter in LETTERS:
        time.sleep(dice.uniform(*PAUSE_SECONDS))
        if time.perf_counter() > end:
            break
        key = Key(_character_to_key(letter), letter)
        key.set_sender(app)
        _Terminal.painted.clear()
        _Terminal.wanted = letter
        pressed = time.perf_counter()
        app._driver.send_message(key)
        if not _Terminal.painted.wait(KEY_TIMEOUT_SECONDS):
            took.append(KEY_TIMEOUT_SECONDS * 1_000)
            break
        took.append((_Terminal.painted_at - pressed) * 1_000)
    return took


async def _time_keys(kind: str) -> list[float]:
    """Return the milliseconds of each key in the console, or in the baseline."""
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        open_engine = partial(Engine.open, RUNNERS / "messages.py", db=Path(folder, "bench.db"))
        if kind == "console":
            app = Trackside(LaunchOptions(), open_engine)
            return await _type_under_load(
                app, lambda: app.active_session.engine if app.active_session.is_open else None
            )
        async with await open_engine() as engine:
            return await _type_under_load(_Log(engine), lambda: engine)


async def _type_under_load(app: App[None], opened_engine: Callable[[], Engine | None]) -> list[float]:
    """Run the app, start the load as soon as its engine is open, and type."""
    app.driver_class = _Terminal
    running = asyncio.ensure_future(app.run_async(size=SIZE, mouse=False))
    while not app.is_running or (engine := opened_engine()) is None:
        if running.done():
            raise AssertionError("the app has ended")
        await asyncio.sleep(0.05)
    conversation = app.active_session.session_id if isinstance(app, Trackside) else "bench"
    event = message(engine.ids.new("evt"), f"{RESULTS_PER_SECOND} {LOAD_SECONDS}", conversation_id=conversation)
    ticket = await engine.runs.submit(event)
    run_id = await ticket.started
    await asyncio.sleep(WARM_UP_SECONDS)
    took = await asyncio.to_thread(_type, app)
    run = await engine.runs.get(run_id)
    if run.status != Status.RUNNING:
        raise AssertionError(f"the load ended before the typing: {run.status}")
    await engine.runs.cancel(run_id)
    app.exit()
    await running
    return took


def _child(kind: str) -> list[float]:
    """Measure in a child process: neither side collects the other's garbage."""
    line = [sys.executable, "-m", "tests.bench.keys", kind]
    env = os.environ | ({"TEXTUAL_FPS": FPS} if kind == "console" else {})  # as `trackside` itself sets it
    done = subprocess.run(line, stdout=subprocess.PIPE, check=True, text=True, timeout=CHILD_TIMEOUT_SECONDS, env=env)
    return json.loads(done.stdout.splitlines()[-1])


def measure() -> Iterator[Line]:
    """Measure both in turn, several times, so that other load on the machine falls on both."""
    took: dict[str, list[float]] = {"log": [], "console": []}
    for _ in range(ROUNDS):
        for kind, found in took.items():
            found.extend(_child(kind))
    # Inclusive: the log shows few keys in that time, and the quantile must not exceed the slowest of them.
    log, console = (quantiles(found, n=100, method="inclusive") for found in took.values())
    yield at_most("key to paint p95 at 2,000 events/s, against RichLog", console[94], "ms", log[94], limit=0.2)
    yield within("key to paint p95 at 2,000 events/s", console[94], "ms", log[94], aim=40)
    yield within("key to paint p50 at 2,000 events/s", console[49], "ms", log[49])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(asyncio.run(_time_keys(sys.argv[1]))))
    else:
        print_lines(measure())
