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

from engine.api import Choice, Engine, Mode, Ticket
from engine.facts.errors import FactsError
from engine.facts.writer import Writer
from engine.protocol import AgentAPIException
from engine.runtimes.inprocess import InProcessRuntime
from tests.steering.acts import NOT_TOLD, OK, Act, Cancel, Change, End, Pull, Send, SendAgain
from tests.steering.witness import Witness
from tests.steering.world import Seen
from tests.support import CountingIds, FakeClock, declares, done, event, failed, write_runner

PATIENCE = 30.0
"""Seconds after which something is not slow but stuck."""
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
        self.loop = loop
        self.cast = Cast()
        self._ids, self._clock = CountingIds(), FakeClock()
        self._root = root
        self._lives = 0
        (root / "project").mkdir(parents=True)
        (root / "project" / "trackside.yaml").write_text("{}")
        for runner in self.cast.runners.values():
            write_runner(root / "project", runner)
        self.engine = self._open()
        self.witness = Witness(self.engine.database_path)
        self.tickets: dict[str, Ticket] = {}

    @property
    def _folder(self) -> Path:
        return self._root / f"life-{self._lives}"

    @property
    def _writer(self) -> Writer:
        assert self.engine._host is not None
        return self.engine._host.writer

    def _open(self) -> Engine:
        opening = Engine.open(
            self._root / "project",
            db=self._folder / "facts.db",
            runtime=InProcessRuntime(self.cast.runners),
            clock=self._clock,
            ids=self._ids,
        )
        return self.loop.run_until_complete(opening)

    # Acting

    def perform(self, acts: list[Act]) -> list[Any]:
        """Do all of this at the same time, and wait until nothing moves; gives the answers."""

        async def all_of_it() -> list[Any]:
            async with asyncio.timeout(PATIENCE):
                told = await asyncio.gather(*(self.act(act) for act in acts))
                await self._settled()
                return told

        return self.loop.run_until_complete(all_of_it())

    async def act(self, act: Act) -> Any:
        """Do one thing; the answer as the world gives it."""
        try:
            match act:
                case Send():
                    return await self._send(act)
                case SendAgain():
                    ticket = await self.engine.resend(self.witness.item_of(act.event))
                    return [self._answer(ticket), ticket.event_id]
                case Change():
                    await self._change(act)
                case Pull():
                    return await self._pull(act)
                case End():
                    await self._end(act)
                case Cancel():
                    run_id = self.witness.run_of(act.run)
                    await self.engine.cancel(run_id)
                    await self.engine.finished(run_id)
        except FactsError as error:
            return type(error).__name__
        return OK

    async def _send(self, act: Send) -> Any:
        said = event(
            "message.received" if act.is_message else "schedule.triggered",
            event_id=act.event,
            conversation_id=act.slot[0],
            thread_id=act.slot[1],
            input={"text": act.text},
        )
        return self._answer(await self.engine.submit(said, Choice(runner=act.runner), after=act.after))

    def _answer(self, ticket: Ticket) -> Any:
        if not ticket.is_repeat:
            self.tickets[ticket.event_id] = ticket
            return "claimed" if ticket.claimed_by else "waits" if ticket.item_id else "began"
        if not ticket.started.done():
            return ["repeat", "waits"]
        if ticket.started.exception() is not None:
            return ["repeat", "nothing"]
        return ["repeat", self.witness.event_of(ticket.started.result())]

    async def _change(self, act: Change) -> None:
        item_id = self.witness.item_of(act.event)
        match act.how:
            case "edit":
                await self.engine.edit_item(item_id, str(act.given[0]))
            case "move":
                before = act.given[0]
                await self.engine.move_item(item_id, None if before is None else self.witness.item_of(before))
            case "hold":
                await self.engine.hold_item(item_id)
            case "release":
                await self.engine.release_item(item_id)
            case "withdraw":
                await self.engine.withdraw_item(item_id)
            case "keep_for_after":
                await self.engine.turn_item(item_id, Mode.AFTER)
            case "offer_to_the_run":
                await self.engine.turn_item(item_id, Mode.STEER)

    async def _end(self, act: End) -> None:
        run_id = self.witness.run_of(act.run)
        if run_id in self.cast.at_work and not (end := self.cast.at_work[run_id].end).done():
            end.set_result(done() if act.status == "completed" else failed())
        await self.engine.finished(run_id)

    # Pulls

    async def _pull(self, act: Pull) -> Any:
        at_work = self.cast.at_work.get(self.witness.run_of(act.run))
        if at_work is None:
            return "refused"
        mode = "one" if act.limit == 1 else "all"
        if act.cancelled is None:
            return await _pulled(at_work, mode, act.limit)
        pulling = asyncio.ensure_future(_pulled(at_work, mode, act.limit))
        with self._busy(act.cancelled == WHEN[0]):
            await asyncio.sleep(0)
        if act.cancelled != WHEN[0]:
            self._drain()
        if act.cancelled == WHEN[2]:
            await asyncio.sleep(0)
        pulling.cancel()
        try:
            return await pulling
        except asyncio.CancelledError:
            return "cancelled"

    @contextmanager
    def _busy(self, is_busy: bool) -> Iterator[None]:
        """While this lasts the writer decides nothing that is asked of it."""
        free = threading.Event()
        if is_busy:
            self._writer.submit(lambda _: free.wait(PATIENCE))
        try:
            yield
        finally:
            free.set()

    def _drain(self) -> None:
        """Let the writer write all that it was given, while the loop stands still and hears nothing of it."""
        writer, until = self._writer, time.monotonic() + PATIENCE
        while writer._ring_at != writer._added + 1:
            assert time.monotonic() < until
            time.sleep(0.0001)

    # Rest

    async def _settled(self) -> None:
        """Nothing is on its way: all is written, every slot has had its look, every run's runner is at work."""
        host = self.engine._host
        assert host is not None
        before = -1
        while before != self._writer._added or any(True for _ in host.dispatch._watches()):
            before = self._writer._added
            await self._writer.flush()
            for watch in tuple(host.dispatch._watches()):
                await asyncio.wait({watch})
            while host.orchestrator.live.keys() != self.cast.at_work.keys():
                await self._writer.submit(lambda _: None)

    # Ends

    def die(self, under_way: list[Act], turns: int, *, unwritten: bool) -> tuple[list[Any], Seen]:
        """Begin these, and be killed after so many turns of the loop; gives what was answered and what is on disk.

        The next host finds the files as they lie there now. What this one still does to its own, nobody will read.
        """
        acting = [self.loop.create_task(self.act(act)) for act in under_way]
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
        self.loop.run_until_complete(asyncio.gather(*acting, return_exceptions=True))
        self.tickets.clear()
        self.engine = self._open()
        self.witness = Witness(self.engine.database_path)
        return told, seen

    def close(self) -> None:
        """Close the engine, and the runs in it, as it should be done."""
        self.witness.close()
        self.loop.run_until_complete(self.engine.close())

    def looking(self) -> "closing[Witness]":
        """At what is left when all is closed."""
        return closing(Witness(self.engine.database_path))

    def _turn(self) -> None:
        self.loop.call_soon(self.loop.stop)
        self.loop.run_forever()


async def _pulled(at_work: AtWork, mode: str, limit: int) -> Any:
    try:
        reply = await at_work.ctx.api.steering_pull(mode=mode, limit=limit)
    except AgentAPIException:
        return "refused"
    return [[item.event.event_id, item.input.to_text()] for item in reply.items]
