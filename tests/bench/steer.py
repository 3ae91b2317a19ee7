"""From sending a message to a run in progress until the runner's pull returns it, while another run streams."""

import asyncio
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict

from engine.api import Engine, RunOptions, message
from engine.events import EntryKind
from tests.bench.fresh_engine import RUNNERS, start_run, wait_for_deltas
from tests.bench.lines import Line, percentile, print_lines, within

RESULTS_PER_SECOND = 500
"""Of the run in the other conversation."""
MESSAGES = 400
CALLS = 400
"""Calls of `run_get`, the baseline."""
ROUNDS = 3
SECONDS_BETWEEN_MESSAGES = 0.01, 0.04
"""Random in this range, so that messages fall on every moment between two pulls."""
LIMIT_MS = 20


class _Report(TypedDict):
    """The message of the runner `pulls`."""

    call_seconds: list[float]
    pulled_at: dict[str, int]
    """Nanoseconds by the text of each message."""


async def _round() -> tuple[list[float], list[float]]:
    """Return the milliseconds of each message, and of each `run_get` that the same child called before."""
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        async with await Engine.open(RUNNERS, db=Path(folder, "bench.db")) as engine:
            streaming = await start_run(engine, "steady", f"{RESULTS_PER_SECOND} 3600")
            await wait_for_deltas(engine, streaming, RESULTS_PER_SECOND // 2)
            run_id = await start_run(engine, "pulls", f"{CALLS} {MESSAGES}")
            await wait_for_deltas(engine, run_id, 1)
            sent_at = await _send_messages(engine, run_id)
            await engine.runs.wait_for_end(run_id)
            await engine.runs.cancel(streaming)
            await engine.runs.wait_for_end(streaming)
            report = await _read_report(engine, run_id)
    steered = [(report["pulled_at"][text] - at) / 1e6 for text, at in sent_at.items()]
    return steered, [seconds * 1_000 for seconds in report["call_seconds"]]


async def _send_messages(engine: Engine, run_id: str) -> dict[str, int]:
    """Send the messages. Returns when each was sent, in nanoseconds of the clock that both processes share."""
    dice, sent_at = random.Random(4), dict[str, int]()
    for number in range(MESSAGES):
        await asyncio.sleep(dice.uniform(*SECONDS_BETWEEN_MESSAGES))
        event = message(engine.ids.new("evt"), str(number), conversation_id="pulls")
        sent_at[str(number)] = time.time_ns()
        ticket = await engine.runs.submit(event, RunOptions(runner="pulls"))
        if ticket.claimed_by != run_id:
            raise AssertionError(f"a message was not claimed: {ticket.not_claimed_reason}")
    return sent_at


async def _read_report(engine: Engine, run_id: str) -> _Report:
    entries = [entry async for entry in engine.runs.entries(run_id)]
    if sum(entry.type == EntryKind.STEERING_INJECTED for entry in entries) != MESSAGES:
        raise AssertionError("messages are missing in the journal")
    (completed,) = (entry for entry in entries if entry.type == EntryKind.MESSAGE_COMPLETED)
    return json.loads(json.loads(completed.data)["message"]["content"])


def measure() -> Iterator[Line]:
    """Take the best round: other load on the machine can only add time."""
    rounds = [asyncio.run(_round()) for _ in range(ROUNDS)]
    for percent, limit in ((50, None), (99, LIMIT_MS)):
        steered, called = (min(percentile(times, percent) for times in column) for column in zip(*rounds, strict=True))
        name = f"message from sent to pulled p{percent}, with {RESULTS_PER_SECOND} results/s of another run"
        yield within(name, steered, "ms", called, limit=limit)


if __name__ == "__main__":
    print_lines(measure())
