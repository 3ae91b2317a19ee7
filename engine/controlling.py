"""The acting half of the facade: events become runs, what waits is changed, what works is steered and stopped."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from engine.browsing import Browsing
from engine.clock import Clock
from engine.events import Hub
from engine.facts import journal, queue, runs
from engine.facts.batch import Transaction
from engine.facts.database import Database
from engine.facts.errors import CannotHold, Elsewhere, FactsError
from engine.facts.queue import Fate, Mode, QueueItem
from engine.facts.runs import LIVE, RunRow
from engine.facts.writer import Writer
from engine.host import Host
from engine.intake.envelope import EventEnvelope, anew
from engine.run.holds import Armed, Held
from engine.run.live import LiveRun
from engine.run.order import RunOrder
from engine.run.points import Point
from engine.run.prepare import Choice
from engine.run.ticket import Ticket
from engine.setting import Setting
from engine.steering.again import Again, as_it_waited
from engine.steering.items import said
from engine.steering.receipts import Steering, steering_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stopped:
    """A run that was stopped, and what was said to it that it never got."""

    run: RunRow
    undelivered: tuple[QueueItem, ...]


class Controlling(Browsing):
    """Acts on an open database. What only a host can do says so in a reader."""

    def __init__(self, setting: Setting, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._setting = setting
        self._hub = Hub(lambda row, limit: database.read(lambda conn: journal.since(conn, row, limit)))
        self._host: Host | None = None
        self._editing: tuple[Database, Writer] | None = None

    # Events and runs

    def prepare(self, envelope: EventEnvelope, choice: Choice | None = None) -> RunOrder:
        """Check an event and a choice without recording anything."""
        return self._setting.prepare(envelope, choice)

    async def submit(
        self, event: EventEnvelope | RunOrder, choice: Choice | None = None, *, after: bool = False
    ) -> Ticket:
        """Take in one event: a run of its own, a message for the run at work, or one that waits for its end.

        `after` keeps a message out of the run at work. A repeated event id gives its first run.
        """
        order = event if isinstance(event, RunOrder) else self.prepare(event, choice)
        return await self._hosting().submit(order, after=after)

    async def again(self, name: str, choice: Choice | None = None) -> Ticket:
        """Send the input of a run once more, as a new event; to the same runner unless another is chosen."""
        run = await self.run(name)
        envelope = anew((await self.event_of(run.run_id)).envelope, self._setting.ids)
        return await self.submit(
            envelope.model_copy(update={"event_time": None}),
            choice or self._same(run.agent_id, run.runner_id, run.metadata),
        )

    def is_at_work(self, run_id: str) -> bool:
        """Whether a run works in this process."""
        return self._host is not None and self._host.dispatch.run_task(run_id) is not None

    async def finished(self, run_id: str) -> RunRow:
        """The run, once it has ended here."""
        await self._hosting().ended(run_id)
        return await self.run(run_id)

    async def idle(self) -> None:
        """Return when nothing runs and nothing can."""
        await self._hosting().dispatch.idle()

    async def cancel(self, run_id: str) -> None:
        """Ask for a run's end, whichever process hosts it."""
        if self._host is not None:
            await self._host.cancel(run_id)
        else:
            await self._edit(lambda tx: runs.request_cancel(tx.connection, run_id, at=self._clock.now()))

    async def stop(self, run_id: str) -> Stopped:
        """Cancel a run of this process, wait for its end, and give back what was said to it in vain."""
        await self.cancel(run_id)
        run = await self.finished(run_id)
        items = await self._read(lambda conn: queue.of_run(conn, run_id))
        dropped = (item for item in items if item.mode == Mode.STEER and item.fate == Fate.DROPPED)
        return Stopped(run, tuple(dropped))

    # Holds

    async def hold(self, name: str, when: str, *, once: bool = False) -> None:
        """Hold a run of this process at a point: each time, only once, or with `#n` only the nth time of the run."""
        point = Point.parse(when)
        (await self._at_work(name)).holds.arm(point, once=once)

    async def disarm(self, name: str, when: str) -> None:
        """Hold a run there no more; what is held stays held."""
        point = Point.parse(when)
        (await self._at_work(name)).holds.disarm(point)

    async def holds(self, name: str) -> tuple[Armed, ...]:
        """The points that are armed in a run."""
        live = await self._live(name)
        return () if live is None else live.holds.armed

    async def held(self, name: str) -> Held | None:
        """What is held in a run now, the first where there is more than one; its clock stands meanwhile."""
        live = await self._live(name)
        return None if live is None else live.holds.held

    async def edit_held(self, name: str, reply: object, *, editor: str = "local") -> Held:
        """Put in an answer for the held call: its own is not sent, or the call not even made. It is held on."""
        return (await self._at_work(name)).holds.edit(reply, editor)

    async def release(self, name: str) -> None:
        """Let a held run go on until it comes to a point again."""
        (await self._at_work(name)).holds.release()

    async def step(self, name: str) -> None:
        """Let a held run go on to the reply of its call, or else to its next call, pull, message or end."""
        (await self._at_work(name)).holds.step()

    # What waits

    async def queue(self, conversation_id: str | None = None, *, run_id: str | None = None) -> list[QueueItem]:
        """Messages whose fate is open, in their order."""
        return await self._read(lambda conn: queue.waiting(conn, conversation_id=conversation_id, run_id=run_id))

    async def steering(self, name: str) -> Steering:
        """How a run was spoken to: receipts, when it last asked, or why it cannot."""
        run = await self.run(name)
        live = self._host.orchestrator.live.get(run.run_id) if self._host is not None else None
        pulls, last = (live.pulls, live.last_pull_at) if live is not None else (None, None)
        return await self._read(lambda conn: steering_of(conn, run, pulls=pulls, last_pull_at=last))

    async def edit_item(self, item_id: str, text: str) -> QueueItem:
        """Let a waiting message say something else."""
        return await self._hosting().edits.edit(item_id, text)

    async def move_item(self, item_id: str, before: str | None = None) -> QueueItem:
        """Put a waiting message before another, or behind all."""
        return await self._hosting().edits.move(item_id, before)

    async def hold_item(self, item_id: str) -> QueueItem:
        """Keep a waiting message back until it is released."""
        return await self._hosting().edits.hold(item_id)

    async def release_item(self, item_id: str) -> QueueItem:
        return await self._hosting().edits.release(item_id)

    async def withdraw_item(self, item_id: str) -> QueueItem:
        """Take a waiting message back: it was never said."""
        return await self._hosting().edits.withdraw(item_id)

    async def turn_item(self, item_id: str, mode: Mode) -> QueueItem:
        """Offer a waiting message to the run at work (`steer`), or keep it for after its end (`after`)."""
        return await self._hosting().edits.turn(item_id, mode)

    async def returnable(self, conversation_id: str, *, withdrawn_since: int, limit: int = 100) -> list[QueueItem]:
        """What a conversation lost and a person may still want: the newest of it, the last that was lost at the end.

        It was dropped, or withdrawn since then, and neither said again nor dismissed.
        """
        return await self._read(
            lambda conn: queue.returnable(conn, conversation_id, withdrawn_since=withdrawn_since, limit=limit)
        )

    async def dismiss_item(self, item_id: str) -> QueueItem:
        """Have no more use for a message that was dropped."""
        return await self._hosting().edits.dismiss(item_id)

    async def resend(
        self, item_id: str, choice: Choice | None = None, *, text: str | None = None, after: bool = False
    ) -> Ticket:
        """Say again what was dropped or withdrawn, as a new message to the same runner; with other words if given."""
        item = await self._read(lambda conn: queue.get(conn, item_id))
        item = item if text is None else replace(item, text=text)
        return await self._hosting().submit(self._anew(item, choice), after=after, again=Again(item_id))

    async def restore_item(self, item_id: str) -> Ticket:
        """Undo a withdrawal: the same is said as a new message that waits as the first did, in its mode and place."""
        item = await self._read(lambda conn: queue.get(conn, item_id))
        again = as_it_waited(item)
        return await self._hosting().submit(self._anew(item), after=item.mode == Mode.AFTER, again=again)

    # Inside

    def _anew(self, item: QueueItem, choice: Choice | None = None) -> RunOrder:
        """What an item says, as a new event."""
        same = choice or self._same(item.metadata.get(queue.AGENT), item.runner_id, item.metadata)
        return self.prepare(anew(said(item), self._setting.ids), same)

    def _same(self, agent: str | None, runner_id: str | None, metadata: Mapping[str, Any]) -> Choice:
        """The agent that something was for, if there still is one of its name; else its runner."""
        known = {entry.id for entry in self._setting.project.config.agents}
        return Choice(runner=agent if agent in known else runner_id, kept=bool(metadata.get(runs.KEPT)))

    async def _live(self, name: str) -> LiveRun | None:
        """A run of this process while it is at work; nothing where it has ended."""
        run, host = await self.run(name), self._hosting()
        live = host.orchestrator.live.get(run.run_id)
        if live is not None:
            await live.begun.wait()
        elif run.status in LIVE and run.host != host.host_id:
            raise Elsewhere(f"run {run.run_id} is at work in another process; hold and release it there.")
        return live

    async def _at_work(self, name: str) -> LiveRun:
        live = await self._live(name)
        if live is None or live.is_over:
            raise CannotHold(f"run {(await self.run(name)).run_id} has ended; only a run at work can be held.")
        return live

    def _hosting(self) -> Host:
        if self._host is None:
            raise FactsError("this database was opened to read; open it to host runs")
        return self._host

    async def _edit(self, operation: Callable[[Transaction], T]) -> T:
        """A person's change, through the host's writer or, in a reader, through one made for it."""
        if self._host is not None:
            return await self._host.writer.submit(operation)
        if self._editing is None:
            writable = await asyncio.to_thread(Database.open, self._database.path, write=True)
            editor = Writer(writable.writing_connection, writable.path, told=self._hub.tell, failed=lambda _: None)
            self._editing = writable, editor
        return await self._editing[1].submit(operation)
