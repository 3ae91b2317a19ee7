"""From a message that is sent to a working run until the runner's pull has it, beside another run's stream."""

import asyncio
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Any

from engine.api import Engine, RunOptions, message
from tests.bench.lines import Line, print_lines, within
from tests.bench.stage import RUNNERS

RATE = 500
"""Results a second of the run in the other conversation."""
MESSAGES = 400
ASKS = 400
ROUNDS = 3
BETWEEN = 0.01, 0.04
"""Seconds between two messages: they come whenever they like, not when a pull has just been answered."""
LIMIT = 20
"""Milliseconds."""


async def _round() -> tuple[list[float], list[float]]:
    """Milliseconds of each message, and of each `run_get` that the same child asked before."""
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        async with await Engine.open(RUNNERS, db=Path(folder, "bench.db")) as engine:
            streaming = await _begin(engine, "steady", f"{RATE} 3600")
            await _streams(engine, streaming, RATE // 2)
            run_id = await _begin(engine, "pulls", f"{ASKS} {MESSAGES}")
            await _streams(engine, run_id, 1)
            sent = await _send(engine, run_id)
            await engine.runs.wait_for_end(run_id)
            await engine.runs.cancel(streaming)
            await engine.runs.wait_for_end(streaming)
            told = await _told(engine, run_id)
    asked = [seconds * 1_000 for seconds in told["asked"]]
    return [(told["pulled"][text] - at) / 1e6 for text, at in sent.items()], asked


async def _send(engine: Engine, run_id: str) -> dict[str, int]:
    """Send the messages; when each was, by the clock that both processes have."""
    chance, sent = random.Random(4), dict[str, int]()
    for number in range(MESSAGES):
        await asyncio.sleep(chance.uniform(*BETWEEN))
        event = message(engine.ids.new("evt"), str(number), conversation_id="pulls")
        sent[str(number)] = time.time_ns()
        ticket = await engine.runs.submit(event, RunOptions(runner="pulls"))
        if ticket.claimed_by != run_id:
            raise AssertionError(f"a message was not claimed: {ticket.not_claimed_reason}")
    return sent


async def _told(engine: Engine, run_id: str) -> dict[str, Any]:
    """What the runner noted."""
    entries = [entry async for entry in engine.runs.entries(run_id)]
    if sum(entry.type == "steering.injected" for entry in entries) != MESSAGES:
        raise AssertionError("messages are not in the journal")
    (said,) = (entry for entry in entries if entry.type == "message.completed")
    return json.loads(json.loads(said.data)["message"]["content"])


async def _begin(engine: Engine, runner: str, text: str) -> str:
    event = message(engine.ids.new("evt"), text, conversation_id=runner)
    return await (await engine.runs.submit(event, RunOptions(runner=runner))).started


async def _streams(engine: Engine, run_id: str, deltas: int) -> None:
    """Return once a run has streamed so much."""
    async with engine.subscribe(run_id=run_id) as news:
        async for batch in news:
            deltas -= sum(told.entry.type == "message.delta" for told in batch)
            if deltas <= 0:
                return


def measure() -> Iterator[Line]:
    """The best round: what others do to the machine only ever adds."""
    rounds = [asyncio.run(_round()) for _ in range(ROUNDS)]
    for percent, limit in ((50, None), (99, LIMIT)):
        steered, asked = (min(_at(each[part], percent) for each in rounds) for part in (0, 1))
        name = f"a message from sent to pulled p{percent}, beside {RATE} results/s"
        yield within(name, steered, "ms", asked, limit=limit)


def _at(numbers: list[float], percent: int) -> float:
    return quantiles(numbers, n=100)[percent - 1]


if __name__ == "__main__":
    print_lines(measure())
