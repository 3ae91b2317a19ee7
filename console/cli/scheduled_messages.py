"""Messages of --steer and --after: when each is sent, and what became of it."""

import argparse
import asyncio
import math
import re
from collections import Counter, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from console.cli.exit_codes import UsageError
from console.cli.options import replace_invalid_utf8
from console.cli.terminal import print_error
from console.model.journal.run_end import drop_reason_words
from console.model.text.safe import one_line
from engine.api import (
    Engine,
    Entry,
    EventEnvelope,
    Fate,
    IntakeError,
    RunOptions,
    RunOrder,
    StoreError,
    Ticket,
    message,
)
from engine.events import LAST_KIND, EntryKind

RESULT_TYPES: Final = (
    EntryKind.MESSAGE_DELTA,
    EntryKind.MESSAGE_COMPLETED,
    EntryKind.TOOL_CALL_STARTED,
    EntryKind.TOOL_CALL_COMPLETED,
    EntryKind.ARTIFACT_CREATED,
    EntryKind.STATE_UPDATED,
    EntryKind.ACTION_REQUESTED,
    EntryKind.RUN_COMPLETED,
    EntryKind.RUN_FAILED,
)
"""Result types of runners."""
HOST_TYPES: Final = (
    EntryKind.RUN_STARTED,
    EntryKind.CALL_REQUESTED,
    EntryKind.CALL_DECIDED,
    EntryKind.CALL_REPLIED,
    EntryKind.STEERING_QUEUED,
    EntryKind.STEERING_PULLED,
    EntryKind.STEERING_INJECTED,
    EntryKind.STEERING_RETURNED,
    EntryKind.PAUSE_STARTED,
    EntryKind.PAUSE_EDITED,
    EntryKind.PAUSE_ENDED,
    EntryKind.CANCEL_REQUESTED,
    EntryKind.OUTPUT,
    EntryKind.WARNING,
    EntryKind.RUN_FINISHED,
)
"""Entry types of the host at which a message can be sent."""
_ORDINAL: Final = re.compile(r"[1-9][0-9]{0,8}")
_FORMAT: Final = "must be WHEN=TEXT, such as 'tool.call.started#2=use metric' or '+1.5=hurry up'"


@dataclass(frozen=True, slots=True)
class SendTime:
    """The nth entry of a type, or a number of seconds after the start."""

    kind: str | None = None
    number: int = 1
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ScheduledMessage:
    """One message of --steer."""

    typed: str
    """The argument as typed."""
    send_time: SendTime
    text: str


def parse(typed: str) -> ScheduledMessage:
    """Parse `WHEN=TEXT`; the text may contain `=`."""
    typed = replace_invalid_utf8(typed)
    when, equals, text = typed.partition("=")
    if not equals or not when.strip():
        raise argparse.ArgumentTypeError(_FORMAT)
    if not text.strip():
        raise argparse.ArgumentTypeError(f"{typed!r:.80} has no text; it {_FORMAT}")
    return ScheduledMessage(typed, _parse_send_time(when.strip()), text)


def _parse_send_time(when: str) -> SendTime:
    if when.startswith("+"):
        return SendTime(seconds=_parse_seconds(when))
    kind, numbered, number = when.partition("#")
    if kind not in RESULT_TYPES and kind not in HOST_TYPES:
        raise argparse.ArgumentTypeError(
            f"there is no entry type {kind!r:.80}. Results: {', '.join(RESULT_TYPES)}; of the host: "
            f"{', '.join(HOST_TYPES)}; each with an optional #n; or +seconds"
        )
    if numbered and _ORDINAL.fullmatch(number) is None:
        raise argparse.ArgumentTypeError(f"{when[:80]!r} is not an entry: {kind}#1 is the first, {kind}#2 the second")
    return SendTime(kind, int(number) if numbered else 1)


def _parse_seconds(when: str) -> float:
    try:
        value = float(when[1:])
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        raise argparse.ArgumentTypeError(f"{when[:40]!r} is not a time: +1.5 is 1.5 seconds after the start")
    return value


MAX_QUOTED_CHARACTERS: Final = 80
_OWN_RUN: Final = "It is queued until the run ends, and then becomes a run of its own."


@dataclass(slots=True)
class _SentMessage:
    """A message that was sent, or is about to be."""

    text: str
    is_after: bool = False
    ticket: Ticket | None = None
    """None until it is submitted."""


