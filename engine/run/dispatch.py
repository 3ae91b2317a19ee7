"""Slots: one live run per conversation and thread. What finds its slot taken waits its turn, in order."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from engine.clock import Clock, Ids
from engine.facts import event_log, queue, runs, sessions
from engine.facts.batch import Transaction
from engine.facts.errors import FactsError, NotFound, SlotTaken
from engine.facts.event_log import EventRow
from engine.facts.queue import Fate, Mode, QueueItem
from engine.facts.runs import RunRow
from engine.facts.writer import Writer
from engine.run.beginning import user_line_of, write_user_line
from engine.run.order import RunOrder

FOREIGN_WAIT: Final = 0.25
"""Seconds between looks at a slot that another process holds; our own runs say when they end."""

Slot = tuple[str, str | None]
Conduct = Callable[[RunOrder], Awaitable[None]]


@dataclass(slots=True)
class Ticket:
    """What the sender of an event gets: which run it became, now or when its turn comes."""

    event_id: str
    started: asyncio.Future[str]
    """The run id; fails if the run could not be made."""
    is_repeat: bool = False
    """The event id was seen before; the run is its first one."""
    waits_for: str | None = None
    """The run that has the slot, while this event waits."""


@dataclass(frozen=True, slots=True)
class _Accepted:
    repeat_of: str | None = None
    is_repeat: bool = False
    blocked_by: str | None = None


@dataclass(slots=True)
class _Line:
    """Who waits for one slot."""

    senders: int = 0
    """Those inside `accept`; a line that someone is joining is not thrown away."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: deque[tuple[RunOrder, Ticket, str]] = field(default_factory=deque[tuple[RunOrder, Ticket, str]])


class Dispatch:
    """Gives every event its slot, or its place in the line for it."""

    def __init__(self, writer: Writer, conduct: Conduct, host: str, clock: Clock, ids: Ids) -> None:
        self._writer = writer
        self._conduct = conduct
        self._host = host
        self._clock = clock
        self._ids = ids
        self._lines: dict[Slot, _Line] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._watching: set[asyncio.Task[None]] = set()
        self._accepting: set[asyncio.Task[Ticket]] = set()
        self._closing = asyncio.Event()

    async def accept(self, order: RunOrder) -> Ticket:
        """Record the event and start its run, or put it in line. Nothing that was accepted can be lost."""
        # In a task of its own: a sender who stops waiting must not leave a recorded run that nobody starts.
        accepting = asyncio.ensure_future(self._take_in(order))
        self._accepting.add(accepting)
        accepting.add_done_callback(self._accepting.discard)
        return await asyncio.shield(accepting)

    def run_task(self, run_id: str) -> "asyncio.Task[None] | None":
        """The task of a live run."""
        return self._tasks.get(run_id)

    async def idle(self) -> None:
        """Return when nothing runs and nothing waits."""
        while pending := {*self._tasks.values(), *self._watching, *self._accepting}:
            await asyncio.wait(pending)

    def close(self) -> None:
        """Stop waiting for slots; what waits is dropped with the reason by whoever recovers this host."""
        for line in self._lines.values():
            for _, ticket, _ in line.waiting:
                ticket.started.cancel()
            line.waiting.clear()
        self._closing.set()

    async def _take_in(self, order: RunOrder) -> Ticket:
        slot = order.slot
        if slot is None:
            return await self._accept(order, None)
        line = self._lines.setdefault(slot, _Line())
        line.senders += 1
        try:
            async with line.lock:
                return await self._accept(order, line)
        finally:
            line.senders -= 1

    async def _accept(self, order: RunOrder, line: _Line | None) -> Ticket:
        ticket = Ticket(order.envelope.event_id, asyncio.get_running_loop().create_future())
        item_id = self._ids.new("item")
        must_wait = bool(line and line.waiting)
        accepted = await self._writer.submit(
            partial(self._record, order=order, item_id=item_id, must_wait=must_wait, now=self._clock.now())
        )
        if accepted.is_repeat:
            return self._repeated(ticket, accepted.repeat_of)
        if accepted.blocked_by is None and not must_wait:
            self._start(order, ticket)
        elif line is not None:
            ticket.waits_for = accepted.blocked_by
            line.waiting.append((order, ticket, item_id))
            if accepted.blocked_by not in self._tasks:
                self._watch(line)
        return ticket

    def _repeated(self, ticket: Ticket, run_id: str | None) -> Ticket:
        """The answer that the event's first sender got, or will get."""
        ticket.is_repeat = True
        if run_id is not None:
            ticket.started.set_result(run_id)
            return ticket
        for line in self._lines.values():
            for _, first, _ in line.waiting:
                if first.event_id == ticket.event_id:
                    return replace(first, is_repeat=True)
        ticket.started.set_exception(NotFound(f"event {ticket.event_id} was taken in before and has no run."))
        return ticket

    def _record(self, tx: Transaction, *, order: RunOrder, item_id: str, must_wait: bool, now: int) -> _Accepted:
        """The event, its session, and its run or its place in line, in one step."""
        envelope = order.envelope
        known = event_log.seen(tx.connection, envelope.event_id)
        if known is not None:
            return _Accepted(repeat_of=known.run_id, is_repeat=True)
        if envelope.conversation_id is not None:
            user = envelope.actor.actor_id if envelope.actor else None
            title = envelope.input.to_text().strip().partition("\n")[0][:80] or envelope.event_type
            sessions.ensure(tx.connection, envelope.conversation_id, at=now, user_id=user, title=title)
            sessions.touch(tx.connection, envelope.conversation_id, at=now)
        blocked_by = None
        if not must_wait:
            try:
                runs.create(tx.connection, run_row(order, self._host, now))
            except SlotTaken as taken:
                blocked_by = taken.run_id
        waits = must_wait or blocked_by is not None
        event_log.append(tx.connection, event_row(order, None if waits else order.run_id, now))
        if waits:
            queue.add(tx.connection, self._item(order, item_id, now))
        else:
            _say(tx, order, now)
        return _Accepted(blocked_by=blocked_by)

    def _start(self, order: RunOrder, ticket: Ticket) -> None:
        task = asyncio.ensure_future(self._conduct(order))
        self._tasks[order.run_id] = task
        task.add_done_callback(lambda _: self._ended(order))
        if not ticket.started.done():
            ticket.started.set_result(order.run_id)

    def _ended(self, order: RunOrder) -> None:
        self._tasks.pop(order.run_id, None)
        line = self._lines.get(order.slot) if order.slot is not None else None
        if line is not None and line.waiting:
            self._watch(line)
        elif order.slot is not None and line is not None and not line.senders:
            del self._lines[order.slot]

    def _watch(self, line: _Line) -> None:
        task = asyncio.ensure_future(self._next(line))
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)

    async def _next(self, line: _Line) -> None:
        """Let the next in line have the slot as soon as it is free, also of other processes' runs."""
        while not self._closing.is_set():
            async with line.lock:
                if not line.waiting:
                    return
                waiting, ticket, item_id = line.waiting[0]
                take = partial(self._take, order=waiting, item_id=item_id, now=self._clock.now())
                try:
                    await self._writer.submit(take)
                except SlotTaken as taken:
                    ticket.waits_for = taken.run_id
                    if taken.run_id in self._tasks:
                        return
                except FactsError as error:
                    _leave(line, item_id)
                    if not ticket.started.done():
                        ticket.started.set_exception(error)
                    continue  # those behind it have no run to wait for
                else:
                    _leave(line, item_id)
                    self._start(waiting, ticket)
                    return
            with suppress(TimeoutError):
                async with asyncio.timeout(FOREIGN_WAIT):
                    await self._closing.wait()

    def _take(self, tx: Transaction, *, order: RunOrder, item_id: str, now: int) -> None:
        runs.create(tx.connection, run_row(order, self._host, now))
        queue.decide(tx.connection, item_id, Fate.OWN_RUN, at=now, own_run_id=order.run_id)
        event_log.attach(tx.connection, order.envelope.event_id, order.run_id)
        _say(tx, order, now)

    def _item(self, order: RunOrder, item_id: str, now: int) -> QueueItem:
        envelope = order.envelope
        return QueueItem(
            item_id=item_id,
            event_id=envelope.event_id,
            conversation_id=envelope.conversation_id,
            thread_id=envelope.thread_id,
            bot_id=envelope.bot_id,
            workspace_id=envelope.workspace_id,
            runner_id=order.binding.runner_id,
            mode=Mode.SLOT,
            host=self._host,
            envelope=envelope.model_dump(mode="json"),
            text=envelope.input.to_text(),
            created_at=now,
        )


