"""A run in progress: receives what its runner sends, checks it, records it and applies it."""

import asyncio
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from typing import Any, Final, Protocol, cast

import orjson

from engine.clock import Clock
from engine.events import EntryKind, Outcome, Source, Usage
from engine.journal.delta_mask import DeltaMask
from engine.journal.recorder import JOURNAL_LIMIT, Recorder
from engine.protocol.results import ResultType
from engine.run.breakpoints import PauseControl
from engine.run.deadline import Deadline
from engine.run.effects import Effects
from engine.run.held_results import HeldCall, HeldResults
from engine.run.normalise import (
    MAX_TYPE_LENGTH,
    UNREADABLE,
    CheckedResult,
    Normaliser,
    PreparedResult,
    prepare,
    usage_text,
)
from engine.run.run_order import RunOrder
from engine.run.usage import MAX_AMOUNT, UsageCounter
from engine.runtimes.runtime import Execution, LoadedCode, ProcessFacts, RunnerCall
from engine.store.batch import Transaction
from engine.store.entries import Entry
from engine.store.writer import Writer

REPORTED_WAIT_SECONDS: Final = 1.0
"""A wait for a process is recorded if it takes longer."""
MAX_TARGET_CHARS: Final = 500
"""Characters of the address or command of what a runner opened."""
LINGER_SECONDS: Final = 1.0
"""How long a runner may go on after its terminal result before it is stopped."""
_KNOWN_TYPES: Final = frozenset(ResultType)
UNREADABLE_ENTRIES: Final = 100
"""Unreadable lines of a run that get an entry each. Later ones are counted, with one entry for each burst."""
BURST_SECONDS: Final = 1.0
"""A burst of unreadable lines ends after this time, and before the next result or call."""


class StopReason(StrEnum):
    """Why the host stops a run that has not ended by itself."""

    CANCELLED = "cancelled"
    DEADLINE = "deadline"
    PROTOCOL = "protocol"
    JOURNAL = "journal"
    STORAGE = "storage"
    HOST = "host"
    """The host itself failed."""
    LINGERING = "lingering"
    """The runner sent its terminal result, but its code went on."""


class CallHandler(Protocol):
    """Answers the calls of a runner. Implemented above this package, by the call server."""

    def open(self, run: "LiveRun", action: str, data: dict[str, Any]) -> RunnerCall:
        """Record a call and the decision about it."""
        ...


