"""A runner that blocks its loop is reported; one that only waits, or is not read, is not."""

import asyncio
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from engine.api import Engine
from engine.run import orchestrator
from engine.run.live import StopReason
from engine.runtimes.heartbeat import PING, Heartbeat, HeartbeatTimeouts
from engine.runtimes.pool import ChildPool
from engine.runtimes.runtime import EndKind
from tests.support.engines import journal_of, played, send
from tests.support.limits import MAX_WAIT_SECONDS

QUICK = HeartbeatTimeouts(interval_seconds=0.02, blocked_seconds=0.1)
BLOCKS = """
    import asyncio, os, subprocess, time
    from pathlib import Path

    async def run(ctx):
        helper = subprocess.Popen(["sleep", "3600"])
        yield {"type": "pids", "data": {"pids": [os.getpid(), helper.pid]}}
        while not Path(__file__).with_name("go").exists():
            time.sleep(0.002)
        helper.kill()
        await asyncio.sleep(0)
        yield {"type": "run.completed", "data": {"finish_reason": "stop"}}
"""
WAITS = """
    import os

    async def run(ctx):
        yield os.getpid()
        await ctx.api.state_get("runner", "go")
"""
FLOODS = """
    import time
    from pathlib import Path

    async def run(ctx):
        while not Path(__file__).with_name("go").exists():
            yield "x" * 1000
        time.sleep(3600)
"""


@pytest.fixture
def timeouts() -> HeartbeatTimeouts:
    return QUICK


def kinds(heard) -> list[str]:
    return [kind for kind, _ in heard.silences]


# A real child


