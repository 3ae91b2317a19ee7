"""An engine in this process whose runners do what a test says, step by step, and that can die at any step."""

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
from tests.support.queue.action_runner import Asking
from tests.support.queue.queue_actions import NOT_TOLD, OK, Act, End, Pull
from tests.support.queue.queue_checks import Witness
from tests.support.queue.queue_model import EDITABLE, Seen, World

WHEN = ("before it is decided", "when it is decided", "when it is told")
"""When a pull is cancelled: its writer is busy, has written and not said so, or has just said so."""


@dataclass(frozen=True, slots=True)
class AtWork:
    """A run whose runner waits for what it is told."""

    ctx: Any
    end: asyncio.Future[Any]


class Cast:
    """The runners of a house: each works until it is told how to end. One can be steered, the other not."""

    def __init__(self) -> None:
        self.at_work: dict[str, AtWork] = {}

        @declares(capabilities={"steering": True})
        async def obeys(ctx: Any) -> AsyncIterator[Any]:
            yield await self._works(ctx)

        async def deaf(ctx: Any) -> AsyncIterator[Any]:
            yield await self._works(ctx)

        self.runners = {runner.__name__: runner for runner in (obeys, deaf)}

    async def _works(self, ctx: Any) -> Any:
        end: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.at_work[ctx.run_id] = AtWork(ctx, end)
        try:
            return await end
        finally:
            del self.at_work[ctx.run_id]


class House:
    """One database through the lives of its hosts. All of it belongs to the test's thread and its loop."""

    def __init__(self, root: Path, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._cast = Cast()
        self._ids, self._clock = CountingIds(), FakeClock()
        self._root = root
        self._lives = 0
        self._gates = 0
        """How many keep the writer busy."""
        (root / "project").mkdir(parents=True)
        (root / "project" / "trackside.yaml").write_text("{}")
        for runner in self._cast.runners.values():
            write_runner(root / "project", runner)
        self.asking = self._open()

    @property
    def witness(self) -> Witness:
        return self.asking.witness

    @property
    def _folder(self) -> Path:
        return self._root / f"life-{self._lives}"

    def _open(self) -> Asking:
        opening = Engine.open(
            self._root / "project",
            db=self._folder / "facts.db",
            runtime=InProcessRuntime(self._cast.runners),
            clock=self._clock,
            ids=self._ids,
        )
        return Asking(self._loop.run_until_complete(opening))

    # Acting

    def perform(self, acts: list[Act]) -> list[Any]:
        """Do all of this at the same time, and wait until nothing moves; gives the answers."""

        async def all_of_it() -> list[Any]:
            async with asyncio.timeout(MAX_PROCESS_SECONDS):
                told = await asyncio.gather(*(self._act(act) for act in acts))
                await self._settled()
                return told

        return self._loop.run_until_complete(all_of_it())

    async def _act(self, act: Act) -> Any:
        match act:
            case Pull():
                return await self._pull(act)
            case End():
                return await self._end(act)
            case _:
                return await self.asking.act(act)

    async def _end(self, act: End) -> str:
        run_id = self.witness.run_of(act.run)
        if run_id in self._cast.at_work and not (end := self._cast.at_work[run_id].end).done():
            end.set_result(done() if act.status == "completed" else failed())
        await self.asking.engine.runs.wait_for_end(run_id)
        return OK

    async def _settled(self) -> None:
        """Nothing is on its way, and the runner of every run is at work."""
        await self.asking.settled()
        while self.asking.host.orchestrator.live.keys() != self._cast.at_work.keys():
            await self.asking.settled()

    def check_tickets(self, world: World) -> None:
        """Whoever sent a message hears of its run, once it has one, and of its withdrawal."""
        for name, ticket in self.asking.tickets.items():
            message, run = world.messages[name], world.run_of(name)
            if run is not None:
                assert ticket.started.result() == self.witness.run_of(run), message
            else:
                assert ticket.started.done() == (message.fate not in EDITABLE), message

    # Pulls

    async def _pull(self, act: Pull) -> Any:
        at_work = self._cast.at_work.get(self.witness.run_of(act.run))
        if at_work is None:
            return "refused"
        pulling = asyncio.ensure_future(_pulled(at_work, act.limit))
        if act.cancelled is not None:
            await self._wait_to_cancel(act.cancelled)
            pulling.cancel()
        try:
            return await pulling
        except asyncio.CancelledError:
            return "cancelled"

    async def _wait_to_cancel(self, when: str) -> None:
        with self._busy(when == WHEN[0]):
            await asyncio.sleep(0)
        if when != WHEN[0]:
            self._drain()
        if when == WHEN[2]:
            await asyncio.sleep(0)

    @contextmanager
    def _busy(self, is_busy: bool) -> Iterator[None]:
        """While this lasts the writer decides nothing that is asked of it."""
        free = threading.Event()
        if is_busy:
            self.asking.writer.submit(lambda _: free.wait(MAX_PROCESS_SECONDS))
            self._gates += 1
        try:
            yield
        finally:
            self._gates -= is_busy
            free.set()

    def _drain(self) -> None:
        """Let the writer write all that it was given, while the loop stands still and hears nothing of it."""
        writer, until = self.asking.writer, time.monotonic() + MAX_PROCESS_SECONDS
        while not self._gates and writer._wake_at != writer._added + 1:
            assert time.monotonic() < until
            time.sleep(0.0001)

    # Ends

    def die(self, under_way: list[Act], turns: int, *, unwritten: bool) -> tuple[list[Any], Seen]:
        """Begin these, and be killed after so many turns of the loop; gives what was answered and what is on disk.

        The next host finds the files as they lie there now. What this one still does to its own, nobody will read.
        """
        acting = [self._loop.create_task(self._act(act)) for act in under_way]
        for _ in range(turns):
            self._turn()
            self._drain()
        with self._busy(unwritten):
            if unwritten:
                self._turn()
            told = [each.result() if each.done() else NOT_TOLD for each in acting]
            seen = self.witness.sees()
            dead = self._folder
            self._lives += 1
            self._folder.mkdir()
            for file in dead.iterdir():
                if not file.name.endswith("-shm"):
                    shutil.copy(file, self._folder)
        self.close()
        self._loop.run_until_complete(_over(acting))
        self.asking = self._open()
        return told, seen

    def close(self) -> None:
        """Close the engine, and the runs in it, as it should be done."""
        self.witness.close()
        self._loop.run_until_complete(self.asking.engine.close())

    def looking(self) -> "closing[Witness]":
        """At what is left when all is closed."""
        return closing(Witness(self.asking.engine.database_path))

    def _turn(self) -> None:
        self._loop.call_soon(self._loop.stop)
        self._loop.run_forever()


async def _pulled(at_work: AtWork, limit: int) -> Any:
    mode = "one-at-a-time" if limit == 1 else "all"
    try:
        reply = await at_work.ctx.api.steering_pull(mode=mode)
    except AgentAPIException:
        return "refused"
    return [[item.event.event_id, item.input.to_text()] for item in reply.items]


async def _over(acting: list[asyncio.Task[Any]]) -> None:
    """What came of these is nobody's business any more."""
    await asyncio.gather(*acting, return_exceptions=True)
