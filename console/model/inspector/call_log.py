"""The calls of a run, assembled from their journal entries."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from engine.events import CALL_KINDS, CallDecided, CallReplied, CallRequested, Entry, payload_of

MAX_ENDED_CALLS: Final = 1_000
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
    """None while the call is open. A refusal is a reply too."""
    replied_position: int | None = None

    @property
    def decision(self) -> str:
        """The decision of the gate in one word."""
        if self.allowed is None:
            return "undecided"
        return "allowed" if self.allowed else "refused"

    @property
    def microseconds(self) -> int | None:
        """Microseconds from the request to the reply."""
        return None if self.replied_at is None else max(0, self.replied_at - self.requested_at)

    def as_of(self, position: int) -> "Call | None":
        """Return the call as of an entry, or None if it had not been made yet."""
        if self.requested_position > position:
            return None
        if self.decided_position is None or self.decided_position > position:
            return Call(self.number, self.call_id, self.action, self.requested_at, self.requested_position)
        if self.replied_position is None or self.replied_position <= position:
            return self
        return replace(self, code=None, message=None, replied_at=None, replied_position=None)


class OpenCalls:
    """The calls of one run that have no reply yet."""

    def __init__(self) -> None:
        self._count = 0
        self._open: dict[str, Call] = {}

    def apply(self, entry: Entry) -> Call | None:
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

    def calls(self) -> list[Call]:
        """Return the calls without a reply, in order."""
        return list(self._open.values())


class CallLog:
    """The last ended calls of a run, and all open ones."""

    def __init__(self) -> None:
        self._open = OpenCalls()
        self._ended: deque[Call] = deque(maxlen=MAX_ENDED_CALLS)
        self._removed = 0

    def apply(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            ended = self._open.apply(entry)
            if ended is not None:
                self._removed += len(self._ended) == MAX_ENDED_CALLS
                self._ended.append(ended)

    @property
    def earlier(self) -> int:
        """Number of calls that are no longer in memory."""
        return self._removed

    def calls(self) -> list[Call]:
        """All calls in memory, by number."""
        return sorted([*self._ended, *self._open.calls()], key=lambda call: call.number)


def refused_first(calls: Iterable[Call]) -> list[Call]:
    """Return refused and failed calls first, then the others, each by number."""
    return sorted(calls, key=lambda call: (call.code is None, call.number))
