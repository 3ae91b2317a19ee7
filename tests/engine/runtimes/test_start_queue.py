"""Only so many children start at once. The other runs wait in order, and are told their place."""

import asyncio
import errno
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.runtimes import pool, resource_shortage, spawn
from engine.runtimes.guardian import Guardian
from engine.runtimes.resource_shortage import DESCRIPTORS_PER_START, OutOfResources, shortage_of
from engine.runtimes.runtime import EndKind, Launch
from tests.support.limits import MAX_WAIT_SECONDS

ROOT = Path(__file__).resolve().parents[3]
BLOCKED = """
    import os, time

    with open("started", "a") as started:
        started.write(f"{os.path.basename(__file__)}\\n")
    while not os.path.exists("go"):
        time.sleep(0.002)

    async def run(ctx):
        yield os.getpid()
"""


@pytest.fixture
def max_starts() -> int:
    return 1


class Line:
    """Several runs that begin at the same time."""

    def __init__(self, harness, context, sink_type) -> None:
        self._harness, self._context, self._sink_type = harness, context, sink_type
        self.sinks: list = []
        self.processes: list = []
        """The processes as they were reserved."""
        self.tasks: list[asyncio.Task] = []

    async def begin(self, launch, until_waiting: bool = True):
        sink = self._sink_type()
        self.sinks.append(sink)
        reserved = await self._harness.pool.reserve(launch)
        self.processes.append(reserved.process)
        self.tasks.append(asyncio.create_task(reserved.begin("run_1", self._context({}), sink)))
        if until_waiting:
            await sink.until(lambda: sink.waits)
        return sink

    async def started(self, count: int) -> list[str]:
        """Wait until so many modules are being imported. Returns their names in the order of their start."""
        path, end = self._harness.folder / "started", time.monotonic() + MAX_WAIT_SECONDS
        while not path.exists() or len(path.read_text().splitlines()) < count:
            assert time.monotonic() < end
            await asyncio.sleep(0.005)
        return path.read_text().splitlines()

    def go_on(self) -> None:
        (self._harness.folder / "go").touch()

    async def ends(self) -> list[EndKind]:
        async with asyncio.timeout(MAX_WAIT_SECONDS):
            return [(await (await task).ended()).how for task in self.tasks]


@pytest.fixture
def line(harness, run_context, sink) -> Line:
    return Line(harness, run_context, type(sink))


async def test_runs_wait_for_their_start_in_order(harness, line):
    launches = [harness.launch(BLOCKED, name=f"{name}.py") for name in "abcd"]
    await line.begin(launches[0], until_waiting=False)
    for launch in launches[1:]:
        await line.begin(launch)
    assert [sink.waits for sink in line.sinks] == [[], [(0, "")], [(1, "")], [(2, "")]]
    assert await line.started(1) == ["a.py"]
    line.go_on()
    assert await line.ends() == [EndKind.ENDED] * 4
    assert await line.started(4) == ["a.py", "b.py", "c.py", "d.py"]
    assert {sink.waits[-1] for sink in line.sinks[1:]} == {(None, "")}


async def test_run_that_is_stopped_leaves_the_line(harness, line):
    launches = [harness.launch(BLOCKED, name=f"{name}.py") for name in "abc"]
    await line.begin(launches[0], until_waiting=False)
    for launch in launches[1:]:
        await line.begin(launch)
    line.tasks[1].cancel()
    await asyncio.gather(line.tasks.pop(1), return_exceptions=True)
    line.go_on()
    assert await line.ends() == [EndKind.ENDED] * 2
    assert await line.started(2) == ["a.py", "c.py"]
    assert harness.pool._starts._free == 1


async def test_stopped_run_gives_its_turn_back(harness, line):
    launches = [harness.launch(BLOCKED, name=f"{name}.py") for name in "abc"]
    await line.begin(launches[0], until_waiting=False)
    for launch in launches[1:]:
        await line.begin(launch)
    harness.pool._starts.leave()  # as when the first runner is loaded
    line.tasks[1].cancel()
    await asyncio.gather(line.tasks.pop(1), return_exceptions=True)
    line.go_on()
    assert await line.ends() == [EndKind.ENDED] * 2
    assert "b.py" not in await line.started(2)


async def test_child_that_becomes_free_serves_the_next_run_of_its_runner(harness, line):
    waiter = harness.launch(
        """
        import os

        async def run(ctx):
            yield os.getpid()
            await ctx.api.state_get("runner", "go")
        """,
        name="waiter.py",
    )
    go = asyncio.Event()

    async def answer(*_):
        await go.wait()
        return {"value": None}

    first = await line.begin(waiter, until_waiting=False)
    first.answer = answer
    await first.until(lambda: first.calls)
    await line.begin(harness.launch(BLOCKED, name="a.py"), until_waiting=False)
    await line.started(1)
    second = await line.begin(waiter)
    second.answer = answer
    go.set()
    await second.until(lambda: second.results)
    assert second.results == first.results
    [(process, reason, is_replaced)] = second.chosen
    assert (process.is_fresh, reason, is_replaced) == (False, "another process became free first", False)
    assert process.hash_seed == line.processes[0].hash_seed != line.processes[2].hash_seed
    assert process.random_seed == line.processes[2].random_seed
    line.go_on()
    assert await line.ends() == [EndKind.ENDED] * 3


