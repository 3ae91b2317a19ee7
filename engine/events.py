"""Types for readers of the journal: entries, enums, and subscriptions to committed entries.

Imports neither SQLAlchemy nor pydantic, so that a screen can import this module before its first frame.
"""

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from enum import Enum, StrEnum, auto
from operator import itemgetter
from typing import Any, Final, NamedTuple, Self, TypeVar

import orjson

from engine.clock import rfc3339
from engine.intake.mime import UNKNOWN as UNKNOWN_TYPE
from engine.intake.mime import mime_type_of
from engine.journal.delta_text import DeltaText
from engine.journal.kinds import (
    BREAKPOINT_KINDS,
    CALL_KINDS,
    LAST_KIND,
    NOT_IN_OUTLINE,
    OUTPUT_CUT,
    OUTPUT_TRACEBACK,
    RECORD_VERSION,
    STEERING_ENDS,
    STEERING_KINDS,
    TERMINAL_RESULTS,
    ActionRequested,
    ArtifactCreated,
    BreakpointChanged,
    CallDecided,
    CallReplied,
    CallRequested,
    CallStreamed,
    CancelRequested,
    Data,
    EntryKind,
    MessageCompleted,
    MessageDelta,
    NoPayload,
    Output,
    PauseEdited,
    PauseEnded,
    PauseStarted,
    Payload,
    ProcessChosen,
    ResultUnreadable,
    ResultUntyped,
    RunCompleted,
    RunFailed,
    RunFinished,
    RunnerOpened,
    RunProcess,
    RunStarted,
    RunStopped,
    Source,
    StateUpdated,
    SteeringDropped,
    SteeringEdited,
    SteeringInjected,
    SteeringItem,
    SteeringItems,
    SteeringMoved,
    SteeringQueued,
    SteeringTurned,
    SteeringWithdrawn,
    ToolCallCompleted,
    ToolCallStarted,
    UnknownPayload,
    Usage,
    Warned,
    content_text,
    decode_payload,
    mapping,
    repeats_last_message,
)

SESSION_ID: Final = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,255}")
"""A valid session id: any text without control characters, as platforms use them. It is never used as a path."""
SESSION_ID_RULE: Final = "1 to 255 characters, without line breaks or other control characters"


class Status(StrEnum):
    """The state of a run. The last four are final."""

    CREATED = "created"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"


FINAL_STATUSES: Final = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED, Status.TIMEOUT})
LIVE_STATUSES: Final = frozenset({Status.CREATED, Status.RUNNING})
EXECUTED_ELSEWHERE: Final = "the run is executed elsewhere and only recorded here"
"""Why an external run can neither be steered nor paused, and makes no calls."""


class EndReason(StrEnum):
    """Why a run ended, as recorded in `run.finished`. A runner may end its run with a reason of its own."""

    STOP = "stop"
    """The runner completed its run."""
    ENDED = "ended"
    """The runner's code returned after it had produced output."""
    NO_OUTPUT = "no output"
    TIMEOUT = "runner.timeout"
    CANCELLED = "cancelled"
    ERROR = "runner.error"
    EXCEPTION = "runner.exception"
    LOST = "runner.lost"
    NOT_LOADED = "runner.not_loaded"
    PROTOCOL_ERROR = "protocol.error"
    JOURNAL_FULL = "journal.full"
    STORAGE_FAILED = "storage.failed"
    HOST_FAILED = "host.failed"
    HOST_RESTARTED = "host_restarted"
    STALE = "stale"
    """Nothing executed the run any more, and it was closed on request."""


class DropReason(StrEnum):
    """Why a message was dropped: how its run ended, or what happened to the host or the session."""

    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"
    RUNNER_LOST = "runner_lost"
    HOST_RESTARTED = "host_restarted"
    HOST_CLOSED = "host_closed"
    SESSION_DELETED = "session_deleted"


