"""Runs with real child processes: start them, wait for them, and find the processes that they leave."""

import asyncio
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.api import Engine, Entry, RunOptions, RunRow, message
from engine.runtimes.pool import ChildPool
from tests.support.limits import MAX_PROCESS_SECONDS, Limit

ROOT = Path(__file__).resolve().parents[3]
MARK_VARIABLE = "TRACKSIDE_FAULTS_MARK"
"""An environment variable that every child inherits and passes on, so that its processes can be found."""

MAX_LATE_MICROSECONDS = 10_000_000
"""From the deadline of a run to its end, on a busy machine. The benchmark `hostile` measures it against one second."""


@dataclass(frozen=True)
class FinishedRun:
    """A run that has ended, with its whole journal."""

    run: RunRow
    entries: list[Entry]

    @property
    def last(self) -> dict[str, Any]:
        return json.loads(self.entries[-1].data)

    def entries_of(self, kind: str, outcome: str | None = None) -> list[Entry]:
        return [entry for entry in self.entries if entry.type == kind and entry.outcome == outcome]

    def output(self, stream: str) -> list[str]:
        lines = (json.loads(entry.data) for entry in self.entries_of("output"))
        return [each["text"] for each in lines if each["stream"] == stream]

    def check_journal(self) -> None:
        """Check the rules that apply to the journal of every run, however it ended."""
        assert [entry.position for entry in self.entries] == list(range(1, len(self.entries) + 1))
        assert [entry.position for entry in self.entries if entry.type == "run.finished"] == [len(self.entries)]
        assert self.entries[-1].source == "host"
        assert (self.last["status"], self.last["reason"]) == (self.run.status, self.run.status_reason)
        assert self.run.finished_at is not None
        if self.run.deadline_at is not None:
            assert self.run.finished_at - self.run.deadline_at <= MAX_LATE_MICROSECONDS


class PooledEngine:
    """An engine with its child pool, and shortcuts to start runs and wait for them."""

    def __init__(self, engine: Engine, pool: ChildPool) -> None:
        self.engine = engine
        self.pool = pool

    async def start_run(
        self, runner: str | None, text: str = "", *, session: str | None = "faults", warm: bool = False, **config: Any
    ) -> str:
        """Start a run and return its id. With `warm`, the child is started first, outside the run's deadline."""
        choice = RunOptions(runner=runner, config=config, env=(MARK_VARIABLE,))
        event_id = self.engine.ids.new("evt")
        order = self.engine.runs.prepare(message(event_id, text, conversation_id=session), choice)
        if warm:
            await self.pool.warm(order.launch)
        async with asyncio.timeout(MAX_PROCESS_SECONDS):
            ticket = await self.engine.runs.submit(order)
            return await ticket.started

    async def wait_for_end(self, run_id: str) -> FinishedRun:
        async with asyncio.timeout(MAX_PROCESS_SECONDS):
            run = await self.engine.runs.wait_for_end(run_id)
        return FinishedRun(run, [entry async for entry in self.engine.runs.entries(run_id)])

    async def run(self, runner: str | None, text: str = "", **config: Any) -> FinishedRun:
        played = await self.wait_for_end(await self.start_run(runner, text, **config))
        played.check_journal()
        return played

    async def wait_for_entry(self, run_id: str, kind: str) -> Entry:
        """Return the first entry of this kind, as soon as it is announced."""
        async with asyncio.timeout(MAX_PROCESS_SECONDS), self.engine.subscribe(run_id=run_id) as news:
            async for batch in news:
                for announced in batch:
                    if announced.entry.type == kind:
                        return announced.entry
        raise AssertionError(f"{run_id} has no entry {kind}")

    async def check_normal(self) -> None:
        """Check that a run of another runner still completes."""
        played = await self.run("echo", "still there?", session=None)
        assert (played.run.status, played.run.status_reason) == ("completed", "stop")
        assert "still there?" in played.entries_of("message.completed")[0].data


@asynccontextmanager
async def open_pooled_engine(db: Path, target: Path | None = None) -> AsyncIterator[PooledEngine]:
    """Open an engine as host, with real child processes."""
    pool = ChildPool()
    async with await Engine.open(target, db=db, runtime=pool) as engine:
        yield PooledEngine(engine, pool)


# Waiting


async def until(holds: Callable[[], Any], seconds: float = MAX_PROCESS_SECONDS) -> Any:
    """Wait until the condition returns something true, and return that. The limit grows with the load."""
    limit = Limit(seconds)
    while not (found := holds()):
        assert not limit.is_over, f"did not become true within {seconds} s: {holds}"
        await asyncio.sleep(0.005)
    return found


def wait_until(holds: Callable[[], Any], seconds: float = MAX_PROCESS_SECONDS) -> Any:
    """Wait like `until`, without an event loop."""
    limit = Limit(seconds)
    while not (found := holds()):
        assert not limit.is_over, f"did not become true within {seconds} s: {holds}"
        time.sleep(0.002)
    return found


# Processes


def _states() -> Iterator[tuple[int, int, int]]:
    """Yield process id, parent and process group of every process that is alive."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:  # the process ended meanwhile
                continue
            if fields[0] not in (b"Z", b"X"):
                yield int(folder.name), int(fields[1]), int(fields[2])


def descendants(pid: int) -> set[int]:
    """Return the living descendants of a process."""
    children: dict[int, list[int]] = {}
    for child, parent, _ in _states():
        children.setdefault(parent, []).append(child)
    found: set[int] = set()
    todo = [pid]
    while todo:
        for child in children.get(todo.pop(), []):
            found.add(child)
            todo.append(child)
    return found


def alive(pids: set[int]) -> set[int]:
    return {pid for pid, _, _ in _states()} & pids


@contextmanager
def process_mark() -> Iterator[str]:
    """Mark the processes that are started meanwhile with a value of their own, so that no other test finds them."""
    before = os.environ.get(MARK_VARIABLE)
    os.environ[MARK_VARIABLE] = mark = secrets.token_hex(8)
    try:
        yield mark
    finally:
        if before is None:
            del os.environ[MARK_VARIABLE]
        else:
            os.environ[MARK_VARIABLE] = before


def marked_processes(mark: str) -> set[int]:
    """Return the living processes with the mark in their environment, also reparented ones; without this process."""
    wanted = f"{MARK_VARIABLE}={mark}".encode()
    found: set[int] = set()
    for pid, _, _ in _states():
        if pid != os.getpid():
            try:
                environment = Path(f"/proc/{pid}/environ").read_bytes()
            except OSError:
                continue
            if wanted in environment.split(b"\0"):
                found.add(pid)
    return found


@contextmanager
def other_process(
    script: Path, *arguments: object, environment: Mapping[str, str] | None = None
) -> Iterator["subprocess.Popen[str]"]:
    """Run a Python script in another process with piped input and output; kill it at the end if it is still alive."""
    process = subprocess.Popen(
        [sys.executable, str(script), *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)


def read_line(process: "subprocess.Popen[str]") -> str:
    """Return the next line of the output, without its newline."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.endswith("\n"), f"the process ended with {process.poll()}: {line!r}"
    return line[:-1]


def write_line(process: "subprocess.Popen[str]", line: str = "") -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
