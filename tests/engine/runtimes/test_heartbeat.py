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
from tests.support.engines import journal_of, send, wait_for_run
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


def kinds(sink) -> list[str]:
    return [kind for kind, _ in sink.silences]


# A real child


async def test_a_blocked_loop_is_reported_and_again_when_it_responds(harness):
    launch = harness.launch(BLOCKS)
    execution, sink = await harness.begin(launch)
    await sink.until(lambda: sink.results and kinds(sink)[-1:] == ["silent"])
    harness.write("go", "")
    await sink.until(lambda: kinds(sink)[-1] == "answers again")
    assert (await execution.ended()).how is EndKind.ENDED
    # A slow import is a silence too; each reported silence ended before the next began.
    assert kinds(sink) == ["silent", "answers again"] * (len(sink.silences) // 2)
    (_, silence), (_, whole) = sink.silences[-2:]
    assert silence == pytest.approx(QUICK.blocked_seconds)
    assert whole >= silence


@pytest.mark.parametrize("timeouts", [HeartbeatTimeouts(interval_seconds=0.01, blocked_seconds=30)])
async def test_runner_that_awaits_is_not_reported_as_blocked(harness):
    execution, sink = await harness.begin(harness.launch(WAITS))
    go = asyncio.get_running_loop().create_future()
    sink.answer = lambda action, data: asyncio.wait_for(go, MAX_WAIT_SECONDS)
    await sink.until(lambda: sink.calls)
    for _ in range(5):
        await seen(execution, lambda heartbeat: heartbeat._awaits_answer)
        await seen(execution, lambda heartbeat: not heartbeat._awaits_answer)
    go.set_result({"value": None})
    assert (await execution.ended()).how is EndKind.ENDED
    assert (sink.silences, sink.faults) == ([], [])


async def test_blocked_child_is_reported_only_while_the_host_reads_from_it(harness):
    execution, sink = await harness.begin(harness.launch(FLOODS))
    await sink.until(lambda: sink.results)
    sink.full = True
    await sink.until(lambda: sink.waiting_for_room)
    before = list(sink.silences)
    for _ in range(10):
        began = execution._child._heartbeat._began
        await seen(execution, lambda heartbeat, began=began: heartbeat._began != began)
    assert sink.silences == before
    harness.write("go", "")
    sink.make_room()
    await sink.until(lambda: kinds(sink)[-1:] == ["silent"])
    await execution.kill()


async def test_heartbeat_reply_between_two_runs_does_not_prevent_reuse_of_the_child(harness):
    launch = harness.launch("import os\nasync def run(ctx):\n    yield os.getpid()")
    first, sink = await harness.begin(launch)
    await first.ended()
    await seen(first, lambda heartbeat: not heartbeat._awaits_answer)
    first._child._heartbeat._awaits_answer = True
    first._child._wire_in.write(PING)
    await seen(first, lambda heartbeat: not heartbeat._awaits_answer)
    assert first._child._heartbeat._timer.cancelled()
    _, again = await harness.run(launch)
    assert again.results == sink.results
    assert again.faults == []


async def test_a_blocked_child_is_killed_and_reports_no_more(harness, processes):
    execution, sink = await harness.begin(harness.launch(BLOCKS))
    await sink.until(lambda: sink.results and kinds(sink)[-1:] == ["silent"])
    before = list(sink.silences)
    execution.cancel()
    await execution.kill()
    assert not any(map(processes.lives, sink.results[0]["data"]["pids"]))
    ending = await execution.ended()
    assert (ending.how, ending.exit_code) == (EndKind.LOST, -signal.SIGKILL)
    assert sink.silences == before
    assert execution._child._heartbeat._timer.cancelled()


async def seen(execution, claim: Callable[[Heartbeat], bool]) -> None:
    """Wait until a condition on a child's heartbeat is true."""
    end = time.monotonic() + 15
    while not claim(execution._child._heartbeat):
        assert time.monotonic() < end
        await asyncio.sleep(0.001)


# A whole run


@pytest.fixture
async def engine(harness, tmp_path):
    harness.launch(BLOCKS)
    async with await Engine.open(
        harness.folder / "runner.py", db=tmp_path / "facts.db", runtime=ChildPool(QUICK)
    ) as engine:
        yield engine


async def test_the_journal_records_that_the_loop_is_blocked_and_when_it_responds_again(engine, harness):
    run_id = await send(engine)
    await blocked(engine, run_id)
    harness.write("go", "")
    run = await wait_for_run(engine, run_id)
    assert run.row.status == "completed"
    assert {entry.source for entry in run.all("warning")} == {"host"}
    # On a busy machine there may be more of them.
    blocked_at = next(number for number, each in enumerate(run.warnings) if "is blocked (time.sleep," in each)
    assert run.warnings[blocked_at].startswith("The runner has not responded for 0 s: its event loop is blocked (")
    assert run.warnings[blocked_at + 1].startswith("The runner responds again after ")


async def test_a_run_that_is_cancelled_while_blocked_is_killed_after_the_grace(engine, processes, monkeypatch):
    monkeypatch.setitem(orchestrator.KILL_GRACE_SECONDS, StopReason.CANCELLED, 0.1)
    run_id = await send(engine)
    pids = await blocked(engine, run_id)
    assert all(map(processes.lives, pids))
    await engine.runs.cancel(run_id)
    run = await wait_for_run(engine, run_id)
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


class ManualHeartbeat:
    """A heartbeat that is moved by hand: a ping each second, and a report after three."""

    def __init__(self, sink) -> None:
        self.loop: Any = Loop()
        self.pings: list[bytes] = []
        self.sink = sink
        self.heartbeat = Heartbeat(
            self.pings.append, HeartbeatTimeouts(interval_seconds=1, blocked_seconds=3), self.loop
        )
        self.heartbeat.watch(sink)

    @property
    def reported(self):
        return self.sink.silences


@pytest.fixture
async def manual(sink) -> ManualHeartbeat:
    return ManualHeartbeat(sink)


async def test_one_ping_is_sent_at_a_time(manual):
    assert manual.pings == []
    manual.loop.turn(5)
    assert manual.pings == [PING]
    assert manual.heartbeat.answered()
    manual.loop.turn(5)
    assert manual.pings == [PING, PING]


async def test_a_silence_is_reported_once_when_it_is_long_enough(manual):
    manual.loop.turn(3)
    assert manual.reported == []
    manual.loop.turn(1)
    assert manual.reported == [("silent", 3)]
    manual.loop.turn(10)
    assert manual.reported == [("silent", 3)]
    manual.loop.now += 0.25
    manual.heartbeat.answered()
    assert manual.reported == [("silent", 3), ("answers again", 13.25)]


async def test_each_silence_is_reported(manual):
    manual.loop.turn(4)
    manual.heartbeat.answered()
    manual.loop.turn(4)
    assert [kind for kind, _ in manual.reported] == ["silent", "answers again", "silent"]


async def test_reply_in_time_resets_the_silence(manual):
    for _ in range(5):
        manual.loop.turn(3)
        manual.heartbeat.answered()
    assert manual.reported == []


async def test_ticks_while_the_host_does_not_read_do_not_count(manual):
    manual.loop.turn(3)
    manual.heartbeat.set_throttled(True)
    manual.loop.turn(10)
    manual.heartbeat.set_throttled(False)
    manual.loop.turn(1)  # it could answer only in a part of this tick
    assert manual.reported == []
    manual.loop.turn(1)
    assert manual.reported == [("silent", 3)]


async def test_tick_with_a_short_reading_stop_does_not_count(manual):
    manual.loop.turn(3)
    for _ in range(10):
        manual.heartbeat.set_throttled(True)
        manual.heartbeat.set_throttled(False)
        manual.loop.turn(1)
    assert manual.reported == []


async def test_late_ticks_do_not_count(manual):
    manual.loop.turn(1)
    manual.loop.turn(10, took=2.5)
    assert manual.reported == []
    manual.loop.turn(3, took=1.5)
    assert manual.reported == [("silent", 3)]


async def test_reply_without_a_ping_is_ignored(manual):
    assert not manual.heartbeat.answered()
    manual.loop.turn(1)
    assert manual.heartbeat.answered()
    assert not manual.heartbeat.answered()


async def test_after_a_run_no_ping_is_sent_and_an_open_reply_is_accepted(manual):
    manual.loop.turn(4)
    manual.heartbeat.stop()
    assert manual.loop.due == []
    assert manual.heartbeat.answered()
    assert manual.reported == [("silent", 3)]


async def test_a_silence_is_not_reported_to_the_next_run(manual, sink):
    manual.loop.turn(4)
    manual.heartbeat.stop()
    sink.silences.clear()
    manual.heartbeat.watch(sink)
    manual.loop.turn(2)
    assert manual.pings == [PING]
    manual.heartbeat.answered()
    assert manual.reported == []