class Outcome(StrEnum):
    """What happened to a result, call or decision that was not simply applied."""

    WARNED = "warned"
    """Applied, with a warning."""
    DROPPED = "dropped"
    """Recorded without effect: the payload is wrong, it repeats another one, or policy forbids it."""
    REFUSED = "refused"
    """Not accepted: too large, too deep, too late, or too many."""
    UNKNOWN = "unknown"
    """A type that this host does not know."""
    IGNORED = "ignored"
    """Came after the end of the run."""
    FAILED = "failed"
    """The call was allowed, and its reply is an error."""


WITHOUT_EFFECT: Final = frozenset({Outcome.DROPPED, Outcome.REFUSED, Outcome.UNKNOWN, Outcome.IGNORED})
"""Outcomes of entries that changed nothing."""


class Fate(StrEnum):
    """The state of a queued message. The last four are final."""

    QUEUED = "queued"
    PAUSED = "paused"
    PULLED = "pulled"
    INJECTED = "injected"
    """Shown to the user as delivered."""
    DROPPED = "dropped"
    WITHDRAWN = "withdrawn"
    OWN_RUN = "own_run"
    """The message became the event of its own run."""


FINAL_FATES: Final = frozenset({Fate.INJECTED, Fate.DROPPED, Fate.WITHDRAWN, Fate.OWN_RUN})


class Mode(StrEnum):
    """What a queued message waits for."""

    STEER = "steer"
    """The run in progress."""
    AFTER = "after"
    """The end of that run."""
    SLOT = "slot"
    """A free slot of its conversation."""


class PauseStage(StrEnum):
    """Where a run is paused."""

    BEFORE = "before"
    """Before a call that is allowed."""
    REPLY = "reply"
    """Before the reply of a call reaches the runner."""
    RESULT = "result"
    """Before a result, and all that follow it, are applied."""


class ContinueMode(StrEnum):
    """How the user continues a paused run."""

    CONTINUE = "continue"
    STEP = "step"


class Expected(Enum):
    """What a key of state must hold before an edit, if not a specific value."""

    ANYTHING = auto()
    NOTHING = auto()


NOTHING_CHOSEN: Final = frozenset({"", "__none__", "__none"})
"""Values of a selector in a config form that mean that nothing is chosen."""


class Entry(NamedTuple):
    """One entry of a run's journal. The fields are in the order of the columns."""

    run_id: str
    position: int
    at: int
    source: str
    type: str
    data: str
    """JSON text, stored unchanged."""
    outcome: str | None = None
    reason: str | None = None
    sequence: int | None = None
    turn: int = 1
    usage: str | None = None
    """The usage that the runner claims with this result, as JSON text."""

    def line(self) -> str:
        """Return the entry as one line of JSON. The same entry always gives the same bytes."""
        text = (
            f'{{"run_id":{_json(self.run_id)},"position":{self.position},"at":"{rfc3339(self.at)}",'
            f'"source":{_json(self.source)},"type":{_json(self.type)},"data":{self.data}'
        )
        if self.outcome is not None:
            text += f',"outcome":{_json(self.outcome)}'
        if self.reason is not None:
            text += f',"reason":{_json(self.reason)}'
        if self.sequence is not None:
            text += f',"sequence":{self.sequence}'
        if self.usage is not None:
            text += f',"usage":{self.usage}'
        return text + "}"


class EntryHead(NamedTuple):
    """An entry without its data, for navigating in a long run."""

    position: int
    at: int
    source: str
    type: str
    outcome: str | None
    turn: int
    size: int
    """Characters of the data."""


def _json(text: str) -> str:
    return orjson.dumps(text).decode()


P = TypeVar("P", bound=Payload)


def parse_data(data: str) -> Data:
    """Return an entry's data as a JSON object; empty if it is not one."""
    try:
        return mapping(orjson.loads(data))
    except ValueError:
        return mapping(None)


def payload_of(entry: Entry) -> Payload:
    """Return the decoded payload of an entry."""
    return decode_payload(entry.type, parse_data(entry.data))


