"""Slots: one live run per conversation and thread. A message for a taken one goes into its run, or waits its turn."""

import asyncio
from collections.abc import Awaitable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Protocol

from sqlalchemy import Connection

from engine.clock import Clock, Ids
from engine.facts import event_log, queue, runs, sessions
from engine.facts.batch import Transaction
from engine.facts.errors import FactsError, NotFound, SlotTaken
from engine.facts.queue import Fate, Mode, QueueItem
from engine.facts.writer import Writer
from engine.intake.envelope import with_text
from engine.run.arrival import write_user_line
from engine.run.beginning import user_line_of
from engine.run.live import LiveRun
from engine.run.order import RunOrder, Slot
from engine.run.rows import event_row, run_row
from engine.run.ticket import Ticket, Waiting
from engine.steering.again import Again
from engine.steering.claims import Claim, why_not
from engine.steering.items import covered

FOREIGN_WAIT: Final = 0.25
"""Seconds between looks at a slot that another process holds; our own runs say when they end."""


class Conductor(Protocol):
    """Who makes a run live and brings it to its end."""

    def admit(self, order: RunOrder) -> LiveRun: ...

    def conduct(self, live: LiveRun) -> Awaitable[None]: ...


@dataclass(frozen=True, slots=True)
class _Accepted:
    """What the writer decided about an event; nothing set means that its run was made."""

    repeat_of: str | None = None
    is_repeat: bool = False
    refused: Exception | None = None
    claimed: bool = False
    waits: bool = False
    blocked_by: str | None = None
    why: str | None = None


@dataclass(slots=True)
class _Place:
    """One slot while anyone uses it."""

    users: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    run: LiveRun | None = None
    watch: asyncio.Task[None] | None = None
    look_again: bool = False
    """Something changed while the watch was on its way."""


