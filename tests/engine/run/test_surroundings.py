"""The journal has what decides about a run besides its event: process, seeds, breakpoints, code, own connections."""

import asyncio
import json
import sys

import pytest

from engine.api import Engine
from engine.events import EntryKind
from engine.run import orchestrator
from engine.runtimes.pool import ChildPool
from tests.support.engines import Engines, message, run_event, said, send, wait_for_run
from tests.support.limits import MAX_WAIT_SECONDS, Limit

RUNNER = """
import os, random, subprocess, uuid

async def run(ctx):
    for word in ctx.input.to_text().split(";"):
        if word.startswith("$"):
            subprocess.run(["true", word[1:]])
    text = f"{random.random()} {uuid.uuid4()} {os.environ.get('PYTHONHASHSEED')}"
    yield {"type": "message.completed", "data": {"message": {"role": "assistant", "content": text}}}
    yield {"type": "run.completed", "data": {"finish_reason": "stop"}}
"""
BLOCKED = """
import os, time
while not os.path.exists(os.path.join(os.path.dirname(__file__), "go")):
    time.sleep(0.002)

capabilities = {"steering": True}

async def run(ctx):
    yield {"type": "run.completed", "data": {"finish_reason": "stop"}}
"""


class CountedBits:
    """Seeds that count up, so that a test knows them."""

    def __init__(self) -> None:
        self.last = 100

    def __call__(self, bits: int) -> int:
        self.last += 1
        return self.last


@pytest.fixture
async def engine(open_engine: Engines) -> Engine:
    (open_engine.folder / "me.py").write_text(RUNNER)
    return await open_engine(runtime=lambda _: ChildPool(random_bits=CountedBits()), env=["MY_TOKEN"])