def _leave(line: _Line, item_id: str) -> None:
    """Take the first out of its line; it is empty where the host was closed meanwhile."""
    if line.waiting and line.waiting[0][2] == item_id:
        line.waiting.popleft()


def _say(tx: Transaction, order: RunOrder, now: int) -> None:
    line_id = user_line_of(order.run_id)
    write_user_line(tx, order.envelope, order.marks, run_id=order.run_id, line_id=line_id, at=now)


def run_row(order: RunOrder, host: str, now: int) -> RunRow:
    """The run as it is created: who, where, and the frozen grants."""
    envelope = order.envelope
    return RunRow(
        run_id=order.run_id,
        event_id=envelope.event_id,
        agent_id=order.binding.agent_id,
        binding_id=order.binding.binding_id,
        runner_id=order.binding.runner_id,
        host=host,
        conversation_id=envelope.conversation_id,
        thread_id=envelope.thread_id,
        bot_id=envelope.bot_id,
        workspace_id=envelope.workspace_id,
        created_at=now,
        updated_at=now,
        authorization=order.grants.snapshot(),
        metadata={"input": order.marks.cover_words(envelope.input.to_text())[:200]},
    )


def event_row(order: RunOrder, run_id: str | None, now: int) -> EventRow:
    """The event as the log keeps it."""
    envelope = order.envelope
    actor, subject = envelope.actor, envelope.subject
    return EventRow(
        event_id=envelope.event_id,
        event_type=envelope.event_type,
        event_time=envelope.time,
        source=envelope.source,
        source_event_type=envelope.source_event_type,
        bot_id=envelope.bot_id,
        workspace_id=envelope.workspace_id,
        conversation_id=envelope.conversation_id,
        thread_id=envelope.thread_id,
        actor_type=actor.actor_type if actor else None,
        actor_id=actor.actor_id if actor else None,
        actor_name=actor.actor_name if actor else None,
        subject_type=subject.subject_type if subject else None,
        subject_id=subject.subject_id if subject else None,
        input_summary=order.marks.cover_words(envelope.input.to_text()) or None,
        raw_ref=envelope.raw_ref,
        run_id=run_id,
        created_at=now,
    )
