"""The cost of a call: the gate's decision alone, and the round trip from a child to the database and back."""

import asyncio
import json
import timeit
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from engine.access.gate import decide_call
from engine.access.server import CALL_TYPES
from engine.api import Engine, Grants, RunOptions, Workspace, message, prepare
from engine.events import EntryKind
from engine.journal.kinds import CALL_KINDS
from tests.bench.fresh_engine import RUNNERS, start_run, wait_for_deltas
from tests.bench.lines import Line, at_most, percentile, print_lines, within
from tests.bench.warm import time_pipes

RESOURCES = 1_000
RESULTS_PER_SECOND = 2_000
CALLS = 1_000
"""Calls of each kind in a round; the 99th percentile is then the tenth slowest."""
WARM_UP_CALLS = 50
ROUNDS = 5
DECISIONS = 20_000
"""Decisions in a round of `timeit`."""
TOOL_RUNNER = """
capabilities = {"tool_calling": True}
permissions = {"tools": ["call"]}
async def run(ctx):
    yield {}
"""


def _grants(count: int) -> Grants:
    """Prepare a run and return its grants: this many tools, allowed by an agent's policy."""
    names = [f"tool_{number}" for number in range(count)]
    config = {
        "runners": ["caller.py"],
        "agents": [{"id": "a", "runner": "caller", "resources": {"allowed_tool_names": names}}],
        "tools": [{"name": name, "kind": "scripted", "answers": [{"result": 1}]} for name in names],
    }
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        Path(folder, "caller.py").write_text(TOOL_RUNNER)
        Path(folder, "trackside.yaml").write_text(yaml.safe_dump(config))
        return prepare(Workspace.find(Path(folder)), message("e", "hi", conversation_id="s"), RunOptions()).grants


def _time_decision(count: int) -> tuple[float, float]:
    """Return the nanoseconds of a decision with this many granted resources, and of one dict look-up in them."""
    grants, call = _grants(count), CALL_TYPES["call_tool"]
    name = f"tool_{count // 2}"
    arguments = call.arguments.model_validate({"tool_name": name, "parameters": {}})
    if not decide_call(call, grants, arguments).allowed:
        raise AssertionError("the tool was not granted")
    operations, key = grants.operations, f"tool:{name}"
    decision = min(timeit.repeat(lambda: decide_call(call, grants, arguments), number=DECISIONS, repeat=20))
    look_up = min(timeit.repeat(lambda: operations[key], number=DECISIONS, repeat=20))
    return decision / DECISIONS * 1e9, look_up / DECISIONS * 1e9


async def _time_calls(*, with_stream: bool) -> dict[str, list[float]]:
    """Return the milliseconds of every call of one run, as its child measured them.

    `with_stream` starts another run in a child of its own, which streams results meanwhile.
    """
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        async with await Engine.open(RUNNERS, db=Path(folder, "bench.db")) as engine:
            await _run_calls(engine, WARM_UP_CALLS)
            if not with_stream:
                return await _run_calls(engine, CALLS)
            streaming = await start_run(engine, "steady", f"{RESULTS_PER_SECOND} 3600")
            await wait_for_deltas(engine, streaming, RESULTS_PER_SECOND // 2)
            took = await _run_calls(engine, CALLS)
            await engine.runs.cancel(streaming)
            await engine.runs.wait_for_end(streaming)
            return took


async def _run_calls(engine: Engine, count: int) -> dict[str, list[float]]:
    run_id = await start_run(engine, "calls", str(count))
    await engine.runs.wait_for_end(run_id)
    entries = [entry async for entry in engine.runs.entries(run_id)]
    if sum(entry.type in CALL_KINDS for entry in entries) != 2 * len(CALL_KINDS) * count:
        raise AssertionError("calls are missing in the journal")
    (completed,) = (entry for entry in entries if entry.type == EntryKind.MESSAGE_COMPLETED)
    took: dict[str, list[float]] = json.loads(json.loads(completed.data)["message"]["content"])
    return {call: [seconds * 1_000 for seconds in times] for call, times in took.items()}


def measure() -> Iterator[Line]:
    """Take the best round: other load on the machine can only add time."""
    decision, look_up = _time_decision(RESOURCES)
    yield at_most("the gate's decision with 1,000 granted resources", decision, "ns", look_up)
    yield at_most("the gate's decision with one granted resource", _time_decision(1)[0], "ns", look_up)
    pipes = time_pipes(CALLS)
    for load, with_stream, limit in (("idle", False, 3), ("with 2,000 results/s of another run", True, 5)):
        rounds = [asyncio.run(_time_calls(with_stream=with_stream)) for _ in range(ROUNDS)]
        for call in ("state_get", "state_set"):
            p50, p99 = (min(percentile(took[call], percent) for took in rounds) for percent in (50, 99))
            yield within(f"{call} round trip p50, {load}", p50, "ms", percentile(pipes, 50))
            yield within(f"{call} round trip p99, {load}", p99, "ms", percentile(pipes, 99), limit=limit)


if __name__ == "__main__":
    print_lines(measure())
