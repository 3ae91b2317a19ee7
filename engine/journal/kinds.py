"""The kinds of journal entries and the payload of each, as standard-library dataclasses.

A payload is decoded when an entry is read, never when it is recorded: the recorder keeps JSON text. Recorded data may
be old, or come from a misbehaving runner, so decoding never raises: a missing field is empty, and a text field that
holds another JSON value is shown as JSON.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import Any, Final, NamedTuple, cast

RECORD_VERSION: Final = 2
"""The version of the record that this Trackside writes; `run.started` has it. docs/journal.md lists what each added."""
Data = Mapping[str, Any]
NO_DATA: Final[Data] = {}
_CONTEXT_TIMES: Final = (("trigger", "timestamp"), ("event", "event_time"), ("runtime", "deadline_at"))
"""The times of a context: the part that has each, and its name."""


class Source(StrEnum):
    """Who caused an entry."""

    HOST = "host"
    RUNNER = "runner"
    USER = "user"


class EntryKind(StrEnum):
    """The type of a journal entry. A runner may yield other types; they are recorded and have no effect."""

    # Written by the host
    RUN_STARTED = "run.started"
    RUN_STOPPED = "run.stopped"
    RUN_FINISHED = "run.finished"
    CANCEL_REQUESTED = "cancel.requested"
    CALL_REQUESTED = "call.requested"
    CALL_DECIDED = "call.decided"
    CALL_STREAMED = "call.streamed"
    CALL_REPLIED = "call.replied"
    STEERING_QUEUED = "steering.queued"
    STEERING_EDITED = "steering.edited"
    STEERING_MOVED = "steering.moved"
    STEERING_PAUSED = "steering.paused"
    STEERING_RESUMED = "steering.resumed"
    STEERING_WITHDRAWN = "steering.withdrawn"
    STEERING_TURNED = "steering.turned"
    STEERING_PULLED = "steering.pulled"
    STEERING_RETURNED = "steering.returned"
    STEERING_INJECTED = "steering.injected"
    STEERING_DROPPED = "steering.dropped"
    BREAKPOINT_SET = "breakpoint.set"
    BREAKPOINT_REMOVED = "breakpoint.removed"
    PAUSE_STARTED = "pause.started"
    PAUSE_EDITED = "pause.edited"
    PAUSE_ENDED = "pause.ended"
    OUTPUT = "output"
    PROCESS_CHOSEN = "process.chosen"
    RUNNER_OPENED = "runner.opened"
    WARNING = "warning"
    RESULT_UNTYPED = "result.untyped"
    RESULT_UNREADABLE = "result.unreadable"
    # Results of a runner
    MESSAGE_DELTA = "message.delta"
    MESSAGE_COMPLETED = "message.completed"
    TOOL_CALL_STARTED = "tool.call.started"
    TOOL_CALL_COMPLETED = "tool.call.completed"
    ARTIFACT_CREATED = "artifact.created"
    STATE_UPDATED = "state.updated"
    ACTION_REQUESTED = "action.requested"
    RUN_COMPLETED = "run.completed"
    RUN_FAILED = "run.failed"


LAST_KIND: Final = EntryKind.RUN_FINISHED
"""The type of the last entry of every run."""
TERMINAL_RESULTS: Final = frozenset({EntryKind.RUN_COMPLETED, EntryKind.RUN_FAILED})
"""Results with which a runner ends its run."""
CALL_KINDS: Final = frozenset(kind for kind in EntryKind if kind.startswith("call."))
STEERING_KINDS: Final = frozenset(kind for kind in EntryKind if kind.startswith("steering."))
STEERING_ENDS: Final = (EntryKind.STEERING_INJECTED, EntryKind.STEERING_DROPPED, EntryKind.STEERING_WITHDRAWN)
"""Kinds after which nothing more happens to a steering message."""
BREAKPOINT_KINDS: Final = frozenset(
    {
        EntryKind.BREAKPOINT_SET,
        EntryKind.BREAKPOINT_REMOVED,
        EntryKind.PAUSE_STARTED,
        EntryKind.PAUSE_EDITED,
        EntryKind.PAUSE_ENDED,
    }
)
DELTAS: Final = "deltas"
"""Value of `assembled_from` in a warning and a transcript line: the message was never completed."""
NOT_IN_OUTLINE: Final = (EntryKind.MESSAGE_DELTA, EntryKind.OUTPUT, *sorted(CALL_KINDS))
"""Kinds that an outline of a run leaves out: a run may have very many of them."""


def repeats_last_message(kind: str, message: object, last_message: object) -> bool:
    """Return whether a `run.completed` only repeats the message of the last `message.completed`."""
    return kind == EntryKind.RUN_COMPLETED and message == last_message


# Readers of single fields


def text(value: object) -> str:
    """Return text unchanged, None as empty text, and another JSON value as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def mapping(value: object) -> Data:
    """Return a JSON object; empty if the value is something else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else NO_DATA


def array(value: object) -> Sequence[Any]:
    """Return a JSON array; empty if the value is something else."""
    return cast("list[Any]", value) if isinstance(value, list) else ()


def content_text(content: object, joiner: str = "") -> str:
    """Return the text of a message's content: a string, or the text parts of an array. Other values have none."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (cast("dict[str, object]", part) for part in cast("list[object]", content) if isinstance(part, dict))
    texts = (part.get("text") for part in parts if part.get("type") == "text")
    return joiner.join(text for text in texts if isinstance(text, str) and text)


