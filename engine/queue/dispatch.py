"""Slots: one live run for each conversation and thread. A message for an occupied slot joins its run or waits."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import partial
from typing import Final

from sqlalchemy import Connection

from engine.clock import Clock, Ids
from engine.events import Fate, Mode
from engine.intake.envelope import with_text
from engine.queue.claims import Claim, ClaimedEvents, reason_not_claimable
from engine.queue.items import masked_parts
from engine.queue.leftovers import Resend
from engine.queue.ticket import PendingEvent, Ticket
from engine.run.live import LiveRun
from engine.run.masked_event import mask_event
from engine.run.orchestrator import Orchestrator
from engine.run.rows import event_row, run_row
from engine.run.run_order import RunOrder, Slot
from engine.run.run_start import user_line_id
from engine.run.store_event import write_user_line
from engine.store import event_log, queue, runs, sessions
from engine.store.batch import Transaction
from engine.store.deletion import purge_hidden
from engine.store.errors import CannotSteer, NotFound, SessionDeleted, SlotTaken, StoreError
from engine.store.queue import QueueItem
from engine.store.runs import RunRow
from engine.store.writer import Writer

SLOT_POLL_SECONDS: Final = 0.25
"""How often to look at a slot that another process occupies; the end of our own runs is noticed at once."""


class _Acceptance(Enum):
    """What the writer decided about an event."""

    STARTED = auto()
    """A run was created for it."""
    CLAIMED = auto()
    """The run in progress claimed it."""
    QUEUED = auto()
    """It waits for its slot."""
    REPEATED = auto()
    """The event id was accepted before."""
    REFUSED = auto()
    """It repeats an item that cannot be sent again, or the only run that may claim it cannot."""


@dataclass(frozen=True, slots=True)
class _Accepted:
    """The decision about an event, and its data."""

    acceptance: _Acceptance
    run_id: str | None = None
    """The run that occupies the slot of a queued event, or the run of a repeated one."""
    reason: str | None = None
    """Why a queued event was not claimed."""
    error: Exception | None = None
    """Why the event was refused."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Which run in progress may claim a message: by default that of this process in the message's slot."""

    after: bool = False
    """None may: the message waits for the end of the run."""
    only_to: str | None = None
    """Only this run may. If it cannot, CannotSteer is raised, and the message is not queued."""
    ask_elsewhere: bool = False
    """A run of another process may. SlotElsewhere is raised, and nothing recorded, so that its host can be asked."""
    not_claimed_reason: str | None = None
    """Why the run of another process, which was asked already, does not claim the message."""


@dataclass(slots=True)
class _SlotState:
    """A slot while it is in use."""

    users: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    run: LiveRun | None = None
    filling: asyncio.Task[None] | None = None
    """Starts the next pending event as soon as the slot is free."""
    fill_again: bool = False
    """Whether the queue of the slot changed while `filling` was running."""


class SlotElsewhere(Exception):
    """Raised if a run of another process occupies the slot of a message, and may be asked to claim it."""

    def __init__(self, run: RunRow) -> None:
        super().__init__(run.run_id)
        self.run = run