async def test_start_has_interpreter_variables_seeds_and_breakpoints(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_TOKEN", "hidden-value-1")
    monkeypatch.setenv("OTHER", "not passed on")
    run = await run_event(engine, breakpoints=("call_tool",))
    started = run.journal[0].data
    process = started["process"]
    assert started["breakpoints"] == ["call_tool"]
    assert (process["python"], process["python_version"]) == (sys.executable, sys.version.split()[0])
    assert {"MY_TOKEN", "PATH"} <= set(process["variables"])
    assert {"OTHER", "TRACKSIDE_CHILD", "PYTHONUNBUFFERED"}.isdisjoint(process["variables"])
    assert (process["fresh"], process["deterministic"]) == (True, True)
    assert (process["hash_seed"], process["random_seed"]) == (101, f"{102:032x}")
    assert "hidden-value-1" not in json.dumps([entry.data for entry in run.journal])


async def test_later_run_says_that_its_process_is_reused_and_has_a_new_seed(engine: Engine):
    first, second = await run_event(engine), await run_event(engine)
    processes = [run.journal[0].data["process"] for run in (first, second)]
    assert [process["fresh"] for process in processes] == [True, False]
    assert [process["hash_seed"] for process in processes] == [101, 101]
    assert [process["random_seed"] for process in processes] == [f"{102:032x}", f"{103:032x}"]


async def test_run_without_determinism_says_so(open_engine: Engines):
    (open_engine.folder / "me.py").write_text(RUNNER)
    engine = await open_engine(runtime=lambda _: ChildPool(), deterministic=False)
    run = await run_event(engine)
    process = run.journal[0].data["process"]
    assert (process["deterministic"], process["hash_seed"], process["random_seed"]) == (False, None, None)
    assert run.one("message.completed").data["message"]["content"].endswith(" None")


async def test_run_in_this_process_has_no_process_of_its_own(open_engine: Engines):
    async def greets(ctx):
        yield said("hello")

    run = await run_event(await open_engine(greets))
    assert {"process", "breakpoints"}.isdisjoint(run.journal[0].data)
    assert {"files", "distributions"}.isdisjoint(run.finished)


async def test_end_has_the_loaded_code(engine: Engine):
    finished = (await run_event(engine)).finished
    assert set(finished["files"]) == {"me.py"}
    assert "pydantic" in finished["distributions"]
    assert finished["python_version"] == sys.version.split()[0]


async def test_process_that_the_runner_opens_is_noted_once_and_masked(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_TOKEN", "hidden-value-1")
    # The secret crosses the place at which the target is cut.
    run = await run_event(engine, "$" + "x" * 488 + "hidden-value-1;$again")
    [opened] = run.all("runner.opened")
    assert (opened.source, opened.data["what"]) == ("host", "process")
    assert opened.data["target"].startswith("true xxx")
    assert "hidden" not in opened.data["target"]


async def test_forged_reports_are_recorded_once_per_kind(open_engine: Engines):
    (open_engine.folder / "me.py").write_text(
        """
import json, os
from pathlib import Path

WIRE = int(Path("/proc/self/cmdline").read_bytes().split(b"\\0")[2])

async def run(ctx):
    os.set_blocking(WIRE, True)
    for number in range(100):
        data = {"what": ("process", "connection")[number % 2], "target": "x" * 10_000}
        os.write(WIRE, json.dumps({"seq_id": 0, "action": "__opened", "data": data}).encode() + b"\\n")
    yield {"type": "run.completed", "data": {"finish_reason": "stop"}}
"""
    )
    run = await run_event(await open_engine(runtime=lambda _: ChildPool()))
    assert [entry.data["what"] for entry in run.all("runner.opened")] == ["process", "connection"]
    assert {len(entry.data["target"]) for entry in run.all("runner.opened")} == {500}


# The choice of the process


async def test_run_that_waits_for_a_process_has_its_first_entry_and_can_be_stopped(open_engine: Engines):
    for name in ("a", "b"):
        (open_engine.folder / f"{name}.py").write_text(BLOCKED)
    engine = await open_engine(runtime=lambda _: ChildPool(max_starts=1, random_bits=CountedBits()))
    first = await send(engine, message(session="s1"), runner="a")
    second = await send(engine, message(session="s2"), runner="b")
    await _until(lambda: engine.runs.starts_before(second) is not None)
    live = engine._core.live_run(second)
    assert live is not None
    assert live.started.is_set()
    await engine.runs.stop(second)
    run = await wait_for_run(engine, second)
    assert run.types == ["run.started", "cancel.requested", "run.finished"]
    (open_engine.folder / "go").touch()
    assert (await wait_for_run(engine, first)).row.status == "completed"


async def test_run_whose_choice_hangs_is_recorded_without_it_and_can_be_stopped(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(orchestrator, "RESERVE_SECONDS", 3_600)
    hanging = asyncio.Event()

    async def reserve(launch: object) -> object:
        await hanging.wait()
        raise AssertionError

    monkeypatch.setattr(engine._core.require_host().orchestrator._runtime, "reserve", reserve)
    run_id = await send(engine)
    stopping, limit = asyncio.ensure_future(engine.runs.stop(run_id)), Limit(5)
    try:
        await _until(lambda: stopping.done() or limit.is_over)
        assert stopping.done()
    finally:
        hanging.set()
    run = await wait_for_run(engine, run_id)
    assert (run.row.status, "process" in run.journal[0].data) == ("cancelled", False)
    assert run.types == ["run.started", "cancel.requested", "run.finished"]


async def test_process_that_is_chosen_late_has_an_entry_of_its_own(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(orchestrator, "RESERVE_SECONDS", 0)
    pool = engine._core.require_host().orchestrator._runtime
    reserve, recorded = pool.reserve, asyncio.Event()

    async def reserve_late(launch: object) -> object:
        await recorded.wait()
        return await reserve(launch)

    monkeypatch.setattr(pool, "reserve", reserve_late)
    run_id = await send(engine)
    live = engine._core.live_run(run_id)
    assert live is not None
    await live.started.wait()
    recorded.set()
    run = await wait_for_run(engine, run_id)
    assert "process" not in run.journal[0].data
    [chosen] = run.all("process.chosen")
    assert (chosen.data["process"]["fresh"], chosen.data["process"]["hash_seed"]) == (True, 101)


async def test_reserved_process_that_ends_is_replaced_with_a_warning(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    await run_event(engine)
    pool = engine._core.require_host().orchestrator._runtime
    reserve = pool.reserve

    async def reserve_and_kill(launch: object) -> object:
        reserved = await reserve(launch)
        await reserved.child.kill()
        return reserved

    monkeypatch.setattr(pool, "reserve", reserve_and_kill)
    run = await run_event(engine)
    assert run.row.status == "completed"
    started, chosen = run.journal[0].data["process"], run.one(EntryKind.PROCESS_CHOSEN)
    assert run.warnings == ["The process that was reserved for the run had ended, so a new one was started."]
    assert (started["fresh"], chosen.data["process"]["fresh"]) == (False, True)
    for seed in ("hash_seed", "random_seed"):
        assert started[seed] == chosen.data["process"][seed]
    assert run.one("message.completed").data["message"]["content"].endswith(f" {started['hash_seed']}")


async def test_stopped_run_gives_its_reserved_process_back(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    first = await run_event(engine)
    host = engine._core.require_host()
    reserve = host.orchestrator._runtime.reserve

    async def reserve_and_stop(launch: object) -> object:
        reserved = await reserve(launch)
        for live in host.orchestrator.live.values():
            live.request_stop(orchestrator.StopReason.CANCELLED)
        return reserved

    with monkeypatch.context() as patch:
        patch.setattr(host.orchestrator._runtime, "reserve", reserve_and_stop)
        assert (await run_event(engine)).row.status == "cancelled"
    again = await run_event(engine)
    assert [run.journal[0].data["process"]["hash_seed"] for run in (first, again)] == [101, 101]


async def _until(claim) -> None:
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        while not claim():  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.002)