def _optional_text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _optional_integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _with_numeric_times(context: Data) -> Data:
    """Return a recorded context with its times in seconds. Older versions recorded them as RFC 3339 text."""
    converted: dict[str, Data] = {}
    for part, name in _CONTEXT_TIMES:
        values = mapping(context.get(part))
        if isinstance(written := values.get(name), str):
            converted[part] = {**values, name: _seconds(written, exact=name == "deadline_at")}
    return {**context, **converted} if converted else context


def _seconds(written: str, *, exact: bool) -> float | None:
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return None
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return seconds if exact else math.floor(seconds)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(text(each) for each in array(value))


def _mappings(value: object) -> tuple[Data, ...]:
    return tuple(cast("dict[str, Any]", each) for each in array(value) if isinstance(each, dict))


_ORIGINS: Final = ("seen", "claimed", "sum")
"""The names of the figures of a usage, as they are recorded."""


class Usage(NamedTuple):
    """What a run used, as amounts by name, such as `total_tokens`. The figures are never added up."""

    seen: Data = NO_DATA
    """What the replies of models reported that passed through the host."""
    claimed: Data = NO_DATA
    """What the runner reported with its results."""
    combined: Data = NO_DATA
    """The sum of both: a run of record version 1 has no other figure."""

    @classmethod
    def read(cls, value: object) -> "Usage":
        """Return the usage of a run's row or of its last entry. Amounts without an origin are a sum of both."""
        found = mapping(value)
        by_origin = tuple(found.get(name) for name in _ORIGINS)
        if any(isinstance(each, dict) for each in by_origin):
            return cls(*map(mapping, by_origin))
        return cls(combined=found)

    def as_data(self) -> dict[str, Data]:
        """Return the usage as it is recorded: an object for each figure, without empty ones."""
        return {name: amounts for name, amounts in zip(_ORIGINS, self, strict=True) if amounts}


class RunProcess(NamedTuple):
    """The process that a run is executed in."""

    python: str
    """The path of the interpreter."""
    python_version: str | None
    """None if it was not known yet; then `run.finished` has it."""
    variables: tuple[str, ...]
    """The names of the environment variables that were passed on."""
    is_fresh: bool
    """Whether the run is the first in its process."""
    is_deterministic: bool
    """Whether hashes, `random` and `uuid.uuid4` are seeded."""
    hash_seed: int | None
    """PYTHONHASHSEED; None if the interpreter chose a seed."""
    random_seed: str | None
    """The seed of `random` and `uuid.uuid4`, 128 bits as hexadecimal digits; None if they are not seeded."""

    @classmethod
    def read(cls, value: object) -> "RunProcess | None":
        """Return the recorded process; None if the run has no process of its own, or an older record."""
        if not isinstance(value, dict):
            return None
        found = cast("Data", value)
        return cls(
            text(found.get("python")),
            _optional_text(found.get("python_version")),
            _texts(found.get("variables")),
            found.get("fresh") is True,
            found.get("deterministic") is True,
            _optional_integer(found.get("hash_seed")),
            _optional_text(found.get("random_seed")),
        )


