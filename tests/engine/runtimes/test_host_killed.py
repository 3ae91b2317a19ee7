"""No child outlives its host, whatever either of them is doing."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from engine.runtimes import wire
from engine.runtimes.guardian import Guardian
from engine.runtimes.runtime import Launch
from engine.runtimes.spawn import spawn
from tests.support.limits import MAX_WAIT_SECONDS

ROOT = Path(__file__).resolve().parents[3]

RUNNER = """
import asyncio, os, re, subprocess, time

async def run(ctx):
    helpers = [subprocess.Popen(["sleep", "3600"], process_group=group) for group in (None, 0)]
    helpers.append(subprocess.Popen(["sleep", "3600"], start_new_session=True))
    yield [os.getpid(), *(helper.pid for helper in helpers)]
    state = ctx.config["state"]
    if state == "python":
        while True: pass
    if state == "c":
        re.match(r"(a+)+$", "a" * 60 + "b")
    if state == "blocked":
        time.sleep(3600)
    if state == "awaiting":
        await asyncio.sleep(3600)
"""

HOST = """
import asyncio, json, sys
from pathlib import Path
from engine.runtimes.pool import ChildPool
from engine.runtimes.runtime import Launch

class Sink:
    full = False
    def __init__(self): self.first = asyncio.get_running_loop().create_future()
    def when_room(self, call): ...
    def result(self, result, size): self.first.set_result(result)
    def unreadable(self, reason, size): ...
    def output(self, stream, text): ...
    def silent(self, seconds): ...
    def answers_again(self, seconds): ...
    def opened(self, what, target): ...
    def process_chosen(self, process, reason, *, is_replaced=False): ...
    def gone(self): ...
    def waiting(self, before, reason=""): ...

async def main():
    folder, context = Path(sys.argv[1]), json.loads(sys.argv[2])
    pool = ChildPool()
    launch = Launch(folder / "runner.py", None, folder, folder)
    pids = []
    for state in ("python", "c", "blocked", "awaiting"):
        sink = Sink()
        await (await pool.reserve(launch)).begin("r", {**context, "config": {"state": state}}, sink)
        pids += await sink.first
    await pool.warm(launch)
    pids += [child.pid for child in pool._idle.values()]
    pids.append(pool._guardian._shell.pid)
    print(json.dumps(pids), flush=True)
    await asyncio.sleep(3600)

asyncio.run(main())
"""


@pytest.mark.parametrize("signalled", [signal.SIGKILL, signal.SIGTERM])
def test_no_process_outlives_a_killed_host(tmp_path, processes, run_context, signalled):
    (tmp_path / "runner.py").write_text(RUNNER)
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, str(tmp_path), json.dumps(run_context({}))],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    with host:
        pids = json.loads(host.stdout.readline())
        assert len(pids) == 18
        assert all(map(processes.lives, pids))
        host.send_signal(signalled)
    assert processes.all_gone(pids)


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "3600"], start_new_session=True)


def test_guardian_kills_watched_groups_and_no_forgotten_ones():
    guardian, watched, forgotten, other = Guardian(), sleeper(), sleeper(), sleeper()
    for process in (watched, forgotten, other):
        guardian.watch(process.pid)
    guardian.forget(forgotten.pid)
    guardian.close()
    assert watched.wait(10) == other.wait(10) == -signal.SIGKILL
    assert forgotten.poll() is None
    forgotten.kill()
    forgotten.wait()


def ignored_soon(pid: int, signals: tuple[signal.Signals, ...]) -> bool:
    """Wait until the process ignores these signals; without /proc the test itself shows it."""
    status, end = Path(f"/proc/{pid}/status"), time.monotonic() + 5
    while status.exists() and time.monotonic() < end:
        mask = int(re.search(r"SigIgn:\s*(\w+)", status.read_text())[1], 16)
        if all(mask >> number - 1 & 1 for number in signals):
            return True
        time.sleep(0.005)
    return not status.exists()


def test_guardian_ignores_catchable_signals_and_is_replaced_after_a_kill():
    guardian, first, second = Guardian(), sleeper(), sleeper()
    guardian.watch(first.pid)
    shell = guardian._shell
    polite = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    assert ignored_soon(shell.pid, polite)
    for number in polite:
        shell.send_signal(number)
    shell.kill()
    assert shell.wait() == -signal.SIGKILL
    guardian.watch(second.pid)
    assert guardian._shell is not shell
    guardian.close()
    assert first.wait(10) == second.wait(10) == -signal.SIGKILL


async def test_a_child_whose_wire_ends_kills_its_own_group(harness, processes):
    launch = harness.launch(textwrap.dedent(RUNNER))
    execution, sink = await harness.begin(launch, state="blocked")
    [pids] = await sink.until(lambda: sink.results)
    execution._child._wire_in.close()
    assert (await asyncio.wait_for(execution.ended(), MAX_WAIT_SECONDS)).exit_code == -signal.SIGKILL
    assert not any(map(processes.lives, pids))


def test_child_kills_its_own_group_if_host_and_guardian_are_gone(tmp_path, processes, run_context):
    (tmp_path / "runner.py").write_text(RUNNER)
    guardian = Guardian()
    child = spawn(Launch(tmp_path / "runner.py", None, tmp_path, tmp_path), guardian, guardian.new_mark())
    order = {"run_id": "r", "context": run_context({"state": "blocked"}), "nonce": "n"}
    os.write(child.wire_in, wire.encode({"seq_id": 1, "action": "run_agent", "data": order}))
    decoder, frames = wire.Decoder(), []
    while not (frames and frames[-1].get("chunk_status") == "continue"):
        frames += [frame for frame, _ in decoder.feed(os.read(child.wire_out, 1 << 16))]
    worker, helper, *strays = frames[-1]["data"]
    os.close(child.wire_in)
    assert child.process.wait(10) == -signal.SIGKILL
    assert processes.all_gone([worker, helper])
    guardian.close()
    assert processes.all_gone(strays)
    for descriptor in (child.wire_out, child.stdout, child.stderr):
        os.close(descriptor)