class MessageScheduler:
    """Sends messages at their time. A message that the run does not claim becomes a run of its own."""

    def __init__(self, engine: Engine, order: RunOrder, run_options: RunOptions, options: argparse.Namespace) -> None:
        self._engine = engine
        self._envelope = order.envelope
        self._run_options = replace(run_options, params={})  # parameters belong to the first event
        self._scheduled: list[ScheduledMessage] = list(options.steer)
        """Messages whose time has not come."""
        self._sent: list[_SentMessage] = []
        self._due: asyncio.Queue[_SentMessage] = asyncio.Queue()
        self._own_runs: deque[Ticket] = deque()
        self._is_closed = False
        self._watcher: asyncio.Task[None] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        if options.steer or options.after:
            if not self.has_session:
                raise UsageError("--steer and --after need a session, and this event has none.")
            # Raises before the run starts if the runner takes no messages.
            engine.runs.prepare(self._message("hello"), run_options)
        for text in options.after:
            self._enqueue(text, after=True)

    @property
    def has_session(self) -> bool:
        return self._envelope.conversation_id is not None

    def start(self, run_id: str, since: int) -> None:
        """Begin to send messages; the run has started."""
        self._watcher = asyncio.ensure_future(self._follow(run_id, since))
        self._tasks.append(asyncio.ensure_future(self._send_all()))

    async def send(self, text: str) -> Ticket | None:
        """Send a message now, after all that are due; returns None if it could not be sent."""
        sent = self._enqueue(text)
        await self._due.join()
        return sent.ticket

    async def next(self) -> Ticket | None:
        """After the first run: return the ticket of the next message that becomes a run; None after the last."""
        if self._watcher is not None:
            await asyncio.wait({self._watcher})
            if not self._watcher.cancelled():
                self._watcher.result()
            await self._due.join()
        return self._own_runs.popleft() if self._own_runs else None

    async def withdraw(self) -> None:
        """Send nothing more and withdraw queued messages. A message whose run just starts is not withdrawn."""
        self._is_closed = True
        if self._watcher is not None:
            self._watcher.cancel()
            await self._due.join()
        for sent in self._sent:
            if sent.ticket is not None and sent.ticket.item_id is not None and not sent.ticket.started.done():
                with suppress(StoreError):
                    await self._engine.queue.withdraw(sent.ticket.item_id)

    async def close(self) -> None:
        """Report undelivered messages, so that the user can send them again."""
        for task in (self._watcher, *self._tasks):
            if task is not None:
                task.cancel()
        dropped = await self._drop_reasons()
        for sent in self._sent:
            if (why := _why_undelivered(sent, dropped)) is not None:
                print_error(f"not delivered: {sent.text} ({why})")
        for scheduled in self._scheduled:
            print_error(f"--steer {_quoted(scheduled.typed)}: not sent, because the run did not reach this point.")

    async def _follow(self, run_id: str, since: int) -> None:
        """Follow the run by an own subscription: a slow reader of the output must not delay messages."""
        counts: Counter[str] = Counter()
        timing: asyncio.Task[None] | None = None
        try:
            async with self._engine.subscribe(since, run_id=run_id) as batches:
                async for batch in batches:
                    for committed in batch:
                        kind = committed.entry.type
                        counts[kind] += 1
                        self._send_due(
                            [
                                it
                                for it in self._scheduled
                                if (it.send_time.kind, it.send_time.number) == (kind, counts[kind])
                            ]
                        )
                        if kind == EntryKind.RUN_STARTED:
                            timing = asyncio.ensure_future(self._send_timed(committed.entry))
                    if batch[-1].entry.type == LAST_KIND:
                        return
        finally:
            if timing is not None:
                timing.cancel()

    async def _send_timed(self, started: Entry) -> None:
        # The entry was written a moment ago; from here on only the monotonic clock counts.
        began = self._engine.monotonic() - max(0, self._engine.now() - started.at)
        timed = [(it.send_time.seconds, it) for it in self._scheduled if it.send_time.seconds is not None]
        for seconds, scheduled in sorted(timed, key=lambda one: one[0]):
            passed = (self._engine.monotonic() - began) / 1_000_000
            await asyncio.sleep(max(0.0, seconds - passed))
            self._send_due([scheduled])

    def _send_due(self, messages: list[ScheduledMessage]) -> None:
        for scheduled in messages:
            self._scheduled.remove(scheduled)
            self._enqueue(scheduled.text)

    def _enqueue(self, text: str, *, after: bool = False) -> _SentMessage:
        sent = _SentMessage(text, after)
        self._sent.append(sent)
        self._due.put_nowait(sent)
        return sent

    async def _send_all(self) -> None:
        """Send messages one after the other, so that those of the same time keep their order."""
        while True:
            sent = await self._due.get()
            try:
                if not self._is_closed:
                    await self._send(sent)
            except (StoreError, IntakeError) as error:
                print_error(f"{_quoted(sent.text)} could not be sent: {error}")
            finally:
                self._due.task_done()

    async def _send(self, sent: _SentMessage) -> None:
        sent.ticket = ticket = await self._engine.runs.submit(
            self._message(sent.text), self._run_options, after=sent.is_after
        )
        if ticket.claimed_by is not None:
            return
        self._own_runs.append(ticket)
        if ticket.waits_for is not None and not sent.is_after:
            why = "" if ticket.not_claimed_reason is None else f": {ticket.not_claimed_reason}"
            print_error(f"{_quoted(sent.text)} cannot steer the run{why}. {_OWN_RUN}")

    def _message(self, text: str) -> EventEnvelope:
        """Return a message event of the session, bot and workspace of the first event."""
        origin = self._envelope
        sent = message(
            self._engine.ids.new("evt"), text, conversation_id=origin.conversation_id, thread_id=origin.thread_id
        )
        return sent.model_copy(update={"bot_id": origin.bot_id, "workspace_id": origin.workspace_id})

    async def _drop_reasons(self) -> dict[str, str]:
        """Return the reason by item id for messages that a run claimed and dropped."""
        claimants = {sent.ticket.claimed_by for sent in self._sent if sent.ticket is not None}
        why: dict[str, str] = {}
        with suppress(StoreError):
            for run_id in claimants - {None}:
                for receipt in (await self._engine.queue.receipts(str(run_id))).receipts:
                    if receipt.fate == Fate.DROPPED:
                        why[receipt.id] = drop_reason_words(receipt.reason)
        return why


def _why_undelivered(sent: _SentMessage, dropped: Mapping[str, str]) -> str | None:
    if sent.ticket is None:
        return "it was not sent"
    if sent.ticket.started.cancelled():
        return "it was withdrawn while queued"
    return dropped.get(sent.ticket.item_id or "")


def _quoted(text: str) -> str:
    return f"{one_line(text, MAX_QUOTED_CHARACTERS)!r}"