# Payloads


class Payload:
    """The decoded data of an entry. Each kind has a subclass, which reads its fields from the parsed data."""

    __slots__ = ()

    def __init__(self, data: Data) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._values() == cast(Payload, other)._values()

    __hash__ = None  # pyright: ignore[reportAssignmentType]  (fields may hold objects and arrays)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._values())})"

    def _values(self) -> list[tuple[str, object]]:
        return [(each.name, getattr(self, each.name)) for each in fields(cast(Any, self))]


_payload: Final = partial(dataclass, init=False, repr=False, eq=False, slots=True)
"""Decorator of payload classes. Generated methods would cost every start 9 ms; `frozen` triples the decoding time."""


@_payload
class UnknownPayload(Payload):
    """The data of an entry whose kind is not in `EntryKind`."""

    data: Data

    def __init__(self, data: Data) -> None:
        self.data = data


@_payload
class NoPayload(Payload):
    """The payload of an entry that has no data."""


@_payload
class RunStarted(Payload):
    """The event, the runner and the context that a run started with."""

    runner_id: str
    binding_id: str
    agent_id: str | None
    event_id: str
    context: Data
    stored: tuple[str, ...]
    """The digests of the parts that the context refers to."""
    is_external: bool
    """Whether the runner was executed elsewhere, and its results were only recorded here."""
    external_id: str | None
    """The id of the run where it was executed."""
    record: int
    """The version of the record: 1 if the run was recorded before versions had numbers."""
    breakpoints: tuple[str, ...]
    """The breakpoints that were set from the start."""
    process: RunProcess | None
    """None if the run has no process of its own, or an older record."""

    def __init__(self, data: Data) -> None:
        self.runner_id = text(data.get("runner_id"))
        self.binding_id = text(data.get("binding_id"))
        self.agent_id = _optional_text(data.get("agent_id"))
        self.event_id = text(data.get("event_id"))
        self.context = _with_numeric_times(mapping(data.get("context")))
        self.stored = _texts(data.get("stored"))
        self.is_external = data.get("external") is True
        self.external_id = _optional_text(data.get("external_id"))
        self.record = _optional_integer(data.get("record")) or 1
        self.breakpoints = _texts(data.get("breakpoints"))
        self.process = RunProcess.read(data.get("process"))

    @property
    def event(self) -> Data:
        return mapping(self.context.get("event"))

    @property
    def event_type(self) -> str:
        return text(self.event.get("event_type"))

    @property
    def input(self) -> Data:
        return mapping(self.context.get("input"))

    @property
    def input_text(self) -> str:
        return text(self.input.get("text"))

    @property
    def conversation_id(self) -> str | None:
        return _optional_text(mapping(self.context.get("conversation")).get("conversation_id"))

    @property
    def actor(self) -> Data:
        return mapping(self.context.get("actor"))

    @property
    def subject(self) -> Data:
        return mapping(self.context.get("subject"))

    @property
    def available_apis(self) -> Data:
        """Return the calls that the runner may make, by name."""
        return mapping(mapping(self.context.get("context")).get("available_apis"))

    @property
    def can_steer(self) -> bool:
        """Return whether the runner may pull steering messages."""
        return bool(self.available_apis.get("steering_pull"))


@_payload
class RunFinished(Payload):
    """How a run ended. `status` is a `Status`, `reason` an `EndReason` or the runner's own word."""

    status: str
    reason: str
    error: str
    retryable: bool
    usage: Usage
    python_version: str | None
    files: Data
    """The digests (SHA-256) of the loaded files under the runner's own folder, by path; None if one is not known."""
    files_left_out: int
    """How many loaded files `files` does not list, because there are too many."""
    distributions: Data
    """The versions of the other distributions that were imported, by name."""

    def __init__(self, data: Data) -> None:
        self.status = text(data.get("status"))
        self.reason = text(data.get("reason"))
        self.error = text(data.get("error"))
        self.retryable = data.get("retryable") is True
        self.usage = Usage.read(data.get("usage"))
        self.python_version = _optional_text(data.get("python_version"))
        self.files = mapping(data.get("files"))
        self.files_left_out = _optional_integer(data.get("files_left_out")) or 0
        self.distributions = mapping(data.get("distributions"))