class Dispatcher:
    """Decides for every event whether it starts a run, joins the run in progress, or waits for its slot."""

    def __init__(
        self, writer: Writer, orchestrator: Orchestrator, claimed: ClaimedEvents, host: str, clock: Clock, ids: Ids
    ) -> None:
        self._writer = writer
        self._orchestrator = orchestrator
        self._claimed = claimed
        self._host = host
        self._clock = clock
        self._ids = ids
        self._slots: dict[Slot, _SlotState] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._accepting: set[asyncio.Task[Ticket]] = set()
        self._closing = asyncio.Event()
        self.pending: dict[str, PendingEvent] = {}
        """By item id, the events that wait for their slot. Their order and fate are stored in the database only.

        The writer's thread reads it, so an event is added before the writer is asked to queue it.
        """

    async def accept(
        self,
        order: RunOrder,
        offer: Offer | None = None,
        *,
        continues: bool = False,
        resend: Resend | None = None,
    ) -> Ticket:
        """Record the event and start its run, or queue it. An accepted event cannot be lost.

        `offer` says which run in progress may claim it; `resend` names the item that this event repeats. An event that
        `continues` a session is refused if the session is not stored.
        """
        # In a task of its own: if the sender is cancelled, a recorded run must still be started.
        accepting = asyncio.ensure_future(self._accept(order, offer or Offer(), continues, resend))
        self._accepting.add(accepting)
        accepting.add_done_callback(self._accepting.discard)
        return await asyncio.shield(accepting)

    def run_task(self, run_id: str) -> "asyncio.Task[None] | None":
        """Return the task of a live run of this process."""
        return self._tasks.get(run_id)

    def run_in_slot(self, slot: Slot) -> LiveRun | None:
        """Return the run of this process that occupies a slot."""
        state = self._slots.get(slot)
        return None if state is None else state.run

    async def wait_idle(self) -> None:
        """Return when no run is in progress and no event can start one."""
        while tasks := {*self._tasks.values(), *self._accepting, *self._filling_tasks()}:
            await asyncio.wait(tasks)

    def close(self) -> None:
        """Start no more runs. The host drops the pending events, with the reason, when it unregisters."""
        for event in self.pending.values():
            if event.ticket.item_id is not None:  # otherwise the writer has not decided yet whether it is queued
                event.ticket.started.cancel()
        self.pending.clear()
        self._closing.set()

    def fill_slot(self, slot: Slot) -> None:
        """Start the first pending event of a slot as soon as the slot is free. Call it when the queue has changed."""
        state = self._slots.setdefault(slot, _SlotState())
        if state.filling is not None:
            state.fill_again = True
            return
        state.users += 1
        state.filling = asyncio.ensure_future(self._fill(slot, state))
        state.filling.add_done_callback(lambda _: self._filling_done(slot, state))

    # Accepting an event

    async def _accept(self, order: RunOrder, offer: Offer, continues: bool, resend: Resend | None) -> Ticket:
        async with self._locked_slot(order.slot) as state:
            ticket = Ticket(order.envelope.event_id, asyncio.get_running_loop().create_future())
            item = self._new_item(order, Mode.AFTER if offer.after else Mode.SLOT)
            if resend is not None:
                item = replace(item, place=resend.place, fate=resend.fate)
            run = None if offer.after or state is None else state.run
            if offer.only_to is not None and (run is None or run.order.run_id != offer.only_to):
                raise CannotSteer("the run has ended")
            claim, reason = await self._offer(order, item, run)
            if offer.only_to is not None and claim is None:
                raise CannotSteer(reason or "the run cannot receive messages")
            event = self.pending[item.item_id] = PendingEvent(order, ticket)
            if claim is not None:
                self._claimed.add(claim.run_id, item.item_id, event)
            acceptance: _Acceptance | None = None
            try:
                accepted = await self._writer.submit(
                    partial(
                        self._record,
                        order=order,
                        item=item,
                        claim=claim,
                        reason=reason,
                        offer=offer,
                        continues=continues,
                        resend=resend,
                        now=self._clock.now(),
                    )
                )
                acceptance = accepted.acceptance
            finally:
                if acceptance is not _Acceptance.QUEUED:
                    self.pending.pop(item.item_id, None)
                if claim is not None and acceptance is not _Acceptance.CLAIMED:
                    self._claimed.remove(claim.run_id, item.item_id)
            return self._complete(ticket, order, item, claim, accepted)

    def _complete(
        self, ticket: Ticket, order: RunOrder, item: QueueItem, claim: Claim | None, accepted: _Accepted
    ) -> Ticket:
        """Act on the writer's decision: start the run or fill in the ticket. Raises the error of a refused event."""
        match accepted.acceptance:
            case _Acceptance.STARTED:
                self._start(order, ticket)
            case _Acceptance.CLAIMED if claim is not None:
                ticket.item_id, ticket.claimed_by = item.item_id, claim.run_id
                ticket.started.set_result(claim.run_id)
            case _Acceptance.QUEUED if order.slot is not None:
                ticket.item_id, ticket.waits_for = item.item_id, accepted.run_id
                ticket.not_claimed_reason = accepted.reason
                if self._closing.is_set():
                    ticket.started.cancel()
                elif accepted.run_id not in self._tasks:
                    self.fill_slot(order.slot)
            case _Acceptance.REPEATED:
                return self._repeated(ticket, accepted.run_id)
            case _:
                raise accepted.error or AssertionError(accepted)
        return ticket

    async def _offer(self, order: RunOrder, item: QueueItem, run: LiveRun | None) -> tuple[Claim | None, str | None]:
        """Return a claim of the run in progress, or the reason why it cannot claim the message."""
        if run is None:
            return None, None
        await run.started.wait()
        reason = reason_not_claimable(run, order)
        if reason is not None:
            return None, reason
        run.learn_secrets(order.secret_mask.secrets)
        return Claim(run, item), None

    def _record(
        self,
        tx: Transaction,
        *,
        order: RunOrder,
        item: QueueItem,
        claim: Claim | None,
        reason: str | None,
        offer: Offer,
        continues: bool,
        resend: Resend | None,
        now: int,
    ) -> _Accepted:
        """Inside the writer: record the event and its session, and create its run, claim or queue it, in one step."""
        envelope, conn = order.envelope, tx.connection
        is_deleted = continues and not sessions.is_there(conn, envelope.conversation_id or "")
        known = _known_event(conn, order, may_purge=resend is None and not is_deleted, now=now)
        error: StoreError | None = None
        if known is None and resend is not None:
            error = _why_not_resent(conn, resend.item_id)
        elif known is None and is_deleted:
            error = SessionDeleted(f"Session {envelope.conversation_id} was deleted.")
        elif known is None and order.is_external:
            error = self._reason_slot_is_taken(conn, order)
        if known is not None or error is not None:
            if claim is not None:
                claim.refuse(tx, str(error) if error else f"event {envelope.event_id} was accepted before")
            if known is None:
                return _Accepted(_Acceptance.REFUSED, error=error)
            return _Accepted(_Acceptance.REPEATED, run_id=_run_of_event(conn, known))
        accepted = self._place(tx, order, replace(item, created_at=now), claim, reason, offer, now)
        if resend is not None and accepted.acceptance is not _Acceptance.REFUSED:
            queue.mark_sent_again(conn, resend.item_id, envelope.event_id)
        return accepted

    def _place(
        self,
        tx: Transaction,
        order: RunOrder,
        item: QueueItem,
        claim: Claim | None,
        reason: str | None,
        offer: Offer,
        now: int,
    ) -> _Accepted:
        """Inside the writer: claim a new event, create its run or queue it."""
        envelope, conn = order.envelope, tx.connection
        if envelope.conversation_id is not None:
            user = envelope.actor.actor_id if envelope.actor else None
            text = order.secret_mask.cover_words(envelope.input.to_text())
            title = text.strip().partition("\n")[0][:80] or envelope.event_type
            sessions.ensure(conn, envelope.conversation_id, at=now, user_id=user, title=title)
            sessions.touch(conn, envelope.conversation_id, at=now)
        if claim is not None:
            reason = claim.decide(tx, order, item, event_row(order, None, now), now)
            if reason is None:
                return _Accepted(_Acceptance.CLAIMED)
            if offer.only_to is not None:
                return _Accepted(_Acceptance.REFUSED, error=CannotSteer(reason))
        is_paused = item.fate == Fate.PAUSED  # a paused message does not start even if the slot is free
        if not is_paused and self._create_run(tx, order, now):
            event_log.append(conn, event_row(order, order.run_id, now))
            _write_user_line(tx, order, now)
            return _Accepted(_Acceptance.STARTED)
        holder = runs.holder(conn, envelope.conversation_id, envelope.thread_id)
        run_id = holder.run_id if holder else None
        if holder is not None and holder.host != self._host and item.mode == Mode.SLOT:
            reason = offer.not_claimed_reason or "the run in progress belongs to another process"
            if offer.ask_elsewhere and envelope.is_message and claim is None:
                raise SlotElsewhere(holder)  # undoes this operation
        event_log.append(conn, event_row(order, None, now))
        queue.add(conn, replace(item, reason=reason, run_id=run_id))
        return _Accepted(_Acceptance.QUEUED, run_id, reason)

    def _reason_slot_is_taken(self, conn: Connection, order: RunOrder) -> StoreError | None:
        """Return why an external run cannot be created now. It cannot wait: it is in progress elsewhere already."""
        if order.slot is None:
            return None
        holder = runs.holder(conn, *order.slot)
        if holder is not None:
            return SlotTaken(holder.run_id, order.envelope.conversation_id)
        if self._first_pending(conn, order.slot) is not None:
            return StoreError(f"a message waits for session {order.envelope.conversation_id}; record the run later.")
        return None

    def _create_run(self, tx: Transaction, order: RunOrder, now: int) -> bool:
        """Create the run, unless its slot is occupied or an earlier event waits for it."""
        if order.slot is not None and self._first_pending(tx.connection, order.slot) is not None:
            return False
        try:
            runs.create(tx.connection, run_row(order, self._host, now), project=order.project)
        except SlotTaken:
            return False
        return True

    def _repeated(self, ticket: Ticket, run_id: str | None) -> Ticket:
        """Return what the first sender of the event got, or will get."""
        ticket.is_repeat = True
        if run_id is not None:
            ticket.started.set_result(run_id)
            return ticket
        for event in self.pending.values():
            if event.ticket.event_id == ticket.event_id:
                return replace(event.ticket, is_repeat=True)
        ticket.started.set_exception(NotFound(f"Event {ticket.event_id} was accepted before and has no run."))
        return ticket

    # Running

    def _start(self, order: RunOrder, ticket: Ticket | None) -> None:
        live = self._orchestrator.add_run(order)
        task = asyncio.ensure_future(self._orchestrator.execute_run(live))
        self._tasks[order.run_id] = task
        if order.slot is not None:
            state = self._slots.setdefault(order.slot, _SlotState())
            state.users += 1
            state.run = live
        task.add_done_callback(lambda _: self._run_ended(live))
        if ticket is not None and not ticket.started.done():
            ticket.started.set_result(order.run_id)

    def _run_ended(self, live: LiveRun) -> None:
        order = live.order
        self._tasks.pop(order.run_id, None)
        self._claimed.remove_run(order.run_id)
        if order.slot is not None:
            state = self._slots[order.slot]
            if state.run is live:  # otherwise the next run has the slot already
                state.run = None
            if self.pending:
                self.fill_slot(order.slot)
            self._release_slot(order.slot, state)

    async def _fill(self, slot: Slot, state: _SlotState) -> None:
        """Start the first pending event as soon as the slot is free, also if another process occupies it."""
        while not self._closing.is_set():
            tried: list[str] = []
            async with state.lock:
                try:
                    start = partial(self._start_pending, slot=slot, tried=tried, now=self._clock.now())
                    started = await self._writer.submit(start)
                except SlotTaken as taken:
                    if taken.run_id in self._tasks:
                        return  # the end of that run fills the slot
                except Exception as error:  # noqa: BLE001  (whatever it was, the events behind must get their turn)
                    self._fail_pending(slot, tried, error)
                else:
                    if started is not None:
                        order, item_id = started
                        event = self.pending.pop(item_id, None)  # missing if the host is being closed
                        self._start(order, event.ticket if event else None)
                    return
            with suppress(TimeoutError):
                async with asyncio.timeout(SLOT_POLL_SECONDS):
                    await self._closing.wait()

    def _start_pending(self, tx: Transaction, *, slot: Slot, tried: list[str], now: int) -> tuple[RunOrder, str] | None:
        """Inside the writer: create the run of the first pending event. Returns its order and item id."""
        item = self._first_pending(tx.connection, slot)
        event = None if item is None else self.pending.get(item.item_id)
        if item is None or event is None:
            return None
        tried.append(item.item_id)
        order = replace(event.order, envelope=with_text(event.order.envelope, item.text))
        runs.create(tx.connection, run_row(order, self._host, now), project=order.project)
        queue.decide(tx.connection, item.item_id, Fate.OWN_RUN, at=now, own_run_id=order.run_id)
        event_log.attach(tx.connection, order.envelope.event_id, order.run_id)
        _write_user_line(tx, order, now)
        return order, item.item_id

    def _first_pending(self, conn: Connection, slot: Slot) -> QueueItem | None:
        # An item that is not in `pending` has failed to start, and its sender knows; the next ones do not wait for it.
        return next((item for item in queue.in_line(conn, *slot, self._host) if item.item_id in self.pending), None)

    def _fail_pending(self, slot: Slot, tried: list[str], error: Exception) -> None:
        """Fail the first pending event of a slot, because its run cannot be created."""
        # If the database failed before it returned the first item, take the event that came first.
        in_slot = [item_id for item_id, event in self.pending.items() if event.order.slot == slot]
        for item_id in (tried or in_slot)[:1]:
            event = self.pending.pop(item_id, None)
            if event is not None and not event.ticket.started.done():
                cause = error if isinstance(error, StoreError) else StoreError(f"The run cannot be created: {error}")
                event.ticket.started.set_exception(cause)

    # Slots

    @asynccontextmanager
    async def _locked_slot(self, slot: Slot | None) -> AsyncGenerator[_SlotState | None]:
        """Lock a slot. An event without a conversation has no slot and needs no lock."""
        if slot is None:
            yield None
            return
        state = self._slots.setdefault(slot, _SlotState())
        state.users += 1
        try:
            async with state.lock:
                yield state
        finally:
            self._release_slot(slot, state)

    def _release_slot(self, slot: Slot, state: _SlotState) -> None:
        """Forget a slot that nobody uses any more. Its lock must live as long as someone holds it."""
        state.users -= 1
        if not state.users:
            del self._slots[slot]

    def _filling_done(self, slot: Slot, state: _SlotState) -> None:
        state.filling = None
        if state.fill_again:
            state.fill_again = False
            self.fill_slot(slot)
        self._release_slot(slot, state)

    def _filling_tasks(self) -> Iterator[asyncio.Task[None]]:
        return (state.filling for state in self._slots.values() if state.filling is not None)

    def _new_item(self, order: RunOrder, mode: Mode) -> QueueItem:
        envelope = order.envelope
        agent = {} if order.binding.agent_id is None else {queue.AGENT: order.binding.agent_id}
        kept = {runs.KEPT: True} if order.uses_kept_settings else {}
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
            metadata={**agent, **kept, **masked_parts(envelope, order.secret_mask)},
        )


