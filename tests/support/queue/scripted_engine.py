"""An engine in this process whose runners a test controls step by step, and that can crash at any step."""

import asyncio
import shutil
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.api import Engine
from engine.protocol import AgentAPIException
from engine.runtimes.inprocess import InProcessRuntime
from tests.support.engines import CountingIds, FakeClock, declares, done, failed, write_runner
from tests.support.limits import MAX_PROCESS_SECONDS
from tests.support.queue.action_runner import ActionRunner
from tests.support.queue.queue_actions import NO_ANSWER, OK, Action, End, Pull
from tests.support.queue.queue_checks import QueueDatabase
from tests.support.queue.queue_model import EDITABLE, QueueModel, QueueSnapshot

CANCEL_TIMES = ("before the decision", "after the decision", "after the reply")
"""When a pull is cancelled: the writer is still busy, has committed, or has just resolved its future."""


@dataclass(frozen=True, slots=True)
class WaitingRunner:
    """A runner that waits until the test ends its run."""

    ctx: Any
    end: asyncio.Future[Any]


class ScriptedRunners:
    """Two runners that wait until the test ends their run: `obeys` can be steered, `deaf` cannot."""

    def __init__(self) -> None:
        self.waiting: dict[str, WaitingRunner] = {}

        @declares(capabilities={"steering": True})
        async def obeys(ctx: Any) -> AsyncIterator[Any]:
            yield await self._wait_for_end(ctx)

        async def deaf(ctx: Any) -> AsyncIterator[Any]:
            yield await self._wait_for_end(ctx)

        self.runners = {runner.__name__: runner for runner in (obeys, deaf)}

    async def _wait_for_end(self, ctx: Any) -> Any:
        end: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.waiting[ctx.run_id] = WaitingRunner(ctx, end)
        try:
            return await end
        finally:
            del self.waiting[ctx.run_id]