@_payload
class RunStopped(Payload):
    """A stop of the run by the host: at its deadline or a limit, or because its process is gone."""

    reason: str
    error: str

    def __init__(self, data: Data) -> None:
        self.reason = text(data.get("reason"))
        self.error = text(data.get("error"))


@_payload
class CancelRequested(Payload):
    """A request to stop the run, by the user or by its own runner."""

    is_by_runner: bool
    reason: str

    def __init__(self, data: Data) -> None:
        self.is_by_runner = data.get("by_runner") is True
        self.reason = text(data.get("reason"))


@_payload
class CallRequested(Payload):
    """A call of the runner. Large arguments are stored as a part, `arguments_ref`."""

    call_id: str
    action: str
    arguments: Data
    arguments_ref: str | None
    arguments_size: int | None

    def __init__(self, data: Data) -> None:
        self.call_id = text(data.get("call_id"))
        self.action = text(data.get("action"))
        self.arguments = mapping(data.get("arguments"))
        self.arguments_ref = _optional_text(data.get("arguments_ref"))
        self.arguments_size = _optional_integer(data.get("arguments_size"))


@_payload
class CallDecided(Payload):
    """Whether the gate allowed a call, and by which clause."""

    call_id: str
    allowed: bool
    clause: str
    resource: str | None
    code: str | None

    def __init__(self, data: Data) -> None:
        self.call_id = text(data.get("call_id"))
        self.allowed = bool(data.get("allowed"))
        self.clause = text(data.get("clause"))
        self.resource = _optional_text(data.get("resource"))
        self.code = _optional_text(data.get("code"))


@_payload
class CallStreamed(Payload):
    """Frames of a streamed reply that were sent to the runner.

    Each has the position of the newest entry at that time.
    """

    call_id: str
    frames: tuple[tuple[int, Data], ...]

    def __init__(self, data: Data) -> None:
        self.call_id = text(data.get("call_id"))
        pairs = (cast("list[object]", each) for each in array(data.get("frames")) if isinstance(each, list))
        self.frames = tuple((_optional_integer(pair[0]) or 0, mapping(pair[1])) for pair in pairs if len(pair) == 2)


@_payload
class CallReplied(Payload):
    """The reply of a call, or its error. A large reply is stored as a part, `reply_ref`.

    If the runner cancels a call while its reply is on its way, a second entry has only `cancelled_by`.
    """

    call_id: str
    reply: object
    reply_ref: str | None
    reply_size: int | None
    streamed: Data
    """Of a streamed reply, whose frames are in earlier entries: their number, the time to the first one, and usage."""
    error: Data
    is_cancelled_by_runner: bool

    def __init__(self, data: Data) -> None:
        self.call_id = text(data.get("call_id"))
        self.reply = data.get("reply")
        self.reply_ref = _optional_text(data.get("reply_ref"))
        self.reply_size = _optional_integer(data.get("reply_size"))
        self.streamed = mapping(data.get("streamed"))
        self.error = mapping(data.get("error"))
        self.is_cancelled_by_runner = data.get("cancelled_by") == Source.RUNNER

    @property
    def error_code(self) -> str:
        return text(self.error.get("code"))

    @property
    def error_message(self) -> str:
        return text(self.error.get("message"))


@_payload
class SteeringItem(Payload):
    """A steering message of which only the id is recorded."""

    item_id: str

    def __init__(self, data: Data) -> None:
        self.item_id = text(data.get("item_id"))


@_payload
class SteeringQueued(Payload):
    """A steering message that the run has claimed."""

    item_id: str
    event_id: str
    text: str | None
    attachments: tuple[Data, ...]
    warnings: tuple[str, ...]
    paused: bool

    def __init__(self, data: Data) -> None:
        self.item_id = text(data.get("item_id"))
        self.event_id = text(data.get("event_id"))
        self.text = _optional_text(data.get("text"))
        self.attachments = _mappings(data.get("attachments"))
        self.warnings = _texts(data.get("warnings"))
        self.paused = data.get("paused") is True


@_payload
class SteeringEdited(Payload):
    """A steering message whose text was changed."""

    item_id: str
    before: str | None
    after: str | None

    def __init__(self, data: Data) -> None:
        after = data.get("after", data.get("text"))
        self.item_id = text(data.get("item_id"))
        self.before = _optional_text(data.get("before"))
        self.after = _optional_text(after)


