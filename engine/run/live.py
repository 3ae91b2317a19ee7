"""The live session of one run: what its runner says comes in here, is judged, recorded and applied."""

import asyncio
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import Any, Final, Protocol, cast

from engine.clock import Clock
from engine.facts.batch import Transaction
from engine.facts.journal import Entry
from engine.facts.writer import Writer
from engine.protocol.results import ResultType
from engine.run.backlog import Backlog
from engine.run.deadline import Deadline
from engine.run.effects import Effects
from engine.run.holds import Holds
from engine.run.normalise import UNREADABLE, Judged, Normaliser, Outcome
from engine.run.order import RunOrder
from engine.run.recorder import JOURNAL_LIMIT, Recorder
from engine.run.ticket import Waiting
from engine.runtimes.runtime import Execution

LINGER: Final = 1.0
"""Seconds a runner may go on after its own end before it is stopped."""
_MOST_USAGE: Final = 2**53
_MOST_USAGE_NAMES: Final = 100
_LONGEST_USAGE_NAME: Final = 255


class Stop(StrEnum):
    """Why the host ends a run that has not ended by itself."""

    CANCELLED = "cancelled"
    DEADLINE = "deadline"
    PROTOCOL = "protocol"
    JOURNAL = "journal"
    STORAGE = "storage"
    HOST = "host"
    """The host itself failed; the run must not stay open for it."""
    LINGERING = "lingering"
    """It had ended, but its code went on."""


class CallDesk(Protocol):
    """Answers what a runner asks of its host while its run lives."""

    async def answer(self, run: "LiveRun", action: str, data: dict[str, Any]) -> Any:
        """The reply's data, or an async iterator of them; raises AgentAPIException."""
        ...