def _write_user_line(tx: Transaction, order: RunOrder, now: int) -> None:
    line_id = user_line_id(order.run_id)
    shown = mask_event(order.envelope, order.secret_mask)
    write_user_line(tx, shown, run_id=order.run_id, line_id=line_id, at=now)


def _known_event(conn: Connection, order: RunOrder, *, may_purge: bool, now: int) -> event_log.EventRow | None:
    """Return the event of the same id that was accepted before.

    The event of a deleted session is a new event, and an event for a deleted session starts an empty one: a session
    that can still be restored is purged here.
    """
    envelope = order.envelope
    known = event_log.seen(conn, envelope.event_id)
    places = {known.conversation_id if known is not None else None, envelope.conversation_id}
    if may_purge and purge_hidden(conn, places, at=now, event_id=f"{order.run_id}:session.deleted"):
        return event_log.seen(conn, envelope.event_id)
    return known


def _why_not_resent(conn: Connection, item_id: str) -> StoreError | None:
    """Return why an item cannot be sent again; None if it can."""
    try:
        queue.check_resendable(conn, item_id)
    except StoreError as error:
        return error
    return None


def _run_of_event(conn: Connection, known: event_log.EventRow) -> str | None:
    """Return the run that an event got: its own, or the one that claimed it."""
    if known.run_id is not None:
        return known.run_id
    item = queue.of_event(conn, known.event_id, known.conversation_id)
    return item.run_id if item is not None and item.mode == Mode.STEER else None