@_payload
class SteeringMoved(Payload):
    """A steering message that was moved before another one, or to the end."""

    item_id: str
    before: str | None

    def __init__(self, data: Data) -> None:
        self.item_id = text(data.get("item_id"))
        self.before = _optional_text(data.get("before"))


@_payload
class SteeringWithdrawn(Payload):
    """A steering message that the user withdrew."""

    item_id: str
    text: str | None

    def __init__(self, data: Data) -> None:
        self.item_id = text(data.get("item_id"))
        self.text = _optional_text(data.get("text"))


@_payload
class SteeringTurned(Payload):
    """A message that now waits for the end of the run, or that the run has now claimed. `mode` is a `Mode`."""

    item_id: str
    mode: str
    text: str | None
    attachments: tuple[Data, ...]
    warnings: tuple[str, ...]

    def __init__(self, data: Data) -> None:
        self.item_id = text(data.get("item_id"))
        self.mode = text(data.get("mode"))
        self.text = _optional_text(data.get("text"))
        self.attachments = _mappings(data.get("attachments"))
        self.warnings = _texts(data.get("warnings"))


@_payload
class SteeringItems(Payload):
    """The steering messages that a pull took, or that went back to the queue."""

    items: tuple[str, ...]

    def __init__(self, data: Data) -> None:
        self.items = _texts(data.get("items"))


@_payload
class SteeringInjected(Payload):
    """A steering message that was delivered to the runner's process."""

    item_id: str
    event_id: str

    def __init__(self, data: Data) -> None:
        self.item_id = text(data.get("item_id"))
        self.event_id = text(data.get("event_id"))


@_payload
class SteeringDropped(Payload):
    """A steering message that was not delivered before the run ended. `reason` is a `DropReason`."""

    item_id: str
    event_id: str
    text: str | None
    reason: str

    def __init__(self, data: Data) -> None:
        self.item_id = text(data.get("item_id"))
        self.event_id = text(data.get("event_id"))
        self.text = _optional_text(data.get("text"))
        self.reason = text(data.get("reason"))


@_payload
class BreakpointChanged(Payload):
    """A breakpoint that was set or removed."""

    when: str
    once: bool

    def __init__(self, data: Data) -> None:
        self.when = text(data.get("when"))
        self.once = data.get("once") is True


@_payload
class PauseStarted(Payload):
    """The call, reply or result at which a run pauses. `stage` is a `PauseStage`; `when` names the breakpoint."""

    when: str
    stage: str
    call_id: str | None
    action: str | None
    type: str | None

    def __init__(self, data: Data) -> None:
        self.when = text(data.get("when"))
        self.stage = text(data.get("stage"))
        self.call_id = _optional_text(data.get("call_id"))
        self.action = _optional_text(data.get("action"))
        self.type = _optional_text(data.get("type"))


@_payload
class PauseEnded(Payload):
    """How a pause ended and how long it took. `how` is a `ContinueMode`."""

    when: str
    stage: str
    call_id: str | None
    action: str | None
    type: str | None
    seconds: float
    how: str

    def __init__(self, data: Data) -> None:
        seconds = data.get("seconds")
        self.when = text(data.get("when"))
        self.stage = text(data.get("stage"))
        self.call_id = _optional_text(data.get("call_id"))
        self.action = _optional_text(data.get("action"))
        self.type = _optional_text(data.get("type"))
        self.seconds = float(seconds) if isinstance(seconds, int | float) else 0.0
        self.how = text(data.get("how"))


@_payload
class PauseEdited(Payload):
    """The reply that the user set for a paused call. Large values are parts, `original_ref` and `edit_ref`."""

    call_id: str
    original: object
    original_ref: str | None
    edit: object
    edit_ref: str | None
    editor: str

    def __init__(self, data: Data) -> None:
        self.call_id = text(data.get("call_id"))
        self.original = data.get("original")
        self.original_ref = _optional_text(data.get("original_ref"))
        self.edit = data.get("edit")
        self.edit_ref = _optional_text(data.get("edit_ref"))
        self.editor = text(data.get("editor"))