async def test_module_that_hangs_in_its_import_does_not_stop_other_starts(harness, line, monkeypatch):
    monkeypatch.setattr(pool, "MAX_LOADING_SECONDS", 0.05)
    hanging = harness.launch(BLOCKED, name="a.py")
    await line.begin(hanging, until_waiting=False)
    await line.started(1)
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        ending, _ = await harness.run(harness.launch("async def run(ctx):\n    yield 1", name="b.py"))
    assert ending.how is EndKind.ENDED
    line.go_on()
    await line.ends()


async def test_closing_ends_the_line(harness, line):
    launches = [harness.launch(BLOCKED, name=f"{name}.py") for name in "abc"]
    await line.begin(launches[0], until_waiting=False)
    for launch in launches[1:]:
        await line.begin(launch)
    await line.started(1)
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        await harness.pool.close()
        await asyncio.gather(*line.tasks, return_exceptions=True)
    assert await line.started(1) == ["a.py"]


# Limits of the system

FEW_DESCRIPTORS = """
import asyncio, json, os, resource, sys
from pathlib import Path
from engine.api import Engine, message

async def main():
    target, free, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    async with await Engine.open(target, db=target.parent / "facts.db") as engine:
        limit = len(os.listdir("/dev/fd")) + free
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        tickets = [
            await engine.runs.submit(message(f"e{number}", "hi", conversation_id=f"s{number}"))
            for number in range(count)
        ]
        rows = [await engine.runs.wait_for_end(await ticket.started) for ticket in tickets]
        warnings = []
        for row in rows:
            warnings += [entry.data async for entry in engine.runs.entries(row.run_id) if entry.type == "warning"]
        ends = [[row.status, row.status_reason, row.metadata.get("error")] for row in rows]
        print(json.dumps({"limit": limit, "ends": ends, "warnings": warnings}))

asyncio.run(main())
"""
SLOW = """
import asyncio
async def run(ctx):
    await asyncio.sleep(0.1)
    yield {"type": "run.completed", "data": {"finish_reason": "stop"}}
"""


def with_few_descriptors(folder: Path, free: int, count: int) -> dict:
    """Run so many runs at once in a process that may open so many files more."""
    (folder / "slow.py").write_text(SLOW)
    done = subprocess.run(
        [sys.executable, "-c", FEW_DESCRIPTORS, str(folder / "slow.py"), str(free), str(count)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_runs_wait_if_the_host_may_open_few_files(tmp_path):
    told = with_few_descriptors(tmp_path, free=48, count=16)
    assert {tuple(end) for end in told["ends"]} == {("completed", "no output", None)}
    assert any(f"the limit of open files, {told['limit']}, is reached" in warning for warning in told["warnings"])


def test_run_that_can_never_start_names_the_limit(tmp_path):
    told = with_few_descriptors(tmp_path, free=6, count=1)
    [(status, reason, error)] = told["ends"]
    assert (status, reason) == ("failed", "runner.not_loaded")
    assert f"the limit of open files, {told['limit']}, is reached" in error
    assert "`ulimit -n " in error


def test_children_leave_descriptors_for_the_rest_of_the_host(tmp_path, monkeypatch):
    launch = Launch(tmp_path / "slow.py", None, tmp_path, tmp_path)
    monkeypatch.setattr(spawn, "free_descriptors", lambda: DESCRIPTORS_PER_START + 9)
    monkeypatch.setattr(spawn, "_pipes", lambda count: pytest.fail("it opened them"))
    with pytest.raises(OutOfResources, match="open files"):
        spawn.spawn(launch, Guardian(), "mark", reserved=10)


@pytest.mark.parametrize(
    ("code", "limit", "command"),
    [
        (errno.EMFILE, "limit of open files", "`ulimit -n "),
        (errno.ENFILE, "system's limit of open files", "`sysctl -w fs.file-max="),
        (errno.EAGAIN, "limit of processes", ""),
        (errno.ENOMEM, "memory", ""),
    ],
)
async def test_refused_process_names_the_limit_and_leaves_nothing_open(harness, monkeypatch, code, limit, command):
    def refuse(*_, **__):
        raise OSError(code, os.strerror(code))

    launch = harness.launch("async def run(ctx):\n    yield 1")
    before = resource_shortage.free_descriptors()
    monkeypatch.setattr(spawn.subprocess, "Popen", refuse)
    with pytest.raises(OutOfResources, match=limit) as caught:
        await harness.begin(launch)
    assert command in str(caught.value)
    assert resource_shortage.free_descriptors() == before
    assert harness.pool._starts._free == 1
    assert not harness.pool._children


async def test_thread_that_cannot_be_started_leaves_no_process(harness, monkeypatch, processes):
    spawned = []

    def refuse(process, *_):
        spawned.append(process.pid)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("engine.runtimes.child.ProcessGroup", refuse)
    with pytest.raises(OutOfResources, match="process"):
        await harness.begin(harness.launch("async def run(ctx):\n    yield 1"))
    assert spawned
    assert not any(map(processes.lives, spawned))


def test_limits_are_named_with_their_values(monkeypatch):
    import resource

    values = {resource.RLIMIT_NPROC: 77, resource.RLIMIT_AS: 2048 * 1024}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (values[kind], resource.RLIM_INFINITY))
    monkeypatch.setattr(resource_shortage, "_first_line", lambda path: "max")
    assert "the limit of processes of this user, 77, is reached" in str(shortage_of(errno.EAGAIN))
    assert "the limit of memory, 2048 KiB, is reached" in str(shortage_of(errno.ENOMEM))
    monkeypatch.setattr(resource_shortage, "_first_line", lambda path: "50")
    assert "of this container or service, 50, is reached" in str(shortage_of(errno.EAGAIN))
