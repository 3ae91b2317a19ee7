"""How long a person waits: for a worker, and for the first line of `trackside run`."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.runtimes.child import Child
from engine.runtimes.guardian import Guardian
from engine.runtimes.runtime import Launch
from tests.bench.lines import Line, at_most, print_lines
from tests.bench.stage import RUNNERS

ROUNDS = 20
# Byte code is kept on a person's machine, whatever is set on this one.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
COMMAND = "from console.cli.main import main; raise SystemExit(main())"


def _bare() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True, env=ENVIRONMENT)
    return time.perf_counter() - began


async def _worker() -> tuple[float, float]:
    """Seconds until a worker has said `ready`, and until it has loaded its runner."""
    path = RUNNERS / "stream.py"
    guardian = Guardian()
    child = Child(Launch(path, None, path.parent, path.parent), guardian)
    began = time.perf_counter()
    await child.start()
    ready = time.perf_counter() - began
    if not await child.loaded:
        raise AssertionError(f"{path} does not load")
    loaded = time.perf_counter() - began
    await child.kill()
    guardian.close()
    return ready, loaded


def _command(database: Path) -> float:
    """Seconds until `trackside run` has printed its first entry."""
    run = ["run", str(RUNNERS / "stream.py"), "-m", "1", "--jsonl", "--db", str(database)]
    began = time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", COMMAND, *run], stdout=subprocess.PIPE, env=ENVIRONMENT) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        took = time.perf_counter() - began
        process.stdout.read()
    if b'"run.started"' not in line:
        raise AssertionError(f"the first line is no entry: {line!r}")
    return took


def measure() -> Iterator[Line]:
    """In turns, and the best of each: what others do to the machine only ever adds."""
    bare, ready, loaded = (_best(times) for times in _rounds(lambda: (_bare(), *asyncio.run(_worker()))))
    yield at_most("worker ready", ready * 1_000, "ms", bare * 1_000)
    yield at_most("worker loaded", loaded * 1_000, "ms", bare * 1_000, limit=13)
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        database = Path(folder, "bench.db")
        bare, first = (_best(times) for times in _rounds(lambda: (_bare(), _command(database))))
    yield at_most("first entry of `trackside run --jsonl`", first * 1_000, "ms", bare * 1_000)


def _rounds(turn: Callable[[], tuple[float, ...]]) -> Iterator[tuple[float, ...]]:
    turn()  # byte code, the database and the disk's cache are there from now on
    return zip(*(turn() for _ in range(ROUNDS)), strict=True)


def _best(times: tuple[float, ...]) -> float:
    return min(times)


if __name__ == "__main__":
    print_lines(measure())