OUTPUT_CUT: Final = "cut"
"""The stream of an output entry that counts lines which were not recorded."""
OUTPUT_TRACEBACK: Final = "traceback"


@_payload
class Output(Payload):
    """A line that the runner printed, a traceback, or the count of lines beyond the limit."""

    stream: str
    text: str
    lines: int
    bytes: int
    limit: int

    def __init__(self, data: Data) -> None:
        self.stream = text(data.get("stream"))
        self.text = text(data.get("text"))
        self.lines = _optional_integer(data.get("lines")) or 0
        self.bytes = _optional_integer(data.get("bytes")) or 0
        self.limit = _optional_integer(data.get("limit")) or 0


@_payload
class ProcessChosen(Payload):
    """The process of the run, if it is not the one that `run.started` has."""

    process: RunProcess | None
    reason: str
    """Why it is another one."""

    def __init__(self, data: Data) -> None:
        self.process = RunProcess.read(data.get("process"))
        self.reason = text(data.get("reason"))


@_payload
class RunnerOpened(Payload):
    """A connection or process that the runner opened itself, without a call. Recorded once per kind and run."""

    what: str
    """"connection" or "process"."""
    target: str

    def __init__(self, data: Data) -> None:
        self.what = text(data.get("what"))
        self.target = text(data.get("target"))


@_payload
class Warned(Payload):
    """A warning of the host about the run."""

    message: str
    is_assembled: bool
    """Whether the warning says that the last message of the run was assembled from its deltas."""

    def __init__(self, data: Data) -> None:
        self.message = text(data.get("message"))
        # Entries written before `assembled_from` existed differ only in their text.
        is_older = "assembled_from" not in data and self.message.rstrip(".").endswith("from deltas")
        self.is_assembled = is_older or data.get("assembled_from") == DELTAS


@_payload
class ResultUntyped(Payload):
    """A result without a type; `value` is a shortened copy of it."""

    value: object

    def __init__(self, data: Data) -> None:
        self.value = data.get("value")


@_payload
class ResultUnreadable(Payload):
    """A line of the runner that is not a result, or the count of a burst of them; `size` in bytes."""

    size: int
    lines: int

    def __init__(self, data: Data) -> None:
        self.size = _optional_integer(data.get("size")) or 0
        self.lines = _optional_integer(data.get("lines")) or 1


@_payload
class MessageDelta(Payload):
    """A chunk of a streamed message; `DeltaText` joins chunks."""

    role: str
    content: str
    """The text of this chunk."""
    all_content: str | None
    """The whole text so far, if the chunk has it."""

    def __init__(self, data: Data) -> None:
        chunk = mapping(data.get("chunk"))
        self.role = text(chunk.get("role"))
        self.content = content_text(chunk.get("content"))
        self.all_content = _optional_text(chunk.get("all_content"))


@_payload
class MessageCompleted(Payload):
    """A complete message."""

    message: Data

    def __init__(self, data: Data) -> None:
        self.message = mapping(data.get("message"))

    @property
    def role(self) -> str:
        return text(self.message.get("role"))

    @property
    def content(self) -> object:
        return self.message.get("content")

    @property
    def text(self) -> str:
        return content_text(self.content, " ")


@_payload
class RunCompleted(MessageCompleted):
    """The end of the run as the runner reports it, with a last message if there is one."""

    finish_reason: str

    def __init__(self, data: Data) -> None:
        self.message = mapping(data.get("message"))
        self.finish_reason = text(data.get("finish_reason"))


@_payload
class RunFailed(Payload):
    """The failure of the run as the runner reports it."""

    code: str
    error: str
    retryable: bool

    def __init__(self, data: Data) -> None:
        self.code = text(data.get("code"))
        self.error = text(data.get("error"))
        self.retryable = data.get("retryable") is True


@_payload
class ToolCallStarted(Payload):
    """The start of a tool call that the runner reports."""

    tool_call_id: str
    tool_name: str
    parameters: object

    def __init__(self, data: Data) -> None:
        self.tool_call_id = text(data.get("tool_call_id"))
        self.tool_name = text(data.get("tool_name"))
        self.parameters = data.get("parameters")


