"""Start-up time of a worker, and of `trackside run` until its first line."""

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
from tests.bench.fresh_engine import RUNNERS
from tests.bench.lines import Line, at_most, print_lines

ROUNDS = 20
# Users have byte code of every module on disk, also if this machine is set not to write it.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
COMMAND = "from console.cli.main import main; raise SystemExit(main())"


def _time_python() -> float:
    """The baseline: return the seconds of `python -c pass`."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True, env=ENVIRONMENT)
    return time.perf_counter() - began


async def _time_worker() -> tuple[float, float]:
    """Return the seconds until a worker is ready, and until it has loaded its runner."""
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


def _time_command(database: Path) -> float:
    """Return the seconds until `trackside run` has printed its first entry."""
    run = ["run", str(RUNNERS / "stream.py"), "-m", "1", "--jsonl", "--db", str(database)]
    began = time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", COMMAND, *run], stdout=subprocess.PIPE, env=ENVIRONMENT) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        took = time.perf_counter() - began
        process.stdout.read()
    if b'"run.started"' not in line:
        raise AssertionError(f"the first line is not the first entry: {line!r}")
    return took


def measure() -> Iterator[Line]:
    """Measure in turn, and take the best time of each: other load on the machine can only add time."""
    bare, ready, loaded = (min(times) for times in _rounds(lambda: (_time_python(), *asyncio.run(_time_worker()))))
    yield at_most("worker ready", ready * 1_000, "ms", bare * 1_000)
    yield at_most("worker loaded", loaded * 1_000, "ms", bare * 1_000, limit=13)
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        database = Path(folder, "bench.db")
        bare, first = (min(times) for times in _rounds(lambda: (_time_python(), _time_command(database))))
    yield at_most("first entry of `trackside run --jsonl`", first * 1_000, "ms", bare * 1_000)


def _rounds(measure_once: Callable[[], tuple[float, ...]]) -> Iterator[tuple[float, ...]]:
    """Return all times of each figure."""
    measure_once()  # writes the byte code, creates the database and fills the disk cache
    return zip(*(measure_once() for _ in range(ROUNDS)), strict=True)


if __name__ == "__main__":
    print_lines(measure())
