"""The calls of a run, put together from their entries in the journal."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from console.cli.terminal import Output
from console.model.safe import one_line
from console.model.words import latency, number
from engine.api import Entry
from engine.clock import rfc3339

_HEADINGS: Final = ("#", "call", "resource", "decision", "latency", "code", "clause")
_COLUMNS: Final = (4, 22, 24, 9, 9, 17, 0)
"""Their widths. Fixed: a line is written before the next page is read."""


@dataclass(slots=True)
class Call:
    """One call, as far as the journal tells of it."""

    number: int
    call_id: str
    action: str
    requested_at: int
    resource: str | None = None
    allowed: bool | None = None
    """None until the gate has decided."""
    clause: str = ""
    code: str | None = None
    """Of the refusal, or of the error that was the reply."""
    message: str | None = None
    replied_at: int | None = None
    """None while it is open; a refusal is a reply too."""

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

    def record(self) -> dict[str, Any]:
        """For programs."""
        took = self.microseconds
        return {
            "number": self.number,
            "call_id": self.call_id,
            "action": self.action,
            "resource": self.resource,
            "decision": self.decision,
            "clause": self.clause,
            "code": self.code,
            "message": self.message,
            "requested_at": rfc3339(self.requested_at),
            "replied_at": None if self.replied_at is None else rfc3339(self.replied_at),
            "latency_ms": None if took is None else took / 1_000,
        }


class OpenCalls:
    """Follows the calls of one run from entry to entry and keeps those that have no reply yet."""

    def __init__(self) -> None:
        self._count = 0
        self._open: dict[str, Call] = {}

    def take(self, entry: Entry) -> Call | None:
        """The call that ends with this entry, if one does."""
        if not entry.type.startswith("call."):
            return None
        data: dict[str, Any] = json.loads(entry.data)
        call_id = str(data.get("call_id"))
        if entry.type == "call.requested":
            self._count += 1
            self._open[call_id] = Call(self._count, call_id, str(data.get("action")), entry.at)
            return None
        call = self._open.get(call_id)
        if call is None:
            return None
        if entry.type == "call.decided":
            call.allowed, call.clause = bool(data.get("allowed")), str(data.get("clause"))
            call.resource, call.code = data.get("resource"), data.get("code")
            if call.allowed:
                return None
        elif isinstance(error := data.get("error"), dict):
            call.code, call.message = str(error.get("code")), str(error.get("message"))
        call.replied_at = entry.at
        return self._open.pop(call_id)

    def left(self) -> list[Call]:
        """Those without a reply, in order."""
        return list(self._open.values())


class CallsInOrder:
    """Gives calls by their number: one that ended early waits for those before it."""

    def __init__(self) -> None:
        self._open = OpenCalls()
        self._ended: dict[int, Call] = {}
        self._next = 1

    def take(self, entries: list[Entry]) -> Iterator[Call]:
        """The calls whose turn it is after these entries."""
        for entry in entries:
            if (ended := self._open.take(entry)) is not None:
                self._ended[ended.number] = ended
                while (call := self._ended.pop(self._next, None)) is not None:
                    self._next += 1
                    yield call

    def rest(self) -> list[Call]:
        """All others, when there are no more entries."""
        return sorted([*self._open.left(), *self._ended.values()], key=lambda call: call.number)


class CallPrinter:
    """Writes calls as they are found: a line each, or the items of one JSON array, or JSON lines."""

    def __init__(self, out: Output, *, as_array: bool, as_lines: bool) -> None:
        self._out = out
        self._as_array = as_array and not as_lines
        self._as_lines = as_lines
        self._count = 0
        self._refused = 0

    def write(self, calls: list[Call]) -> None:
        if self._as_array or self._as_lines:
            lines = [json.dumps(call.record(), ensure_ascii=False, separators=(",", ":")) for call in calls]
            if self._as_array:
                lines = [("," if self._count + place else "[") + line for place, line in enumerate(lines)]
            self._out.write_lines(lines)
        else:
            if calls and not self._count:
                self._out.line(self._out.paint("dim", _padded(_HEADINGS)))
            self._out.write("".join(self._line(call) for call in calls))
        self._count += len(calls)
        self._refused += sum(call.allowed is False for call in calls)

    def close(self) -> None:
        if self._as_array:
            self._out.write_lines(["]" if self._count else "[]"])
        elif not self._as_lines:
            said = f"{number(self._count, 'call')}, {self._refused} refused." if self._count else "No calls were made."
            self._out.line(("\n" if self._count else "") + said)

    def _line(self, call: Call) -> str:
        took = "no reply" if call.microseconds is None else latency(call.microseconds)
        style = {True: "green", False: "red", None: "yellow"}[call.allowed]
        cells = (
            str(call.number),
            one_line(call.action, 60),
            one_line(call.resource or "-", 60),
            call.decision,
            took,
            one_line(call.code or "-", 40),
        )
        words = call.clause if call.message is None else f"{call.clause}; {call.message}"
        return self._out.paint(style, _padded((*cells, ""))) + one_line(words, 300) + "\n"


def _padded(cells: tuple[str, ...]) -> str:
    return "  ".join(text.ljust(width) for text, width in zip(cells, _COLUMNS, strict=True))