class LiveRun:
    """One run while it lives: the sink of its runtime. All of it belongs to the loop's thread."""

    def __init__(self, order: RunOrder, writer: Writer, clock: Clock, effects: Effects, calls: CallDesk) -> None:
        self.order = order
        self.recorder = Recorder(writer, clock, order.run_id, order.marks)
        self.effects = effects
        self.stop: Stop | None = None
        self.stop_error = ""
        self.stopped = asyncio.Event()
        self.is_over = False
        """Its runner is gone and its last entry is due: nothing of it may be answered or recorded any more."""
        self.execution: Execution | None = None
        """Its runner at work, once that has begun."""
        self.end: dict[str, Any] | None = None
        """The data of the terminal result, once one came."""
        self.calls: set[asyncio.Task[Any]] = set()
        """Calls that are being answered; a stop interrupts them."""
        self.begun = asyncio.Event()
        """Its first entry is taken, or there will be none: from here on others may write into its journal."""
        self.claims: dict[str, Waiting] = {}
        """By item id, the messages that wait in this run; any may yet become a run of its own."""
        self.pulls = 0
        self.last_pull_at: int | None = None
        self.started_at: int | None = None
        self.cancel_requested_at: int | None = None
        self.usage: dict[str, int | float] = {}
        self._spoke = False
        self._undecided = 0
        self.deltas_since: int | None = None
        """The position before the first delta that no completed message has replaced."""
        told = f"the run took longer than {order.timeout:g} s" if order.timeout is not None else ""
        self.deadline = Deadline(clock, order.timeout, partial(self.request_stop, Stop.DEADLINE, told))
        self.holds = Holds(self.recorder, clock, self.deadline)
        self._backlog = Backlog(self.holds, self._take, writer.when_room)
        self._writer = writer
        self._calls = calls
        self._normaliser = Normaliser(order.run_id)
        self._last_message: tuple[Any, Any] | None = None
        self._apply: dict[str, Callable[[Judged], None]] = {
            ResultType.MESSAGE_DELTA: self._delta,
            ResultType.MESSAGE_COMPLETED: self._message,
            ResultType.ARTIFACT_CREATED: self._artifact,
            ResultType.STATE_UPDATED: self._state,
            ResultType.RUN_COMPLETED: self._completed,
            ResultType.RUN_FAILED: self._failed,
        }

    # What the runtime calls

    @property
    def full(self) -> bool:
        return self._backlog.keeps or self._writer.full

    def when_room(self, call: Callable[[], None]) -> None:
        self._backlog.when_room(call)

    def result(self, result: object, size: int) -> None:  # noqa: ARG002  (the data is measured as it is recorded)
        self._backlog.result(result)

    def _take(self, result: object) -> None:
        if self.recorder.is_broken or self.is_over:
            return
        judged = self._normaliser.judge(result)
        if self.stop is not None and judged.outcome is not Outcome.IGNORED:
            judged = judged._replace(
                outcome=Outcome.IGNORED, reason=f"came after the run was stopped ({self.stop})", applies=False
            )
        if judged.applies:
            if (usage := cast("dict[str, Any]", result).get("usage")) is not None:
                self.count_usage(usage)
            self._apply.get(judged.kind, self._record)(judged)
        else:
            self._record(judged)
            if judged.protocol_error is not None:
                self.request_stop(Stop.PROTOCOL, judged.protocol_error)
        self._mind_the_limit()

    def unreadable(self, reason: str, size: int) -> None:
        if self._backlog.keeps:
            self._backlog.behind(partial(self._unreadable, reason, size))
        else:
            self._unreadable(reason, size)

    def _unreadable(self, reason: str, size: int) -> None:
        if self.is_over:
            return
        self.recorder.record("runner", UNREADABLE, {"size": size}, outcome=Outcome.REFUSED, reason=reason[:500])
        self._mind_the_limit()

    def output(self, stream: str, text: str) -> None:
        self.recorder.output(stream, text)

    def silent(self, seconds: float) -> None:
        self.recorder.warn(
            f"the runner has not answered for {seconds:.0f} s: its loop is blocked (time.sleep, a long computation or "
            "import?), so it hears neither steering nor cancel until it returns"
        )

    def answers_again(self, seconds: float) -> None:
        self.recorder.warn(f"the runner answers again after {seconds:.0f} s")

    def gone(self) -> None:
        # Nobody is there to wait for a person: what it said before goes through.
        self.holds.end()

    async def call(self, action: str, data: dict[str, Any]) -> Any:
        if self._backlog.keeps:
            try:
                await self._backlog.turn()
            except asyncio.CancelledError:
                if not self.is_over:
                    self.recorder.warn(f"{action[:100]} was taken back while it waited behind a held result")
                raise
        self._mind_the_limit()
        return await self._calls.answer(self, action, data)

    # What the host calls

    def request_stop(self, why: Stop, error: str = "") -> None:
        """Ask for the run's end; the first reason stands."""
        if self.stop is None:
            self.stop = why
            self.stop_error = error
            self._stopped()

    def break_off(self, error: str) -> None:
        """The disk refused entries of this run: none may follow behind the gap, and the run cannot go on."""
        self.recorder.is_broken = True
        if self.stop is not Stop.STORAGE:
            self.stop, self.stop_error = Stop.STORAGE, error
            self._stopped()

    def decide(self, operation: Callable[[Transaction], object]) -> None:
        """Have the writer decide something of this run that nobody waits for."""
        self._undecided += 1
        self._writer.submit(operation).add_done_callback(self._decided)

    async def let_through(self) -> None:
        """Return when no result is held back any more: a person has released it, or the run was stopped."""
        await self._backlog.emptied()

    @property
    def deadline_at(self) -> int | None:
        """When its time is used up; unknown while it is held."""
        return self.deadline.at

    @property
    def is_settled(self) -> bool:
        """Whether all that this run's results do to the facts is on disk."""
        return self._undecided == 0

    @property
    def has_said_anything(self) -> bool:
        """Whether there is a message, or text that will become one."""
        return self._spoke or self.deltas_since is not None

    @property
    def end_type(self) -> ResultType | None:
        return self._normaliser.end

    # What results do

    def _record(self, judged: Judged) -> None:
        self._writer.append(self._entry(judged))

    def _entry(self, judged: Judged) -> Entry:
        return self.recorder.entry(
            "runner",
            judged.kind,
            judged.data,
            text=judged.text,
            outcome=judged.outcome,
            reason=judged.reason,
            sequence=judged.sequence,
        )

    def _delta(self, judged: Judged) -> None:
        if self.deltas_since is None:
            chunk = judged.payload["chunk"]
            if chunk.get("content") or chunk.get("all_content"):
                self.deltas_since = self.recorder.position
        self._record(judged)

    def _message(self, judged: Judged) -> None:
        message = judged.payload["message"]
        self.deltas_since = None
        self._spoke = True
        self._last_message = (message["role"], message.get("content"))
        self.decide(self.effects.message(self._entry(judged), message))

    def _artifact(self, judged: Judged) -> None:
        self.decide(self.effects.artifact(self._entry(judged), judged.payload))

    def _state(self, judged: Judged) -> None:
        self.decide(self.effects.state(self._entry(judged), judged.payload))

    def _completed(self, judged: Judged) -> None:
        self._ended(judged)
        message = judged.payload.get("message")
        if message is None:
            self._record(judged)
            return
        self.deltas_since = None
        said = (message["role"], message.get("content"))
        self._spoke = True
        if said == self._last_message:
            self._record(judged)
        else:
            self.decide(self.effects.message(self._entry(judged), message))

    def _failed(self, judged: Judged) -> None:
        self._ended(judged)
        self._record(judged)

    def _ended(self, judged: Judged) -> None:
        self.end = judged.data
        self.holds.end()
        asyncio.get_running_loop().call_later(LINGER, self.request_stop, Stop.LINGERING)

    def _decided(self, future: asyncio.Future[object]) -> None:
        self._undecided -= 1
        # A failed write reaches every live run through the writer's own failure; nobody else waits for this future.
        if not future.cancelled():
            future.exception()

    def _stopped(self) -> None:
        self.stopped.set()
        self.holds.end()
        for task in self.calls:
            task.cancel()

    def _mind_the_limit(self) -> None:
        if self.recorder.is_full:
            self.request_stop(Stop.JOURNAL, f"its journal is larger than {JOURNAL_LIMIT // 2**20} MiB")

    def count_usage(self, usage: object) -> None:
        """Add what a result or a model's answer says it used."""
        if not isinstance(usage, dict):
            return
        for name, amount in cast("dict[str, Any]", usage).items():
            if not isinstance(amount, int | float) or isinstance(amount, bool) or len(name) > _LONGEST_USAGE_NAME:
                continue
            total = self.usage.get(name, 0) + amount
            # What cannot be a count of anything stays out: its sum would not be JSON any more.
            if abs(total) <= _MOST_USAGE and (name in self.usage or len(self.usage) < _MOST_USAGE_NAMES):
                self.usage[name] = total