class LiveRun:
    """One run while it lives, and the sink of its runtime. Everything here belongs to the loop's thread."""

    def __init__(self, order: RunOrder, writer: Writer, clock: Clock, effects: Effects, calls: CallHandler) -> None:
        self.order = order
        self.recorder = Recorder(writer, clock, order.run_id, order.secret_mask)
        self.effects = effects
        self.stop_reason: StopReason | None = None
        self.stop_error = ""
        self.stop_requested = asyncio.Event()
        self.has_ended = False
        """The runner is gone and the last entry is due: from here on no call is answered and nothing is recorded."""
        self.execution: Execution | None = None
        """The runner's execution, once it was started."""
        self.starts_before: Callable[[], int] | None = None
        """Counts the runs that get a process before this one; None if the run does not wait for one."""
        self._waits_since = 0
        self.loaded_code: LoadedCode | None = None
        """The code that the runner's process had loaded at the end."""
        self._opened: set[str] = set()
        """The kinds of connections and processes that the runner opened itself."""
        self.final_result: dict[str, Any] | None = None
        """The data of the terminal result, once one came."""
        self.active_calls: set[asyncio.Task[Any]] = set()
        """Calls that are being answered; a stop cancels them."""
        self.started = asyncio.Event()
        """Set once the first entry is recorded, or once it is clear that there will be none.

        From then on others may write into the journal of this run.
        """
        self.last_activity_at: int | None = None
        """The time of the last result or call, in microseconds."""
        self.pulls = 0
        self.last_pull_at: int | None = None
        self.started_at: int | None = None
        self.cancel_requested_at: int | None = None
        self.usage_seen = UsageCounter()
        self.usage_claimed = UsageCounter()
        self.pending_deltas_after: int | None = None
        """The position before the first delta that no completed message has replaced."""
        timeout_text = f"the run took longer than {order.timeout:g} s" if order.timeout is not None else ""
        self.deadline = Deadline(clock, order.timeout, partial(self.request_stop, StopReason.DEADLINE, timeout_text))
        self.pause_control = PauseControl(self.recorder, clock, self.deadline)
        self._held_results = HeldResults(self.pause_control, writer.when_room)
        self._clock = clock
        self._writer = writer
        self._calls = calls
        self._normaliser = Normaliser(order.run_id)
        self._delta_mask = DeltaMask(order.secret_mask)
        self._has_message = False
        self._last_message: tuple[Any, Any] | None = None
        self._pending_operations = 0
        self._unreadable_lines = 0
        self._burst_lines = self._burst_bytes = 0
        self._burst_reason = ""
        self._burst_timer: asyncio.TimerHandle | None = None
        self._handlers: dict[str, Callable[[CheckedResult], None]] = {
            ResultType.MESSAGE_DELTA: self._apply_delta,
            ResultType.MESSAGE_COMPLETED: self._apply_message,
            ResultType.ARTIFACT_CREATED: self._apply_artifact,
            ResultType.STATE_UPDATED: self._apply_state,
            ResultType.RUN_COMPLETED: self._apply_run_completed,
            ResultType.RUN_FAILED: self._apply_run_failed,
        }

    # Called by the runtime

    @property
    def full(self) -> bool:
        return self._held_results.is_holding or self._writer.full

    def when_room(self, call: Callable[[], None]) -> None:
        self._held_results.when_room(call)

    def waiting(self, before: Callable[[], int] | None, reason: str = "") -> None:
        """Note that the run waits for a process. Its deadline stands still meanwhile."""
        if self.has_ended:
            return
        if before is not None and self.starts_before is None:
            self.deadline.pause()
            self._waits_since = self._clock.monotonic()
        elif before is None and self.starts_before is not None:
            self.deadline.resume()
            seconds = (self._clock.monotonic() - self._waits_since) / 1_000_000
            if seconds >= REPORTED_WAIT_SECONDS:
                self.recorder.warn(f"The run has waited {seconds:.1f} s for a process.")
        self.starts_before = before
        if reason:
            self.recorder.warn(f"The run waits until another run has ended: {reason}")

    def prepare(self, result: object) -> PreparedResult:
        return prepare(result, self.order.run_id, self.recorder.cover)

    def result(self, result: object, size: int) -> None:  # noqa: ARG002  (the data is measured as it is recorded)
        """Handle a result, or hold it back if it reaches a breakpoint or comes after one that did.

        The hot path of a run: `tests.bench throughput` measures it.
        """
        kind = _type_of(result)
        if not self._held_results.is_holding:
            location = self.pause_control.match_result(kind)
            if location is None:
                self._handle_result(result)
                return
            self._held_results.pause_at(location, kind)
        self._held_results.add(partial(self._handle_result, result), kind)

    def unreadable(self, reason: str, size: int) -> None:
        if self._held_results.is_holding:
            self._held_results.add(partial(self._record_unreadable, reason, size))
        else:
            self._record_unreadable(reason, size)

    def output(self, stream: str, text: str) -> None:
        self.recorder.output(stream, text)
        self.check_journal_limit()

    def output_lost(self, stream: str, size: int) -> None:
        self.recorder.warn(f"{size} bytes of {stream} were not read, because the runner had ended or was stopped.")

    def silent(self, seconds: float) -> None:
        self.recorder.warn(
            f"The runner has not responded for {seconds:.0f} s: its event loop is blocked (time.sleep, a long "
            "computation or import?). It cannot receive steering messages or a stop until it returns."
        )

    def answers_again(self, seconds: float) -> None:
        self.recorder.warn(f"The runner responds again after {seconds:.0f} s.")

    def opened(self, what: str, target: str) -> None:
        """Record what the runner opened itself, once per kind: a runner may forge any number of reports."""
        if self.has_ended or what in self._opened:
            return
        self._opened.add(what)
        # Masked before it is cut, so that no part of a secret remains at the end.
        covered = self.order.secret_mask.cover_words(target)[:MAX_TARGET_CHARS]
        self.recorder.record(Source.HOST, EntryKind.RUNNER_OPENED, {"what": what, "target": covered})

    def process_chosen(self, process: ProcessFacts, reason: str, *, is_replaced: bool = False) -> None:
        if self.has_ended:
            return
        if is_replaced:
            self.recorder.warn("The process that was reserved for the run had ended, so a new one was started.")
        data = {"process": process.as_data(), "reason": reason}
        self.recorder.record(Source.HOST, EntryKind.PROCESS_CHOSEN, data)

    def gone(self) -> None:
        # No runner waits for the user any more: deliver what it sent before it went.
        self.pause_control.end_all()

    def request(self, action: str, data: dict[str, Any]) -> RunnerCall:
        open_call = partial(self._open_call, action, data)
        if not self._held_results.is_holding:
            return open_call()
        held = HeldCall(open_call)
        self._held_results.add(held.deliver)
        return held

    def _open_call(self, action: str, data: dict[str, Any]) -> RunnerCall:
        self.record_burst()
        self.check_journal_limit()
        self.last_activity_at = self._clock.now()
        return self._calls.open(self, action, data)

    # Called by the host

    def learn_secrets(self, secrets: Mapping[str, str]) -> None:
        """Mask more secrets from now on: those of a message that joins the run, or of a state value that it reads."""
        if secrets:
            self.order.secret_mask.learn(secrets)

    def request_stop(self, reason: StopReason, error: str = "") -> None:
        """Ask for the end of the run. The first reason wins."""
        if self.stop_reason is None:
            self.stop_reason = reason
            self.stop_error = error
            if reason is not StopReason.CANCELLED:  # a request to cancel has an entry of its own
                self.record_stop(reason, error)
            self._interrupt()

    def record_stop(self, reason: str, error: str) -> None:
        """Record that the host stops the run, or that its process is gone."""
        if self.started.is_set() and not self.has_ended:
            self.recorder.record(Source.HOST, EntryKind.RUN_STOPPED, {"reason": reason, "error": error})

    def stop_for_storage_failure(self, error: str) -> None:
        """Stop the run because entries of it could not be written. No entry may follow the gap."""
        self.recorder.is_broken = True
        if self.stop_reason is not StopReason.STORAGE:
            self.stop_reason, self.stop_error = StopReason.STORAGE, error
            self._interrupt()

    def submit_operation(self, operation: Callable[[Transaction], object], size: int = 0) -> None:
        """Give the writer an operation of this run whose result nobody waits for; `size` is the memory it keeps."""
        self._pending_operations += 1
        self._writer.submit(operation, size).add_done_callback(self._operation_done)

    def record_burst(self) -> None:
        """Record the unreadable lines that were only counted."""
        if not self._burst_lines or self.recorder.is_broken or self.has_ended:
            return
        lines, size, reason = self._burst_lines, self._burst_bytes, self._burst_reason
        self._burst_lines = self._burst_bytes = 0
        data = {"size": size} if lines == 1 else {"size": size, "lines": lines}
        if lines > 1:
            reason = f"{lines} lines are not results; the last: {reason}"
        self.recorder.record("runner", UNREADABLE, data, outcome=Outcome.REFUSED, reason=reason[:500])
        self.check_journal_limit()

    async def wait_for_held_results(self) -> None:
        """Return when no result is held back: the user has continued, or the run was stopped."""
        await self._held_results.wait_until_empty()
        self.record_burst()

    @property
    def deadline_at(self) -> int | None:
        """When the run times out, in microseconds; None while it is paused or if it has no deadline."""
        return self.deadline.expires_at

    @property
    def has_pending_writes(self) -> bool:
        """Whether effects of this run's results are not on disk yet."""
        return self._pending_operations > 0

    @property
    def has_output(self) -> bool:
        """Whether the runner sent a message, or text that will become one."""
        return self._has_message or self.pending_deltas_after is not None

    @property
    def final_result_type(self) -> ResultType | None:
        return self._normaliser.final_type

    @property
    def usage(self) -> Usage:
        """What the run has used so far: seen by the host, and claimed by the runner."""
        return Usage(self.usage_seen.amounts, self.usage_claimed.amounts)

    # Results

    def _handle_result(self, result: object) -> None:
        if self.recorder.is_broken or self.has_ended:
            return
        if self._burst_lines:
            self.record_burst()
        checked = self._normaliser.check(result)
        if self.stop_reason is not None and checked.outcome is not Outcome.IGNORED:
            checked = checked._replace(
                outcome=Outcome.IGNORED, reason=f"came after the run was stopped ({self.stop_reason})", applies=False
            )
        envelope = result.result if type(result) is PreparedResult else result
        if isinstance(envelope, dict) and (claim := cast("dict[str, Any]", envelope).get("usage")) is not None:
            recorded = result.usage if type(result) is PreparedResult else usage_text(claim)
            checked = self._note_usage(checked, claim, *recorded)
        if checked.applies:
            if self._delta_mask.holds_text and checked.kind != ResultType.MESSAGE_DELTA:
                self._end_deltas(checked)
            self._handlers.get(checked.kind, self._record)(checked)
        else:
            self._record(checked)
            if checked.protocol_error is not None:
                self.request_stop(StopReason.PROTOCOL, checked.protocol_error)
        self.check_journal_limit()

    def _note_usage(
        self, checked: CheckedResult, claim: object, text: str | None, problem: str | None
    ) -> CheckedResult:
        """Count the usage that a result claims, if the result is applied. Returns the result with what is recorded."""
        if checked.applies:
            self.usage_claimed.add(claim)
        if problem is None:
            return checked._replace(usage=text)
        reason = problem if checked.reason is None else f"{checked.reason}; {problem}"
        return checked._replace(outcome=checked.outcome or Outcome.WARNED, reason=reason)

    def _record_unreadable(self, reason: str, size: int) -> None:
        if self.has_ended:
            return
        self._unreadable_lines += 1
        if self._unreadable_lines <= UNREADABLE_ENTRIES:
            self.recorder.record(
                Source.RUNNER, UNREADABLE, {"size": size}, outcome=Outcome.REFUSED, reason=reason[:500]
            )
            self.check_journal_limit()
            return
        if self._burst_timer is None:
            self._burst_timer = asyncio.get_running_loop().call_later(BURST_SECONDS, self._end_burst)
        self._burst_lines += 1
        self._burst_bytes = min(self._burst_bytes + size, MAX_AMOUNT)
        self._burst_reason = reason

    def _end_burst(self) -> None:
        self._burst_timer = None
        self.record_burst()

    def _record(self, checked: CheckedResult) -> None:
        self._writer.append(self._entry(checked))

    def _entry(self, checked: CheckedResult) -> Entry:
        entry = self.recorder.entry(
            Source.RUNNER,
            self._shown_type(checked.kind),
            checked.data,
            text=checked.text,
            outcome=checked.outcome,
            reason=checked.reason,
            sequence=checked.sequence,
            usage=checked.usage,
        )
        self.last_activity_at = entry.at
        return entry

    def _shown_type(self, kind: str) -> str:
        """Return the type of a result as it is recorded: an unknown one may contain a secret."""
        if kind in _KNOWN_TYPES:
            return kind
        return self.order.secret_mask.cover_words(kind)[:MAX_TYPE_LENGTH]

    def _apply_delta(self, checked: CheckedResult) -> None:
        chunk = checked.data["chunk"]
        if self.pending_deltas_after is None and (chunk.get("content") or chunk.get("all_content")):
            self.pending_deltas_after = self.recorder.position
            if self._delta_mask.is_outdated:
                self._delta_mask = DeltaMask(self.order.secret_mask)
        if (covered := self._delta_mask.cover(chunk)) is not chunk:
            data = {**checked.data, "chunk": covered}
            checked = checked._replace(data=data, text=orjson.dumps(data).decode())
        self._record(checked)

    def _end_deltas(self, checked: CheckedResult) -> None:
        """Record the end of the streamed text before another result, unless that contains the whole message."""
        if checked.payload.get("message") is None:
            self.record_held_text()
        else:
            self._delta_mask.take_held()

    def record_held_text(self) -> None:
        """Record the end of the streamed text that was held back because it might have begun a secret."""
        if (chunk := self._delta_mask.take_held()) is not None:
            self.recorder.record(Source.RUNNER, EntryKind.MESSAGE_DELTA, {"chunk": chunk})

    def _apply_message(self, checked: CheckedResult) -> None:
        message = checked.payload["message"]
        self.pending_deltas_after = None
        self._has_message = True
        self._last_message = (message["role"], message.get("content"))
        self.submit_operation(self.effects.message(self._entry(checked), message), checked.memory)

    def _apply_artifact(self, checked: CheckedResult) -> None:
        if not checked.payload.get("artifact_id"):
            given = {"artifact_id": self.effects.new_artifact_id()}
            data = checked.data | given
            text = orjson.dumps(data).decode()
            checked = checked._replace(data=data, text=text, payload=checked.payload | given)
        self.submit_operation(self.effects.artifact(self._entry(checked), checked.payload), checked.memory)

    def _apply_state(self, checked: CheckedResult) -> None:
        self.submit_operation(self.effects.state(self._entry(checked), checked.payload), checked.memory)

    def _apply_run_completed(self, checked: CheckedResult) -> None:
        self._note_final_result(checked)
        message = checked.payload.get("message")
        if message is None:
            self._record(checked)
            return
        self.pending_deltas_after = None
        content = (message["role"], message.get("content"))
        self._has_message = True
        if content == self._last_message:  # run.completed repeats the last message: it is already in the transcript
            self._record(checked)
        else:
            self.submit_operation(self.effects.message(self._entry(checked), message), checked.memory)

    def _apply_run_failed(self, checked: CheckedResult) -> None:
        self._note_final_result(checked)
        self._record(checked)

    def _note_final_result(self, checked: CheckedResult) -> None:
        self.final_result = checked.data
        self.pause_control.end_all()
        asyncio.get_running_loop().call_later(LINGER_SECONDS, self.request_stop, StopReason.LINGERING)

    def _operation_done(self, future: asyncio.Future[object]) -> None:
        self._pending_operations -= 1
        # A failed write reaches every live run through the writer's own failure; nobody else waits for this future.
        if not future.cancelled():
            future.exception()

    def _interrupt(self) -> None:
        self.stop_requested.set()
        self.pause_control.end_all()
        for task in self.active_calls:
            task.cancel()

    def check_journal_limit(self) -> None:
        """Stop the run if its journal is full."""
        if self.recorder.is_full:
            self.request_stop(StopReason.JOURNAL, f"the journal of the run is larger than {JOURNAL_LIMIT // 2**20} MiB")


def _type_of(result: object) -> object:
    if isinstance(result, dict):
        return cast("dict[str, Any]", result).get("type")
    return result.kind if type(result) is PreparedResult else None