async def test_a_blocked_loop_is_reported_and_again_when_it_responds(stage):
    launch = stage.launch(BLOCKS)
    execution, heard = await stage.begin(launch)
    await heard.until(lambda: heard.results and kinds(heard)[-1:] == ["silent"])
    stage.write("go", "")
    await heard.until(lambda: kinds(heard)[-1] == "answers again")
    assert (await execution.ended()).how is EndKind.ENDED
    # A slow import is a silence too; each reported silence ended before the next began.
    assert kinds(heard) == ["silent", "answers again"] * (len(heard.silences) // 2)
    (_, silence), (_, whole) = heard.silences[-2:]
    assert silence == pytest.approx(QUICK.blocked_seconds)
    assert whole >= silence


@pytest.mark.parametrize("timeouts", [HeartbeatTimeouts(interval_seconds=0.01, blocked_seconds=30)])
async def test_a_runner_that_awaits_answers_and_nothing_is_reported(stage):
    execution, heard = await stage.begin(stage.launch(WAITS))
    go = asyncio.get_running_loop().create_future()
    heard.answer = lambda action, data: asyncio.wait_for(go, MAX_WAIT_SECONDS)
    await heard.until(lambda: heard.calls)
    for _ in range(5):
        await seen(execution, lambda pulse: pulse._awaits_answer)
        await seen(execution, lambda pulse: not pulse._awaits_answer)
    go.set_result({"value": None})
    assert (await execution.ended()).how is EndKind.ENDED
    assert (heard.silences, heard.faults) == ([], [])


async def test_a_child_is_not_blamed_while_the_host_does_not_read_it_but_is_afterwards(stage):
    execution, heard = await stage.begin(stage.launch(FLOODS))
    await heard.until(lambda: heard.results)
    heard.full = True
    await heard.until(lambda: heard.waiting_for_room)
    before = list(heard.silences)
    for _ in range(10):
        began = execution._child._heartbeat._began
        await seen(execution, lambda pulse, began=began: pulse._began != began)
    assert heard.silences == before
    stage.write("go", "")
    heard.make_room()
    await heard.until(lambda: kinds(heard)[-1:] == ["silent"])
    await execution.kill()


async def test_an_answer_between_two_runs_does_not_spoil_the_child(stage):
    launch = stage.launch("import os\nasync def run(ctx):\n    yield os.getpid()")
    first, heard = await stage.begin(launch)
    await first.ended()
    await seen(first, lambda pulse: not pulse._awaits_answer)
    first._child._heartbeat._awaits_answer = True
    first._child._wire_in.write(PING)
    await seen(first, lambda pulse: not pulse._awaits_answer)
    assert first._child._heartbeat._timer.cancelled()
    _, again = await stage.play(launch)
    assert again.results == heard.results
    assert again.faults == []


async def test_a_blocked_child_is_killed_and_reports_no_more(stage, processes):
    execution, heard = await stage.begin(stage.launch(BLOCKS))
    await heard.until(lambda: heard.results and kinds(heard)[-1:] == ["silent"])
    before = list(heard.silences)
    execution.cancel()
    await execution.kill()
    assert not any(map(processes.lives, heard.results[0]["data"]["pids"]))
    ending = await execution.ended()
    assert (ending.how, ending.exit_code) == (EndKind.LOST, -signal.SIGKILL)
    assert heard.silences == before
    assert execution._child._heartbeat._timer.cancelled()


async def seen(execution, claim: Callable[[Heartbeat], bool]) -> None:
    """Wait until a condition on a child's heartbeat is true."""
    end = time.monotonic() + 15
    while not claim(execution._child._heartbeat):
        assert time.monotonic() < end
        await asyncio.sleep(0.001)


# A whole run


@pytest.fixture
async def engine(stage, tmp_path):
    stage.launch(BLOCKS)
    async with await Engine.open(
        stage.folder / "runner.py", db=tmp_path / "facts.db", runtime=ChildPool(QUICK)
    ) as engine:
        yield engine


async def test_the_journal_records_that_the_loop_is_blocked_and_when_it_responds_again(engine, stage):
    run_id = await send(engine)
    await blocked(engine, run_id)
    stage.write("go", "")
    run = await played(engine, run_id)
    assert run.row.status == "completed"
    assert {entry.source for entry in run.all("warning")} == {"host"}
    silent, again = run.warnings[-2:]
    assert silent.startswith("The runner has not responded for 0 s: its event loop is blocked (time.sleep,")
    assert again.startswith("The runner responds again after ")


async def test_a_run_that_is_cancelled_while_blocked_is_killed_after_the_grace(engine, processes, monkeypatch):
    monkeypatch.setitem(orchestrator.KILL_GRACE_SECONDS, StopReason.CANCELLED, 0.1)
    run_id = await send(engine)
    pids = await blocked(engine, run_id)
    assert all(map(processes.lives, pids))
    await engine.runs.cancel(run_id)
    run = await played(engine, run_id)
    assert run.row.status == "cancelled"
    assert not any(map(processes.lives, pids))


async def blocked(engine, run_id: str) -> list[int]:
    """The processes of a run that is blocked, as soon as its journal records it."""
    async with engine.subscribe(run_id=run_id) as news:
        async for _ in news:
            entries = await journal_of(engine, run_id)
            warnings = [entry.data["message"] for entry in entries if entry.type == "warning"]
            pids = [entry.data["pids"] for entry in entries if entry.type == "pids"]
            if pids and warnings and "has not responded" in warnings[-1]:
                return pids[0]
    raise AssertionError("the engine was closed")


# Single ticks


class Loop:
    """A loop whose time stands still until the test moves it."""

    def __init__(self) -> None:
        self.now = 100.0
        self.due = []

    def time(self) -> float:
        return self.now

    def call_later(self, seconds, call):
        timer = Timer(self, call)
        self.due.append(timer)
        return timer

    def turn(self, times: int = 1, took: float = 1.0) -> None:
        for _ in range(times):
            self.now += took
            [timer] = self.due
            self.due.remove(timer)
            timer.call()


class Timer:
    def __init__(self, loop: Loop, call) -> None:
        self.loop = loop
        self.call = call

    def cancel(self) -> None:
        if self in self.loop.due:
            self.loop.due.remove(self)


class Asked:
    """A heartbeat that is moved by hand: a ping each second, and a report after three."""

    def __init__(self, heard) -> None:
        self.loop: Any = Loop()
        self.questions: list[bytes] = []
        self.heard = heard
        self.pulse = Heartbeat(
            self.questions.append, HeartbeatTimeouts(interval_seconds=1, blocked_seconds=3), self.loop
        )
        self.pulse.watch(heard)

    @property
    def told(self):
        return self.heard.silences


@pytest.fixture
async def asked(heard) -> Asked:
    return Asked(heard)


async def test_one_ping_is_sent_at_a_time(asked):
    assert asked.questions == []
    asked.loop.turn(5)
    assert asked.questions == [PING]
    assert asked.pulse.answered()
    asked.loop.turn(5)
    assert asked.questions == [PING, PING]


async def test_a_silence_is_reported_once_when_it_is_long_enough(asked):
    asked.loop.turn(3)
    assert asked.told == []
    asked.loop.turn(1)
    assert asked.told == [("silent", 3)]
    asked.loop.turn(10)
    assert asked.told == [("silent", 3)]
    asked.loop.now += 0.25
    asked.pulse.answered()
    assert asked.told == [("silent", 3), ("answers again", 13.25)]


async def test_every_silence_is_reported(asked):
    asked.loop.turn(4)
    asked.pulse.answered()
    asked.loop.turn(4)
    assert [kind for kind, _ in asked.told] == ["silent", "answers again", "silent"]


async def test_an_answer_in_time_wipes_out_what_was_missed(asked):
    for _ in range(5):
        asked.loop.turn(3)
        asked.pulse.answered()
    assert asked.told == []


async def test_turns_in_which_the_host_brakes_do_not_count(asked):
    asked.loop.turn(3)
    asked.pulse.set_throttled(True)
    asked.loop.turn(10)
    asked.pulse.set_throttled(False)
    asked.loop.turn(1)  # it could answer only in a part of this tick
    assert asked.told == []
    asked.loop.turn(1)
    assert asked.told == [("silent", 3)]


async def test_a_turn_with_a_short_brake_in_it_does_not_count(asked):
    asked.loop.turn(3)
    for _ in range(10):
        asked.pulse.set_throttled(True)
        asked.pulse.set_throttled(False)
        asked.loop.turn(1)
    assert asked.told == []


async def test_turns_that_come_late_do_not_count(asked):
    asked.loop.turn(1)
    asked.loop.turn(10, took=2.5)
    assert asked.told == []
    asked.loop.turn(3, took=1.5)
    assert asked.told == [("silent", 3)]


async def test_an_answer_that_nobody_asked_for_is_none(asked):
    assert not asked.pulse.answered()
    asked.loop.turn(1)
    assert asked.pulse.answered()
    assert not asked.pulse.answered()


async def test_after_a_run_nothing_is_asked_and_an_answer_that_is_owed_is_still_taken(asked):
    asked.loop.turn(4)
    asked.pulse.stop()
    assert asked.loop.due == []
    assert asked.pulse.answered()
    assert asked.told == [("silent", 3)]


async def test_a_silence_is_not_reported_to_the_next_run(asked, heard):
    asked.loop.turn(4)
    asked.pulse.stop()
    heard.silences.clear()
    asked.pulse.watch(heard)
    asked.loop.turn(2)
    assert asked.questions == [PING]
    asked.pulse.answered()
    assert asked.told == []