def payload_as(payload_class: type[P], entry: Entry) -> P:
    """Return the payload of an entry whose kind is known."""
    return payload_class(parse_data(entry.data))


def has_effect(entry: "Entry | EntryHead") -> bool:
    """Return whether an entry was applied. A refused call counts as applied: the refusal is its reply."""
    return entry.outcome not in WITHOUT_EFFECT or entry.type in CALL_KINDS


__all__ = [
    "BREAKPOINT_KINDS",
    "CALL_KINDS",
    "EXECUTED_ELSEWHERE",
    "FINAL_FATES",
    "FINAL_STATUSES",
    "LAST_KIND",
    "LIVE_STATUSES",
    "NOTHING_CHOSEN",
    "NOT_IN_OUTLINE",
    "OUTPUT_CUT",
    "OUTPUT_TRACEBACK",
    "RECORD_VERSION",
    "STEERING_ENDS",
    "STEERING_KINDS",
    "TERMINAL_RESULTS",
    "UNKNOWN_TYPE",
    "WITHOUT_EFFECT",
    "ActionRequested",
    "ArtifactCreated",
    "BreakpointChanged",
    "CallDecided",
    "CallReplied",
    "CallRequested",
    "CallStreamed",
    "CancelRequested",
    "CommittedEntry",
    "ContinueMode",
    "Data",
    "DeltaText",
    "DropReason",
    "EndReason",
    "Entry",
    "EntryHead",
    "EntryKind",
    "Expected",
    "Fate",
    "Hub",
    "MessageCompleted",
    "MessageDelta",
    "Mode",
    "NoPayload",
    "Outcome",
    "Output",
    "PauseEdited",
    "PauseEnded",
    "PauseStage",
    "PauseStarted",
    "Payload",
    "ProcessChosen",
    "ResultUnreadable",
    "ResultUntyped",
    "RunCompleted",
    "RunFailed",
    "RunFinished",
    "RunProcess",
    "RunStarted",
    "RunStopped",
    "RunnerOpened",
    "Source",
    "StateUpdated",
    "Status",
    "SteeringDropped",
    "SteeringEdited",
    "SteeringInjected",
    "SteeringItem",
    "SteeringItems",
    "SteeringMoved",
    "SteeringQueued",
    "SteeringTurned",
    "SteeringWithdrawn",
    "Subscription",
    "ToolCallCompleted",
    "ToolCallStarted",
    "UnknownPayload",
    "Usage",
    "Warned",
    "content_text",
    "decode_payload",
    "has_effect",
    "mime_type_of",
    "parse_data",
    "payload_as",
    "payload_of",
    "repeats_last_message",
    "rfc3339",
]

MAX_BUFFERED_ENTRIES: Final = 10_000
"""Entries that are buffered for a slow subscriber; further entries are read from the database."""
REREAD_ENTRIES: Final = 1_000
"""The maximum number of entries that one read from the database returns."""
MAX_BUFFERED_CHARACTERS: Final = 4 << 20
"""Data that is buffered for a slow subscriber; an entry may have a million characters."""
REREAD_CHARACTERS: Final = 2 << 20
"""One read from the database ends before it has more data than this."""


class CommittedEntry(NamedTuple):
    """An entry that is on disk, with its global row."""

    row: int
    entry: Entry


ReadEntries = Callable[[int, int], Coroutine[Any, Any, list[tuple[int, Entry]]]]
"""Reads the entries after a row, up to a number."""


