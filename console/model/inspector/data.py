"""The data of the inspector tabs, read from the engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from console.model.inspector.call_log import Call
from console.model.inspector.state_diff import Change
from console.model.sessions.line_place import LinePlace
from engine.events import RunProcess, Usage

if TYPE_CHECKING:
    from engine.api import Entry, SteeringReport


class Linked(NamedTuple):
    """A related entry."""

    position: int
    type: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectorData:
    """Data of one run as of an entry, or of now if `position` is None."""

    run_id: str
    position: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(InspectorData):
    """The reason why the data could not be read."""

    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventData(InspectorData):
    """One entry."""

    entry: "Entry"
    data: Any
    """The parsed data of the entry."""
    began_at: int
    """The start time of the run."""
    now: int
    caused_by: Linked | None = None
    """The entry that this one answers."""
    closed_by: Sequence[Linked] = ()
    """The entries that answer this one."""
    is_open: bool = False
    """An answer is expected and not recorded yet."""
    is_over: bool = False
    """The run has ended, so no answer will come."""
    changes: Sequence[Change] = ()
    """The state changes of this entry."""
    usage: Usage = field(default_factory=Usage)
    """What the run used, for its last entry; what the runner claims, for a result."""


class StateKey(NamedTuple):
    """One key of a scope."""

    key: str
    value: Any
    who: str
    at: int


class ScopeData(NamedTuple):
    """A scope with its keys, or the clause that disables it."""

    scope: str
    keys: Sequence[StateKey]
    off: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StateData(InspectorData):
    """The state that the run can read."""

    scopes: Sequence[ScopeData]
    changes: Sequence[Change]
    """Changes since the previous entry."""


class TranscriptRow(NamedTuple):
    """One line of the transcript."""

    number: int
    role: str
    at: int
    text: str
    whole: Any
    """The whole content if the text is shortened."""
    is_of_this_run: bool
    place: LinePlace = LinePlace()


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptData(InspectorData):
    """The transcript of the session."""

    session: str | None
    """None if the event has no session."""
    lines: Sequence[TranscriptRow]
    has_earlier: bool
    later: int
    """Number of lines after this entry."""
    only: LinePlace | None = None
    """The place whose lines are shown; None shows all."""
    places: Sequence[LinePlace] = ()
    """The places of the last lines and of the run, which the user can choose from."""


class Permission(NamedTuple):
    """One permission of a run and its clause."""

    name: str
    allowed: bool
    words: str
    """`yes`, `no`, or which operations."""
    clause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextData(InspectorData):
    """The context and the frozen grants of the run."""

    context: Any
    grants: Sequence[tuple[str, Sequence[Permission]]]
    """Permissions by group: calls, resources, state, storage."""
    process: RunProcess | None = None
    """The process that was chosen for the run; None if the run has no process of its own, or an older record."""
    breakpoints: Sequence[str] = ()
    """The breakpoints that were set from the start."""
    missing: Sequence[str] = ()
    """What the record of the run lacks because an older Trackside made it, as sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsData(InspectorData):
    """The calls of the run."""

    calls: Sequence[Call]
    earlier: int
    """Number of earlier calls that are not listed."""
    later: int
    """Number of calls after this entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallData(InspectorData):
    """The recorded request and reply of one call."""

    number: int
    request: Mapping[str, Any]
    reply: Mapping[str, Any]
    """Empty until the reply is recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptsData(InspectorData):
    """The steering messages of the run."""

    steering: "SteeringReport"
    now: int
    """The time of the entry, or now."""
    ended_at: int | None
    """The end of the run if it had ended by then."""


class OutputLine(NamedTuple):
    """One output line of the runner."""

    position: int
    at: int
    stream: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputData(InspectorData):
    """The last output lines of the runner."""

    lines: Sequence[OutputLine]
    has_earlier: bool