class ScriptedEngine:
    """One database and its successive hosts. Everything runs in the test's thread and event loop."""

    def __init__(self, root: Path, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._runners = ScriptedRunners()
        self._ids, self._clock = CountingIds(), FakeClock()
        self._root = root
        self._host_number = 0
        self._gates = 0
        """The number of operations that block the writer."""
        (root / "project").mkdir(parents=True)
        (root / "project" / "trackside.yaml").write_text("{}")
        for runner in self._runners.runners.values():
            write_runner(root / "project", runner)
        self.action_runner = self._open()

    @property
    def database(self) -> QueueDatabase:
        return self.action_runner.database

    @property
    def _folder(self) -> Path:
        return self._root / f"host-{self._host_number}"

    def _open(self) -> ActionRunner:
        opening = Engine.open(
            self._root / "project",
            db=self._folder / "facts.db",
            runtime=InProcessRuntime(self._runners.runners),
            clock=self._clock,
            ids=self._ids,
        )
        return ActionRunner(self._loop.run_until_complete(opening))

    # Actions

    def perform(self, actions: list[Action]) -> list[Any]:
        """Do the actions concurrently, wait until nothing is in progress, and return their answers."""

        async def do_all() -> list[Any]:
            async with asyncio.timeout(MAX_PROCESS_SECONDS):
                observed = await asyncio.gather(*(self._do(action) for action in actions))
                await self._settled()
                return observed

        return self._loop.run_until_complete(do_all())

    async def _do(self, action: Action) -> Any:
        match action:
            case Pull():
                return await self._pull(action)
            case End():
                return await self._end(action)
            case _:
                return await self.action_runner.do(action)

    async def _end(self, action: End) -> str:
        run_id = self.database.run_of(action.run)
        if run_id in self._runners.waiting and not (end := self._runners.waiting[run_id].end).done():
            end.set_result(done() if action.status == "completed" else failed())
        await self.action_runner.engine.runs.wait_for_end(run_id)
        return OK

    async def _settled(self) -> None:
        """Wait until nothing is in progress and the runner of every run waits."""
        await self.action_runner.settled()
        while self.action_runner.host.orchestrator.live.keys() != self._runners.waiting.keys():
            await self.action_runner.settled()

    def check_tickets(self, model: QueueModel) -> None:
        """Check that each ticket is resolved once its message has a run or was withdrawn."""
        for name, ticket in self.action_runner.tickets.items():
            message, run = model.messages[name], model.run_of(name)
            if run is not None:
                assert ticket.started.result() == self.database.run_of(run), message
            else:
                assert ticket.started.done() == (message.fate not in EDITABLE), message

    # Pulls

    async def _pull(self, action: Pull) -> Any:
        waiting = self._runners.waiting.get(self.database.run_of(action.run))
        if waiting is None:
            return "refused"
        pulling = asyncio.ensure_future(_pull_items(waiting, action.limit))
        if action.cancelled is not None:
            await self._wait_to_cancel(action.cancelled)
            pulling.cancel()
        try:
            return await pulling
        except asyncio.CancelledError:
            return "cancelled"

    async def _wait_to_cancel(self, when: str) -> None:
        with self._busy(when == CANCEL_TIMES[0]):
            await asyncio.sleep(0)
        if when != CANCEL_TIMES[0]:
            self._drain()
        if when == CANCEL_TIMES[2]:
            await asyncio.sleep(0)

    @contextmanager
    def _busy(self, is_busy: bool) -> Iterator[None]:
        """Block the writer meanwhile, so that it decides nothing."""
        free = threading.Event()
        if is_busy:
            self.action_runner.writer.submit(lambda _: free.wait(MAX_PROCESS_SECONDS))
            self._gates += 1
        try:
            yield
        finally:
            self._gates -= is_busy
            free.set()

    def _drain(self) -> None:
        """Wait until the writer has written everything, without running the event loop."""
        writer, until = self.action_runner.writer, time.monotonic() + MAX_PROCESS_SECONDS
        while not self._gates and writer._wake_at != writer._added + 1:
            assert time.monotonic() < until
            time.sleep(0.0001)

    # Ends

    def crash_host(self, unfinished: list[Action], turns: int, *, unwritten: bool) -> tuple[list[Any], QueueSnapshot]:
        """Start the actions and crash after this many turns of the loop. Returns the answers and the state on disk.

        The next host gets a copy of the files at that moment. The old host is closed on files that nobody reads.
        """
        tasks = [self._loop.create_task(self._do(action)) for action in unfinished]
        for _ in range(turns):
            self._turn()
            self._drain()
        with self._busy(unwritten):
            if unwritten:
                self._turn()
            observed = [each.result() if each.done() else NO_ANSWER for each in tasks]
            snapshot = self.database.snapshot()
            dead = self._folder
            self._host_number += 1
            self._folder.mkdir()
            for file in dead.iterdir():
                if not file.name.endswith("-shm"):
                    shutil.copy(file, self._folder)
        self.close()
        self._loop.run_until_complete(_wait_for_all(tasks))
        self.action_runner = self._open()
        return observed, snapshot

    def close(self) -> None:
        """Close the engine and its runs properly."""
        self.database.close()
        self._loop.run_until_complete(self.action_runner.engine.close())

    def open_database(self) -> "closing[QueueDatabase]":
        """Open the database after everything is closed."""
        return closing(QueueDatabase(self.action_runner.engine.database_path))

    def _turn(self) -> None:
        self._loop.call_soon(self._loop.stop)
        self._loop.run_forever()


async def _pull_items(waiting: WaitingRunner, limit: int) -> Any:
    mode = "one-at-a-time" if limit == 1 else "all"
    try:
        reply = await waiting.ctx.api.steering_pull(mode=mode)
    except AgentAPIException:
        return "refused"
    return [[item.event.event_id, item.input.to_text()] for item in reply.items]


async def _wait_for_all(tasks: list[asyncio.Task[Any]]) -> None:
    """Wait for the tasks and ignore their results."""
    await asyncio.gather(*tasks, return_exceptions=True)