class Dispatch:
    """Gives every event its run, its place in a working run, or its place in the line for the slot."""

    def __init__(self, writer: Writer, conductor: Conductor, host: str, clock: Clock, ids: Ids) -> None:
        self._writer = writer
        self._conductor = conductor
        self._host = host
        self._clock = clock
        self._ids = ids
        self._places: dict[Slot, _Place] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._accepting: set[asyncio.Task[Ticket]] = set()
        self._closing = asyncio.Event()
        self.waiting: dict[str, Waiting] = {}
        """By item id, what it takes to start those that wait. Their order and their fate are in the database alone.

        The writer's thread looks into it, so an item is put here before the writer is asked for it.
        """

    async def accept(self, order: RunOrder, *, after: bool = False, again: Again | None = None) -> Ticket:
        """Record the event and start its run, or let it wait. Nothing that was accepted can be lost.

        `after` keeps a message out of the run at work; `again` says which item this one says again, and how.
        """
        # In a task of its own: a sender who stops waiting must not leave a recorded run that nobody starts.
        accepting = asyncio.ensure_future(self._take_in(order, after, again))
        self._accepting.add(accepting)
        accepting.add_done_callback(self._accepting.discard)
        return await asyncio.shield(accepting)

    def run_task(self, run_id: str) -> "asyncio.Task[None] | None":
        """The task of a live run."""
        return self._tasks.get(run_id)

    def run_in(self, slot: Slot) -> LiveRun | None:
        """The run that holds a slot in this process."""
        place = self._places.get(slot)
        return None if place is None else place.run

    async def idle(self) -> None:
        """Return when nothing runs and nothing can."""
        while pending := {*self._tasks.values(), *self._accepting, *self._watches()}:
            await asyncio.wait(pending)

    def close(self) -> None:
        """Stop waiting for slots; what waits is dropped with the reason by whoever recovers this host."""
        for waiting in self.waiting.values():
            if waiting.ticket.item_id is not None:  # else the writer is yet to say whether it waits
                waiting.ticket.started.cancel()
        self.waiting.clear()
        self._closing.set()

    def look(self, slot: Slot) -> None:
        """Something in this slot's line has changed: let the first have its turn, if it is free."""
        place = self._places.setdefault(slot, _Place())
        if place.watch is not None:
            place.look_again = True
            return
        place.users += 1
        place.watch = asyncio.ensure_future(self._next(slot, place))
        place.watch.add_done_callback(lambda _: self._looked(slot, place))

    # Taking in

    async def _take_in(self, order: RunOrder, after: bool, again: Again | None) -> Ticket:
        if order.slot is None:
            return await self._accept(order, None, after, again)
        with self._at(order.slot) as place:
            async with place.lock:
                return await self._accept(order, place, after, again)

    async def _accept(self, order: RunOrder, place: _Place | None, after: bool, again: Again | None) -> Ticket:
        ticket = Ticket(order.envelope.event_id, asyncio.get_running_loop().create_future())
        item = self._item(order, Mode.AFTER if after else Mode.SLOT)
        if again is not None:
            item = replace(item, place=again.place, fate=again.fate)
        claim, why = await self._offer(order, item, None if place is None else place.run, after)
        claims: dict[str, Waiting] = {} if claim is None else claim.run.claims
        claims[item.item_id] = self.waiting[item.item_id] = Waiting(order, ticket)
        decide = partial(self._record, order=order, item=item, claim=claim, why=why, again=again)
        accepted = _Accepted()
        try:
            accepted = await self._writer.submit(partial(decide, now=self._clock.now()))
        finally:
            if not accepted.waits:
                self.waiting.pop(item.item_id, None)
            if not accepted.claimed:
                claims.pop(item.item_id, None)
        if accepted.refused is not None:
            raise accepted.refused
        if accepted.is_repeat:
            return self._repeated(ticket, accepted.repeat_of)
        if claim is not None and accepted.claimed:
            ticket.item_id, ticket.claimed_by = item.item_id, claim.run.order.run_id
            ticket.started.set_result(claim.run.order.run_id)
        elif accepted.waits and order.slot is not None:
            ticket.item_id, ticket.waits_for, ticket.why = item.item_id, accepted.blocked_by, accepted.why
            if self._closing.is_set():
                ticket.started.cancel()
            elif accepted.blocked_by not in self._tasks:
                self.look(order.slot)
        else:
            self._start(order, ticket)
        return ticket

    async def _offer(
        self, order: RunOrder, item: QueueItem, run: LiveRun | None, after: bool
    ) -> tuple[Claim | None, str | None]:
        """A claim of the run at work, or why there is none."""
        if run is None or after:
            return None, None
        await run.begun.wait()
        why = why_not(run, order)
        return (Claim(run, item), None) if why is None else (None, why)

    def _record(
        self,
        tx: Transaction,
        *,
        order: RunOrder,
        item: QueueItem,
        claim: Claim | None,
        why: str | None,
        again: Again | None,
        now: int,
    ) -> _Accepted:
        """The event, its session, and its run, its claim or its place in line, in one step."""
        envelope, conn = order.envelope, tx.connection
        known = event_log.seen(conn, envelope.event_id)
        refused = _refusal(conn, again.item_id, envelope.event_id) if known is None and again is not None else None
        if known is not None or refused is not None:
            if claim is not None:
                claim.refuse(tx, str(refused) if refused else f"event {envelope.event_id} was taken in before")
            if known is None:
                return _Accepted(refused=refused)
            return _Accepted(is_repeat=True, repeat_of=_run_of(conn, known))
        if envelope.conversation_id is not None:
            user = envelope.actor.actor_id if envelope.actor else None
            title = envelope.input.to_text().strip().partition("\n")[0][:80] or envelope.event_type
            sessions.ensure(conn, envelope.conversation_id, at=now, user_id=user, title=title)
            sessions.touch(conn, envelope.conversation_id, at=now)
        item = replace(item, created_at=now)
        if claim is not None:
            why = claim.decide(tx, order, item, event_row(order, None, now), now)
            if why is None:
                return _Accepted(claimed=True)
        is_held = item.fate == Fate.HELD  # even a free slot is not for what a person keeps back
        blocked_by = None if is_held else self._create(tx, order, now)
        waits = is_held or blocked_by is not None
        event_log.append(conn, event_row(order, None if waits else order.run_id, now))
        if not waits:
            _say(tx, order, now)
            return _Accepted()
        holder = runs.holder(conn, envelope.conversation_id, envelope.thread_id)
        run_id = holder.run_id if holder else None
        if holder is not None and holder.host != self._host and item.mode == Mode.SLOT:
            why = "the run at work is another process's"
        queue.add(conn, replace(item, reason=why, run_id=run_id))
        return _Accepted(waits=True, blocked_by=run_id, why=why)

    def _create(self, tx: Transaction, order: RunOrder, now: int) -> str | None:
        """Make the run, or give what is before it."""
        first = self._first(tx.connection, order.slot) if order.slot is not None else None
        if first is not None:
            return first.item_id
        try:
            runs.create(tx.connection, run_row(order, self._host, now))
        except SlotTaken as taken:
            return taken.run_id
        return None

    def _repeated(self, ticket: Ticket, run_id: str | None) -> Ticket:
        """The answer that the event's first sender got, or will get."""
        ticket.is_repeat = True
        if run_id is not None:
            ticket.started.set_result(run_id)
            return ticket
        for waiting in self.waiting.values():
            if waiting.ticket.event_id == ticket.event_id:
                return replace(waiting.ticket, is_repeat=True)
        ticket.started.set_exception(NotFound(f"event {ticket.event_id} was taken in before and has no run."))
        return ticket

    # Running

    def _start(self, order: RunOrder, ticket: Ticket | None) -> None:
        live = self._conductor.admit(order)
        task = asyncio.ensure_future(self._conductor.conduct(live))
        self._tasks[order.run_id] = task
        if order.slot is not None:
            place = self._places.setdefault(order.slot, _Place())
            place.users += 1
            place.run = live
        task.add_done_callback(lambda _: self._ended(live))
        if ticket is not None and not ticket.started.done():
            ticket.started.set_result(order.run_id)

    def _ended(self, live: LiveRun) -> None:
        order = live.order
        self._tasks.pop(order.run_id, None)
        if order.slot is not None:
            place = self._places[order.slot]
            if place.run is live:  # else the next one has the slot already
                place.run = None
            if self.waiting:
                self.look(order.slot)
            self._leave(order.slot, place)

    async def _next(self, slot: Slot, place: _Place) -> None:
        """Let the next in line have the slot as soon as it is free, also of other processes' runs."""
        while not self._closing.is_set():
            tried: list[str] = []
            async with place.lock:
                try:
                    take = partial(self._take, slot=slot, tried=tried, now=self._clock.now())
                    taken = await self._writer.submit(take)
                except SlotTaken as blocked:
                    if blocked.run_id in self._tasks:
                        return  # its end looks again
                except Exception as error:  # noqa: BLE001  (whatever it was, those behind must get their turn)
                    self._fail_first(slot, tried, error)
                else:
                    if taken is not None:
                        order, item_id = taken
                        waiting = self.waiting.pop(item_id, None)  # gone where the host is being closed
                        self._start(order, waiting.ticket if waiting else None)
                    return
            with suppress(TimeoutError):
                async with asyncio.timeout(FOREIGN_WAIT):
                    await self._closing.wait()

    def _take(self, tx: Transaction, *, slot: Slot, tried: list[str], now: int) -> tuple[RunOrder, str] | None:
        """Give the slot to the first that waits for it."""
        item = self._first(tx.connection, slot)
        waiting = None if item is None else self.waiting.get(item.item_id)
        if item is None or waiting is None:
            return None
        tried.append(item.item_id)
        order = replace(waiting.order, envelope=with_text(waiting.order.envelope, item.text))
        runs.create(tx.connection, run_row(order, self._host, now))
        queue.decide(tx.connection, item.item_id, Fate.OWN_RUN, at=now, own_run_id=order.run_id)
        event_log.attach(tx.connection, order.envelope.event_id, order.run_id)
        _say(tx, order, now)
        return order, item.item_id

    def _first(self, conn: Connection, slot: Slot) -> QueueItem | None:
        # One that is unknown here has failed to start and was told so; those behind it do not wait for it.
        return next((item for item in queue.in_line(conn, *slot, self._host) if item.item_id in self.waiting), None)

    def _fail_first(self, slot: Slot, tried: list[str], error: Exception) -> None:
        """The first in line cannot be started; those behind it have no run to wait for."""
        # Where the database failed before it could say who is first, it is whoever came first.
        in_slot = [item_id for item_id, waiting in self.waiting.items() if waiting.order.slot == slot]
        for item_id in (tried or in_slot)[:1]:
            waiting = self.waiting.pop(item_id, None)
            if waiting is not None and not waiting.ticket.started.done():
                told = error if isinstance(error, FactsError) else FactsError(f"its run could not be made: {error}")
                waiting.ticket.started.set_exception(told)

    # Places

    @contextmanager
    def _at(self, slot: Slot) -> Generator[_Place]:
        place = self._places.setdefault(slot, _Place())
        place.users += 1
        try:
            yield place
        finally:
            self._leave(slot, place)

    def _leave(self, slot: Slot, place: _Place) -> None:
        """A slot that nobody uses is forgotten; its lock must not be while someone holds it."""
        place.users -= 1
        if not place.users:
            del self._places[slot]

    def _looked(self, slot: Slot, place: _Place) -> None:
        place.watch = None
        if place.look_again:
            place.look_again = False
            self.look(slot)
        self._leave(slot, place)

    def _watches(self) -> Iterator[asyncio.Task[None]]:
        return (place.watch for place in self._places.values() if place.watch is not None)

    def _item(self, order: RunOrder, mode: Mode) -> QueueItem:
        envelope = order.envelope
        agent = {} if order.binding.agent_id is None else {queue.AGENT: order.binding.agent_id}
        kept = {runs.KEPT: True} if order.takes_kept else {}
        return QueueItem(
            item_id=self._ids.new("item"),
            event_id=envelope.event_id,
            conversation_id=envelope.conversation_id,
            thread_id=envelope.thread_id,
            bot_id=envelope.bot_id,
            workspace_id=envelope.workspace_id,
            runner_id=order.binding.runner_id,
            mode=mode,
            host=self._host,
            envelope=envelope.model_dump(mode="json"),
            text=envelope.input.to_text(),
            created_at=0,
            metadata={**agent, **kept, **covered(envelope.input, order.marks)},
        )


def _say(tx: Transaction, order: RunOrder, now: int) -> None:
    line_id = user_line_of(order.run_id)
    write_user_line(tx, order.envelope, order.marks, run_id=order.run_id, line_id=line_id, at=now)


def _refusal(conn: Connection, item_id: str, event_id: str) -> FactsError | None:
    """Note that an item is sent again; gives what is against it."""
    try:
        queue.mark_sent_again(conn, item_id, event_id)
    except FactsError as error:
        return error
    return None


def _run_of(conn: Connection, known: event_log.EventRow) -> str | None:
    """The run that an event got: its own, or the one that claimed it."""
    if known.run_id is not None:
        return known.run_id
    item = queue.of_event(conn, known.event_id, known.conversation_id)
    return item.run_id if item is not None and item.mode == Mode.STEER else None
