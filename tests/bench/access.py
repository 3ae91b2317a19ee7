"""What a call costs: the gate's decision alone, and the whole way from a child to the facts and back."""

import asyncio
import json
import timeit
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

import yaml

from engine.access.gate import decide_call
from engine.access.server import CALL_TYPES
from engine.api import Engine, Grants, RunOptions, Workspace, message, prepare
from tests.bench.lines import Line, at_most, print_lines, within
from tests.bench.stage import RUNNERS
from tests.bench.warm import through_pipes

RESOURCES = 1_000
RATE = 2_000
CALLS = 1_000
"""Of each kind in a round: the 99th percentile is then the tenth slowest."""
ROUNDS = 5
TOOLS = """
capabilities = {"tool_calling": True}
permissions = {"tools": ["call"]}
async def run(ctx):
    yield {}
"""


def _grants(count: int) -> Grants:
    """Frozen as a run's are: so many tools, allowed by an agent's policy."""
    names = [f"tool_{number}" for number in range(count)]
    config = {
        "runners": ["caller.py"],
        "agents": [{"id": "a", "runner": "caller", "resources": {"allowed_tool_names": names}}],
        "tools": [{"name": name, "kind": "scripted", "answers": [{"result": 1}]} for name in names],
    }
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        Path(folder, "caller.py").write_text(TOOLS)
        Path(folder, "trackside.yaml").write_text(yaml.safe_dump(config))
        return prepare(Workspace.find(Path(folder)), message("e", "hi", conversation_id="s"), RunOptions()).grants


def _decisions(count: int) -> tuple[float, float]:
    """Nanoseconds of a decision with so many resources granted, and of one look-up among them."""
    grants, action = _grants(count), CALL_TYPES["call_tool"]
    name = f"tool_{count // 2}"
    arguments = action.arguments.model_validate({"tool_name": name, "parameters": {}})
    if not decide_call(action, grants, arguments).allowed:
        raise AssertionError("the tool was not granted")
    operations, key = grants.operations, f"tool:{name}"
    decision = min(timeit.repeat(lambda: decide_call(action, grants, arguments), number=20_000, repeat=20))
    look_up = min(timeit.repeat(lambda: operations[key], number=20_000, repeat=20))
    return decision / 20_000 * 1e9, look_up / 20_000 * 1e9


async def _calls(*, beside_results: bool) -> dict[str, list[float]]:
    """Milliseconds of every call of one run, told by its child; beside another child that streams, if wanted."""
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        async with await Engine.open(RUNNERS, db=Path(folder, "bench.db")) as engine:
            await _ask(engine, 50)
            if not beside_results:
                return await _ask(engine, CALLS)
            streaming = await _begin(engine, "steady", f"{RATE} 3600")
            await _streams(engine, streaming)
            took = await _ask(engine, CALLS)
            await engine.runs.cancel(streaming)
            await engine.runs.wait_for_end(streaming)
            return took


async def _ask(engine: Engine, count: int) -> dict[str, list[float]]:
    run_id = await _begin(engine, "asks", str(count))
    await engine.runs.wait_for_end(run_id)
    entries = [entry async for entry in engine.runs.entries(run_id)]
    if sum(entry.type.startswith("call.") for entry in entries) != 6 * count:
        raise AssertionError("calls are not in the journal")
    (said,) = (entry for entry in entries if entry.type == "message.completed")
    took: dict[str, list[float]] = json.loads(json.loads(said.data)["message"]["content"])
    return {name: [seconds * 1_000 for seconds in each] for name, each in took.items()}


async def _begin(engine: Engine, runner: str, text: str) -> str:
    event = message(engine.ids.new("evt"), text, conversation_id=runner)
    return await (await engine.runs.submit(event, RunOptions(runner=runner))).started


async def _streams(engine: Engine, run_id: str) -> None:
    """Return once a run has streamed for half a second."""
    async with engine.subscribe(run_id=run_id) as news:
        seen = 0
        async for batch in news:
            seen += len(batch)
            if seen > RATE / 2:
                return


def measure() -> Iterator[Line]:
    """The best round: what others do to the machine only ever adds."""
    decision, look_up = _decisions(RESOURCES)
    yield at_most("the gate's decision with 1,000 granted resources", decision, "ns", look_up)
    yield at_most("the same with one granted resource", _decisions(1)[0], "ns", look_up)
    pipes = through_pipes(CALLS)
    for where, beside_results, limit in (("idle", False, 3), ("beside 2,000 results/s", True, 5)):
        rounds = [asyncio.run(_calls(beside_results=beside_results)) for _ in range(ROUNDS)]
        for call in ("state_get", "state_set"):
            p50, p99 = (min(_at(took[call], percent) for took in rounds) for percent in (50, 99))
            yield within(f"{call} and back p50, {where}", p50, "ms", _at(pipes, 50))
            yield within(f"{call} and back p99, {where}", p99, "ms", _at(pipes, 99), limit=limit)


def _at(numbers: list[float], percent: int) -> float:
    return quantiles(numbers, n=100)[percent - 1]


if __name__ == "__main__":
    print_lines(measure())
