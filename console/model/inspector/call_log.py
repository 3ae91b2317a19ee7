"""The calls of a run, assembled from their journal entries, and the links between related entries."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from engine.events import (
    CALL_KINDS,
    STEERING_ENDS,
    CallDecided,
    CallReplied,
    CallRequested,
    Entry,
    EntryKind,
    Outcome,
    payload_of,
)

MAX_CALLS: Final = 1_000
"""Ended calls that are kept in memory; the journal has all of them."""


@dataclass(slots=True)
class Call:
    """One call, as far as it is recorded."""

    number: int
    call_id: str
    action: str
    requested_at: int
    requested_position: int
    resource: str | None = None
    allowed: bool | None = None
    """None until the gate has decided."""
    clause: str = ""
    decided_position: int | None = None
    code: str | None = None
    """The code of the refusal or of the error reply."""
    message: str | None = None
    replied_at: int | None = None
    """None while it is open; a refusal is a reply too."""
    replied_position: int | None = None

    @property
    def decision(self) -> str:
        """The decision of the gate in one word."""
        if self.allowed is None:
            return "undecided"
        return "allowed" if self.allowed else "refused"

    @property
    def microseconds(self) -> int | None:
        """Time from the request to the reply."""
        return None if self.replied_at is None else max(0, self.replied_at - self.requested_at)

    def as_of(self, position: int) -> "Call | None":
        """The call as of an entry, or None if it had not been made."""
        if self.requested_position > position:
            return None
        if self.decided_position is None or self.decided_position > position:
            return Call(self.number, self.call_id, self.action, self.requested_at, self.requested_position)
        if self.replied_position is None or self.replied_position <= position:
            return self
        return replace(self, code=None, message=None, replied_at=None, replied_position=None)


class OpenCalls:
    """Follows the calls of one run and keeps those without a reply."""

    def __init__(self) -> None:
        self._count = 0
        self._open: dict[str, Call] = {}

    def take(self, entry: Entry) -> Call | None:
        """Apply an entry. Returns the call that it ends, if any."""
        if entry.type not in CALL_KINDS:
            return None
        payload = payload_of(entry)
        if isinstance(payload, CallRequested):
            self._count += 1
            call = Call(self._count, payload.call_id, payload.action, entry.at, entry.position)
            self._open[payload.call_id] = call
            return None
        if not isinstance(payload, CallDecided | CallReplied) or (call := self._open.get(payload.call_id)) is None:
            return None
        if isinstance(payload, CallDecided):
            call.allowed, call.clause = payload.allowed, payload.clause
            call.resource, call.code = payload.resource, payload.code
            call.decided_position = entry.position
            if call.allowed:
                return None
        elif payload.error:
            call.code, call.message = payload.error_code, payload.error_message
        call.replied_at, call.replied_position = entry.at, entry.position
        return self._open.pop(payload.call_id)

    def left(self) -> list[Call]:
        """Calls without a reply, in order."""
        return list(self._open.values())


class CallLog:
    """The last ended calls of a run, and all open ones."""

    def __init__(self) -> None:
        self._open = OpenCalls()
        self._ended: deque[Call] = deque(maxlen=MAX_CALLS)
        self._gone = 0

    def take(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            ended = self._open.take(entry)
            if ended is not None:
                self._gone += len(self._ended) == MAX_CALLS
                self._ended.append(ended)

    @property
    def earlier(self) -> int:
        """Number of ended calls that are no longer in memory."""
        return self._gone

    def calls(self) -> list[Call]:
        """All calls in memory, by number."""
        return sorted([*self._ended, *self._open.left()], key=lambda call: call.number)


def refused_first(calls: Iterable[Call]) -> list[Call]:
    """Refused and failed calls first, then the others, each by number."""
    return sorted(calls, key=lambda call: (call.code is None, call.number))


class Link(NamedTuple):
    """How to find related entries: the shared id field, and the kinds before and after."""

    name: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    """Kinds after which no related entry follows."""


LINKS: Final[Mapping[str, Link]] = {
    EntryKind.TOOL_CALL_STARTED: Link(
        "tool_call_id", after=(EntryKind.TOOL_CALL_COMPLETED,), last=(EntryKind.TOOL_CALL_COMPLETED,)
    ),
    EntryKind.TOOL_CALL_COMPLETED: Link("tool_call_id", before=(EntryKind.TOOL_CALL_STARTED,)),
    EntryKind.CALL_REQUESTED: Link(
        "call_id", after=(EntryKind.CALL_DECIDED, EntryKind.CALL_REPLIED), last=(EntryKind.CALL_REPLIED,)
    ),
    EntryKind.CALL_DECIDED: Link(
        "call_id",
        before=(EntryKind.CALL_REQUESTED,),
        after=(EntryKind.CALL_REPLIED,),
        last=(EntryKind.CALL_REPLIED,),
    ),
    EntryKind.CALL_REPLIED: Link("call_id", before=(EntryKind.CALL_REQUESTED,)),
    EntryKind.STEERING_QUEUED: Link("item_id", after=STEERING_ENDS, last=STEERING_ENDS),
    **{kind: Link("item_id", before=(EntryKind.STEERING_QUEUED,)) for kind in STEERING_ENDS},
}


def link_of(kind: str, outcome: str | None, data: Mapping[str, Any]) -> tuple[Link, str] | None:
    """The link of an entry and its shared id, or None."""
    link = LINKS.get(kind)
    shared = None if link is None else data.get(link.name)
    if link is None or not isinstance(shared, str) or not shared:
        return None
    if kind == EntryKind.CALL_DECIDED and outcome == Outcome.REFUSED:
        return link._replace(after=(), last=()), shared  # a refusal is the reply
    return link, shared
