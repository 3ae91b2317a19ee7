"""Frames per second of a streamed model reply that is sent to a child and recorded, against results of a child."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from shutil import copy
from statistics import median
from tempfile import TemporaryDirectory

from engine.api import Engine
from tests.bench.fresh_engine import RUNNERS, complete_run, fresh_engine
from tests.bench.lines import Line, at_least, print_lines

FRAMES = 10_000
ROUNDS = 5
TEXT = "It was the best of times, it was the worst of times. "
PROJECT = """
runners: [model_frames.py]
agents: [{id: bench, runner: model_frames}]
models: [{id: talker, kind: scripted, script: talker.yaml}]
"""


async def _round(folder: Path, number: int) -> tuple[float, float]:
    """Return the frames per second, and the results per second of a runner that calls nothing."""
    async with await Engine.open(folder, db=folder / f"{number}.db") as engine:
        await complete_run(engine, "warm up")
        streamed = await complete_run(engine, "go")
    async with fresh_engine("stream") as engine:
        await complete_run(engine, "1000")
        results = await complete_run(engine, str(FRAMES))
    return FRAMES / streamed.seconds, results.entries / results.seconds


def measure() -> Iterator[Line]:
    """Take the median of each over some rounds."""
    with TemporaryDirectory(prefix="trackside-bench-") as name:
        folder = Path(name)
        (folder / "trackside.yaml").write_text(PROJECT, encoding="utf-8")
        (folder / "talker.yaml").write_text(f"otherwise:\n  pieces: {[TEXT] * FRAMES}\n", encoding="utf-8")
        copy(RUNNERS / "model_frames.py", folder)
        rounds = [asyncio.run(_round(folder, number)) for number in range(ROUNDS)]
    frames, results = median(one[0] for one in rounds), median(one[1] for one in rounds)
    yield at_least("frames of a streamed reply to a child", frames, "1/s", results, aim=0.40, limit=0.20)


if __name__ == "__main__":
    print_lines(measure())
