"""What the inspector shows of a run at an entry: read from the engine once, plain from then on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from console.model.inspect.calls import Call
from console.model.inspect.changes import Change

if TYPE_CHECKING:
    from engine.api import Entry, Steering


class Linked(NamedTuple):
    """Another entry that this one began or ended."""

    position: int
    type: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Of one run at one entry; without a position as it is now."""

    run_id: str
    position: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(Facts):
    """What was asked for cannot be had, and why."""

    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFacts(Facts):
    """One entry."""

    entry: "Entry"
    data: Any
    """The entry's data, parsed."""
    began_at: int
    """When the run began, to tell the time since."""
    now: int
    caused_by: Linked | None = None
    """The entry that this one answers."""
    closed_by: Sequence[Linked] = ()
    """Those that answer this one."""
    is_open: bool = False
    """An answer is expected and has not come."""
    is_over: bool = False
    """The run has ended, so that none will."""
    changes: Sequence[Change] = ()
    """What the state became by it."""


class Kept(NamedTuple):
    """One key of a scope."""

    key: str
    value: Any
    who: str
    at: int


class ScopeFacts(NamedTuple):
    """A scope with what is in it, or the clause that keeps it off."""

    scope: str
    keys: Sequence[Kept]
    off: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFacts(Facts):
    """What the run could remember."""

    scopes: Sequence[ScopeFacts]
    changes: Sequence[Change]
    """Against the entry before."""


class Said(NamedTuple):
    """One line of the transcript."""

    number: int
    role: str
    at: int
    text: str
    whole: Any
    """The whole of it, where the text was cut or is not all."""
    is_of_this_run: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptFacts(Facts):
    """The session as far as it had come."""

    session: str | None
    """None: the event belongs to no session."""
    lines: Sequence[Said]
    has_earlier: bool
    later: int
    """Lines that came after this entry."""


class Granted(NamedTuple):
    """One thing that a run may or may not do, and the clause behind it."""

    name: str
    allowed: bool
    words: str
    """`yes`, `no`, or which operations."""
    clause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFacts(Facts):
    """What the runner was handed, and what was frozen for it."""

    context: Any
    grants: Sequence[tuple[str, Sequence[Granted]]]
    """By kind: calls, resources, state, storage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsFacts(Facts):
    """What the runner asked of its host."""

    calls: Sequence[Call]
    earlier: int
    """Calls that are too many to be listed."""
    later: int
    """Calls that came after this entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFacts(Facts):
    """The request and reply of one call, as the journal has them."""

    number: int
    request: Mapping[str, Any]
    reply: Mapping[str, Any]
    """Empty while there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptsFacts(Facts):
    """What was said to the run."""

    steering: "Steering"
    now: int
    """The moment that is shown: of the entry, or the present."""
    ended_at: int | None
    """When the run ended, if it had by then."""


class Printed(NamedTuple):
    """One line of the child."""

    position: int
    at: int
    stream: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputFacts(Facts):
    """The last lines that the child printed."""

    lines: Sequence[Printed]
    has_earlier: bool