class Subscription:
    """Yields the entries after a row in batches, without gaps and in bounded memory. Slows down no other subscriber.

    Batches come directly from the writer while their rows are consecutive. If rows are missing, because the buffer was
    full or another process wrote them, they are read from the database.
    """

    def __init__(self, hub: "Hub", since: int, run_id: str | None) -> None:
        self._hub = hub
        self._row = since
        self._run_id = run_id
        self._buffer: deque[tuple[int, list[Entry], int]] = deque()
        """Batches, each with its first row and its characters."""
        self._buffered_entries = 0
        self._buffered_characters = 0
        self._must_read = True
        """Whether the database may hold entries that the buffer does not."""
        self._wake = asyncio.Event()
        self._is_closed = False

    def __aiter__(self) -> AsyncIterator[list[CommittedEntry]]:
        return self._batches()

    def close(self) -> None:
        """End the iteration."""
        self._is_closed = True
        self._hub.unsubscribe(self)
        self._wake.set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def add_batch(self, first_row: int, entries: list[Entry], characters: int) -> None:
        """Buffer a committed batch. If the buffer is full, the batch is read from the database later."""
        if self._buffered_entries <= MAX_BUFFERED_ENTRIES and self._buffered_characters <= MAX_BUFFERED_CHARACTERS:
            self._buffer.append((first_row, entries, characters))
            self._buffered_entries += len(entries)
            self._buffered_characters += characters
        else:
            self._must_read = True
        self._wake.set()

    def notify(self) -> None:
        """Read the database, because another process may have written entries."""
        self._must_read = True
        self._wake.set()

    async def _batches(self) -> AsyncIterator[list[CommittedEntry]]:
        while not self._is_closed:
            self._wake.clear()
            try:
                batch = self._next_buffered() or await self._read_missed()
            except Exception:
                if self._is_closed:  # the engine was closed during the read
                    return
                raise
            if batch:
                chosen = [committed for committed in batch if self._run_id in (None, committed.entry.run_id)]
                if chosen:
                    yield chosen
            elif not self._is_closed:
                await self._wake.wait()

    def _next_buffered(self) -> list[CommittedEntry]:
        """Return the oldest buffered batch with new rows; empty if rows before it are missing."""
        while self._buffer:
            first_row, entries, characters = self._buffer[0]
            if first_row > self._row + 1:
                self._must_read = True
                return []
            self._buffer.popleft()
            self._buffered_entries -= len(entries)
            self._buffered_characters -= characters
            batch = [
                CommittedEntry(first_row + place, entry)
                for place, entry in enumerate(entries)
                if first_row + place > self._row
            ]
            if batch:
                self._row = batch[-1].row
                return batch
        return []

    async def _read_missed(self) -> list[CommittedEntry]:
        if not self._must_read:
            return []
        # Reset before the read: an entry that is written during the read sets it again and must not be missed.
        self._must_read = False
        try:
            batch = [CommittedEntry(row, entry) for row, entry in await self._hub.reread(self._row, REREAD_ENTRIES)]
        except BaseException:
            self._must_read = True
            raise
        if len(batch) == REREAD_ENTRIES or _characters(committed.entry for committed in batch) > REREAD_CHARACTERS // 2:
            self._must_read = True
        if batch:
            self._row = batch[-1].row
        return batch


_DATA: Final = itemgetter(Entry._fields.index("data"))


def _characters(entries: Iterable[Entry]) -> int:
    return sum(map(len, map(_DATA, entries)))


class Hub:
    """Distributes committed entries to subscriptions."""

    def __init__(self, reread: ReadEntries) -> None:
        self.reread = reread
        self._subscriptions: set[Subscription] = set()

    def subscribe(self, since: int, run_id: str | None) -> Subscription:
        subscription = Subscription(self, since, run_id)
        self._subscriptions.add(subscription)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        self._subscriptions.discard(subscription)

    def publish(self, first_row: int, entries: list[Entry]) -> None:
        """Pass a committed batch to every subscription. All get the same list objects."""
        characters = _characters(entries)
        for subscription in self._subscriptions:
            subscription.add_batch(first_row, entries, characters)

    def notify(self) -> None:
        """Make every subscription read the entries that other processes wrote."""
        for subscription in self._subscriptions:
            subscription.notify()

    @property
    def has_subscribers(self) -> bool:
        return bool(self._subscriptions)

    def close(self) -> None:
        for subscription in tuple(self._subscriptions):
            subscription.close()
