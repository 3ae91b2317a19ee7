"""The calls of a run, put together from their entries in the journal."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import orjson

if TYPE_CHECKING:
    from engine.api import Entry

MOST: Final = 1_000
"""Calls that are kept to look through; the journal has them all."""


@dataclass(slots=True)
class Call:
    """One call, as far as the journal tells of it."""

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
    """Of the refusal, or of the error that was the reply."""
    message: str | None = None
    replied_at: int | None = None
    """None while it is open; a refusal is a reply too."""
    replied_position: int | None = None

    @property
    def decision(self) -> str:
        """What became of it, in a word."""
        if self.allowed is None:
            return "undecided"
        return "allowed" if self.allowed else "refused"

    @property
    def microseconds(self) -> int | None:
        """From the request to the reply, by their stamps."""
        return None if self.replied_at is None else max(0, self.replied_at - self.requested_at)

    def as_of(self, position: int) -> "Call | None":
        """The call as it stood at an entry; nothing where it had not been made."""
        if self.requested_position > position:
            return None
        if self.decided_position is None or self.decided_position > position:
            return Call(self.number, self.call_id, self.action, self.requested_at, self.requested_position)
        if self.replied_position is None or self.replied_position <= position:
            return self
        return replace(self, code=None, message=None, replied_at=None, replied_position=None)


class OpenCalls:
    """Follows the calls of one run from entry to entry and keeps those that have no reply yet."""

    def __init__(self) -> None:
        self._count = 0
        self._open: dict[str, Call] = {}

    def take(self, entry: "Entry") -> Call | None:
        """The call that ends with this entry, if one does."""
        if not entry.type.startswith("call."):
            return None
        data: dict[str, Any] = orjson.loads(entry.data)
        call_id = str(data.get("call_id"))
        if entry.type == "call.requested":
            self._count += 1
            self._open[call_id] = Call(self._count, call_id, str(data.get("action")), entry.at, entry.position)
            return None
        call = self._open.get(call_id)
        if call is None:
            return None
        if entry.type == "call.decided":
            call.allowed, call.clause = bool(data.get("allowed")), str(data.get("clause"))
            call.resource, call.code = data.get("resource"), data.get("code")
            call.decided_position = entry.position
            if call.allowed:
                return None
        elif isinstance(data.get("error"), dict):
            error: dict[str, Any] = data["error"]
            call.code, call.message = str(error.get("code")), str(error.get("message"))
        call.replied_at, call.replied_position = entry.at, entry.position
        return self._open.pop(call_id)

    def left(self) -> list[Call]:
        """Those without a reply, in order."""
        return list(self._open.values())


class CallLog:
    """The last calls of a run that have a reply, and all that wait for one."""

    def __init__(self) -> None:
        self._open = OpenCalls()
        self._ended: deque[Call] = deque(maxlen=MOST)
        self._gone = 0

    def take(self, entries: Iterable["Entry"]) -> None:
        for entry in entries:
            ended = self._open.take(entry)
            if ended is not None:
                self._gone += len(self._ended) == MOST
                self._ended.append(ended)

    @property
    def earlier(self) -> int:
        """Calls that are not kept."""
        return self._gone

    def calls(self) -> list[Call]:
        """By number."""
        return sorted([*self._ended, *self._open.left()], key=lambda call: call.number)


def refused_first(calls: Iterable[Call]) -> list[Call]:
    """Those that were refused or failed, then the others, each by number."""
    return sorted(calls, key=lambda call: (call.code is None, call.number))
