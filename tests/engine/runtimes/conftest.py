"""Real children for real runners: each test writes its runner into a folder of its own."""

import asyncio
import os
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from engine.runtimes.heartbeat import HeartbeatTimeouts
from engine.runtimes.pool import MAX_CHILD_STARTS, ChildPool
from engine.runtimes.runtime import Ending, Launch, ProcessFacts, Sandbox
from tests.support.fake_call import FakeCall
from tests.support.limits import MAX_WAIT_SECONDS
from tests.support.sandboxes import require_sandbox


class RecordingSink:
    """A sink that records everything, and lets a test wait for it."""

    def __init__(self) -> None:
        self.full = False
        self.is_gone = False
        self.results: list[Any] = []
        self.sizes: list[int] = []
        self.faults: list[tuple[str, int]] = []
        self.lines: list[tuple[str, str]] = []
        self.lost: list[tuple[str, int]] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.answered: list[str] = []
        self.silences: list[tuple[str, float]] = []
        self.waits: list[tuple[int | None, str]] = []
        self.opens: list[tuple[str, str]] = []
        self.chosen: list[tuple[ProcessFacts, str, bool]] = []
        self.answer: Callable[[str, dict[str, Any]], Any] = lambda action, data: {}
        self.waiting_for_room: list[Callable[[], None]] = []
        self._changed = asyncio.Event()

    def when_room(self, call: Callable[[], None]) -> None:
        self.waiting_for_room.append(call)
        self._changed.set()

    def make_room(self) -> None:
        self.full = False
        waiting, self.waiting_for_room = self.waiting_for_room, []
        for call in waiting:
            call()

    def prepare(self, result: object) -> object:
        return result

    def result(self, result: object, size: int) -> None:
        self.results.append(result)
        self.sizes.append(size)
        self._changed.set()

    def unreadable(self, reason: str, size: int) -> None:
        self.faults.append((reason, size))
        self._changed.set()

    def output(self, stream: str, text: str) -> None:
        self.lines.append((stream, text))
        self._changed.set()

    def waiting(self, before: Callable[[], int] | None, reason: str = "") -> None:
        self.waits.append((None if before is None else before(), reason))
        self._changed.set()

    def output_lost(self, stream: str, size: int) -> None:
        self.lost.append((stream, size))
        self._changed.set()

    def silent(self, seconds: float) -> None:
        self.silences.append(("silent", seconds))
        self._changed.set()

    def answers_again(self, seconds: float) -> None:
        self.silences.append(("answers again", seconds))
        self._changed.set()

    def opened(self, what: str, target: str) -> None:
        self.opens.append((what, target))
        self._changed.set()

    def process_chosen(self, process: ProcessFacts, reason: str, *, is_replaced: bool = False) -> None:
        self.chosen.append((process, reason, is_replaced))
        self._changed.set()

    def gone(self) -> None:
        self.is_gone = True
        self._changed.set()

    def request(self, action: str, data: dict[str, Any]) -> FakeCall:
        self.calls.append((action, data))
        self._changed.set()
        return FakeCall(lambda: self._answer(action, data))

    def _answer(self, action: str, data: dict[str, Any]) -> Any:
        self.answered.append(action)
        self._changed.set()
        return self.answer(action, data)

    async def until(self, claim: Callable[[], Any]) -> Any:
        async with asyncio.timeout(MAX_WAIT_SECONDS):
            while not claim():
                self._changed.clear()
                await self._changed.wait()
        return claim()

    def texts(self, stream: str = "stdout") -> list[str]:
        return [text for of, text in self.lines if of == stream]


class PoolHarness:
    """Everything a test needs to run a runner."""

    def __init__(self, pool: ChildPool, folder: Path) -> None:
        self.pool = pool
        self.folder = folder
        self.pids: list[int] = []

    def write(self, name: str, source: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source))
        return path

    def launch(self, source: str, attr: str | None = None, name: str = "runner.py", **more: Any) -> Launch:
        return Launch(path=self.write(name, source), attr=attr, folder=self.folder, cwd=self.folder, **more)

    async def begin(self, launch: Launch, **config: Any) -> tuple[Any, RecordingSink]:
        sink = RecordingSink()
        return await (await self.pool.reserve(launch)).begin("run_1", context(config), sink), sink

    async def run_reserved(self, launch: Launch) -> tuple[ProcessFacts, RecordingSink]:
        """Run once. Returns the facts of the process as it was reserved."""
        reserved, sink = await self.pool.reserve(launch), RecordingSink()
        async with asyncio.timeout(MAX_WAIT_SECONDS):
            await (await reserved.begin("run_1", context({}), sink)).ended()
        return reserved.process, sink

    async def run(self, launch: Launch, **config: Any) -> tuple[Ending, RecordingSink]:
        execution, sink = await self.begin(launch, **config)
        async with asyncio.timeout(MAX_WAIT_SECONDS):
            return await execution.ended(), sink


def context(config: dict[str, Any]) -> dict[str, Any]:
    return {
        "run_id": "run_1",
        "trigger": {"type": "message.received", "source": "webui"},
        "event": {"event_id": "event_1", "event_type": "message.received", "source": "webui"},
        "input": {"text": "hello"},
        "delivery": {"surface": "console"},
        "context": {},
        "config": config,
    }


def lives(pid: int) -> bool:
    """Whether the process is alive and no zombie."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in {b"Z", b"X"}
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return Path("/proc/self").exists() is False


def all_gone(pids: list[int], within: float = 10) -> bool:
    """Wait until none of them lives."""
    end = time.monotonic() + within
    while any(lives(pid) for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


@pytest.fixture
def timeouts() -> HeartbeatTimeouts:
    """The heartbeat timeouts of the pool; a test may override them."""
    return HeartbeatTimeouts()


@pytest.fixture
def max_starts() -> int:
    """How many children of the pool may start at once; a test may override it."""
    return MAX_CHILD_STARTS


@pytest.fixture
async def harness(tmp_path: Path, timeouts: HeartbeatTimeouts, max_starts: int) -> AsyncIterator[PoolHarness]:
    pool = ChildPool(timeouts, max_starts)
    folder = tmp_path / "target"
    folder.mkdir()
    yield PoolHarness(pool, folder)
    await pool.close()


@pytest.fixture
def processes() -> Any:
    class Processes:
        lives = staticmethod(lives)
        all_gone = staticmethod(all_gone)

    return Processes


@pytest.fixture
def sandbox() -> Sandbox:
    return require_sandbox()


@pytest.fixture
def run_context() -> Callable[[dict[str, Any]], dict[str, Any]]:
    return context


@pytest.fixture
async def sink() -> RecordingSink:
    return RecordingSink()
