"""Typing while a runner streams: from a key that is pressed to the frame that shows it, against RichLog."""

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any

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
from tests.bench.lines import Line, at_most, print_lines, within
from tests.bench.stage import RUNNERS

SIZE = (160, 45)
RATE, SECONDS, ROUNDS = 2_000, 10, 3
WARM = 2
"""Seconds of the load before the first key: the first frames are not like the others."""
PAUSES = (0.03, 0.13)
"""Seconds between a frame and the next key, so that keys fall on every moment between two ticks."""
LETTERS = [chr(code) for code in range(0x2801, 0x28FF)]
"""One for each key, which nothing else on the screen contains."""
PATIENCE = 30


class _Terminal(HeadlessDriver):
    """A driver that gets every frame in full, as a terminal would, and looks for the letter that was typed."""

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
    """What one would write first: a log, a text area, and a line for every entry."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine = engine

    def compose(self) -> ComposeResult:
        yield RichLog()
        yield TextArea()

    def on_mount(self) -> None:
        self.query_one(TextArea).styles.height = 5
        self.query_one(TextArea).focus()
        self.run_worker(self._hear())

    async def _hear(self) -> None:
        log = self.query_one(RichLog)
        async with self.engine.subscribe(await self.engine.last_row()) as news:
            async for batch in news:
                for told in batch:
                    entry = told.entry
                    log.write(Text(f"  {entry.position:>8}  {entry.type:22} {entry.data}"))


def _type(app: App[None]) -> list[float]:
    """Press one key after the other for as long as the load lasts; milliseconds until each was seen."""
    dice, took, end = random.Random(7), list[float](), time.perf_counter() + SECONDS - WARM
    assert app._driver is not None
    for letter in LETTERS:
        time.sleep(dice.uniform(*PAUSES))
        if time.perf_counter() > end:
            break
        key = Key(_character_to_key(letter), letter)
        key.set_sender(app)
        _Terminal.painted.clear()
        _Terminal.wanted = letter
        pressed = time.perf_counter()
        app._driver.send_message(key)
        if not _Terminal.painted.wait(PATIENCE):
            raise AssertionError("a key was never seen")
        took.append((_Terminal.painted_at - pressed) * 1_000)
    return took


async def _measured(kind: str) -> list[float]:
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        open_engine = partial(Engine.open, RUNNERS / "talks.py", db=Path(folder, "bench.db"))
        if kind == "console":
            app: Any = Trackside(LaunchOptions(), open_engine)
            return await _run(app, lambda: app.active_session.is_open, lambda: app.active_session.engine)
        async with await open_engine() as engine:
            return await _run(_Log(engine), lambda: True, lambda: engine)


async def _run(app: Any, is_ready: Any, engine: Any) -> list[float]:
    app.driver_class = _Terminal
    running = asyncio.ensure_future(app.run_async(size=SIZE, mouse=False))
    while not (app.is_running and is_ready()):
        if running.done():
            raise AssertionError("the app has ended")
        await asyncio.sleep(0.05)
    conversation = app.active_session.session_id if isinstance(app, Trackside) else "bench"
    # The load must outlast the typing, also beside a baseline that takes seconds for one key.
    event = message(engine().ids.new("evt"), f"{RATE} {SECONDS + PATIENCE}", conversation_id=conversation)
    ticket = await engine().submit(event)
    run_id = await ticket.started
    await asyncio.sleep(WARM)
    took = await asyncio.to_thread(_type, app)
    run = await engine().run(run_id)
    if run.status != "running":
        raise AssertionError(f"the load was over before the keys: {run.status}")
    app.exit()
    await running
    return took


def _child(kind: str) -> list[float]:
    """In a process of its own, so that neither has the other's garbage."""
    line = [sys.executable, "-m", "tests.bench.keys", kind]
    env = os.environ | ({"TEXTUAL_FPS": FPS} if kind == "console" else {})  # as `trackside` itself sets it
    done = subprocess.run(line, stdout=subprocess.PIPE, check=True, text=True, timeout=SECONDS + 3 * PATIENCE, env=env)
    return json.loads(done.stdout.splitlines()[-1])


def measure() -> Iterator[Line]:
    """Several looks at each, in turn, so that what else the machine does falls on both."""
    took: dict[str, list[float]] = {"log": [], "console": []}
    for _ in range(ROUNDS):
        for kind, found in took.items():
            found.extend(_child(kind))
    # Inclusive: the log lets few keys through in that time, and nothing is to be read beyond the slowest of them.
    log, console = (quantiles(found, n=100, method="inclusive") for found in took.values())
    yield at_most("key to paint p95 at 2,000 events/s, against RichLog", console[94], "ms", log[94], limit=0.2)
    yield within("key to paint p95 at 2,000 events/s", console[94], "ms", log[94], aim=40)
    yield within("key to paint p50 at 2,000 events/s", console[49], "ms", log[49])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(asyncio.run(_measured(sys.argv[1]))))
    else:
        print_lines(measure())