@_payload
class ToolCallCompleted(Payload):
    """The end of a tool call that the runner reports."""

    tool_call_id: str
    tool_name: str
    result: object
    error: object

    def __init__(self, data: Data) -> None:
        self.tool_call_id = text(data.get("tool_call_id"))
        self.tool_name = text(data.get("tool_name"))
        self.result = data.get("result")
        self.error = data.get("error") or None


@_payload
class ArtifactCreated(Payload):
    """An artifact of the runner. The content is stored separately."""

    artifact_id: str | None
    artifact_type: str
    name: str | None
    mime_type: str | None
    size_bytes: int | None

    def __init__(self, data: Data) -> None:
        self.artifact_id = _optional_text(data.get("artifact_id"))
        self.artifact_type = text(data.get("artifact_type"))
        self.name = _optional_text(data.get("name"))
        self.mime_type = _optional_text(data.get("mime_type"))
        self.size_bytes = _optional_integer(data.get("size_bytes"))


@_payload
class StateUpdated(Payload):
    """A value that the runner stores in a scope."""

    scope: str
    key: str
    value: object

    def __init__(self, data: Data) -> None:
        self.scope = text(data.get("scope"))
        self.key = text(data.get("key"))
        self.value = data.get("value")


@_payload
class ActionRequested(Payload):
    """An external action that the runner requests. The host records it and never executes it."""

    action: str
    target: Data
    payload: Data

    def __init__(self, data: Data) -> None:
        self.action = text(data.get("action"))
        self.target = mapping(data.get("target"))
        self.payload = mapping(data.get("payload"))


PAYLOADS: Final[Mapping[str, type[Payload]]] = {
    EntryKind.RUN_STARTED: RunStarted,
    EntryKind.RUN_STOPPED: RunStopped,
    EntryKind.RUN_FINISHED: RunFinished,
    EntryKind.CANCEL_REQUESTED: CancelRequested,
    EntryKind.CALL_REQUESTED: CallRequested,
    EntryKind.CALL_DECIDED: CallDecided,
    EntryKind.CALL_STREAMED: CallStreamed,
    EntryKind.CALL_REPLIED: CallReplied,
    EntryKind.STEERING_QUEUED: SteeringQueued,
    EntryKind.STEERING_EDITED: SteeringEdited,
    EntryKind.STEERING_MOVED: SteeringMoved,
    EntryKind.STEERING_PAUSED: SteeringItem,
    EntryKind.STEERING_RESUMED: SteeringItem,
    EntryKind.STEERING_WITHDRAWN: SteeringWithdrawn,
    EntryKind.STEERING_TURNED: SteeringTurned,
    EntryKind.STEERING_PULLED: SteeringItems,
    EntryKind.STEERING_RETURNED: SteeringItems,
    EntryKind.STEERING_INJECTED: SteeringInjected,
    EntryKind.STEERING_DROPPED: SteeringDropped,
    EntryKind.BREAKPOINT_SET: BreakpointChanged,
    EntryKind.BREAKPOINT_REMOVED: BreakpointChanged,
    EntryKind.PAUSE_STARTED: PauseStarted,
    EntryKind.PAUSE_EDITED: PauseEdited,
    EntryKind.PAUSE_ENDED: PauseEnded,
    EntryKind.OUTPUT: Output,
    EntryKind.PROCESS_CHOSEN: ProcessChosen,
    EntryKind.RUNNER_OPENED: RunnerOpened,
    EntryKind.WARNING: Warned,
    EntryKind.RESULT_UNTYPED: ResultUntyped,
    EntryKind.RESULT_UNREADABLE: ResultUnreadable,
    EntryKind.MESSAGE_DELTA: MessageDelta,
    EntryKind.MESSAGE_COMPLETED: MessageCompleted,
    EntryKind.TOOL_CALL_STARTED: ToolCallStarted,
    EntryKind.TOOL_CALL_COMPLETED: ToolCallCompleted,
    EntryKind.ARTIFACT_CREATED: ArtifactCreated,
    EntryKind.STATE_UPDATED: StateUpdated,
    EntryKind.ACTION_REQUESTED: ActionRequested,
    EntryKind.RUN_COMPLETED: RunCompleted,
    EntryKind.RUN_FAILED: RunFailed,
}


def decode_payload(kind: str, data: Data) -> Payload:
    """Return the payload of an entry of this kind, from its parsed data."""
    return PAYLOADS.get(kind, UnknownPayload)(data)
