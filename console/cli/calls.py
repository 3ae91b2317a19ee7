"""The calls of a run, listed in their order."""

import json
from collections.abc import Iterator
from typing import Any, Final

from console.cli.terminal import Output
from console.model.inspect.calls import Call, OpenCalls
from console.model.safe import one_line
from console.model.words import latency, number
from engine.api import Entry
from engine.events import rfc3339

_HEADINGS: Final = ("#", "call", "resource", "decision", "latency", "code", "clause")
_COLUMNS: Final = (4, 22, 24, 9, 9, 17, 0)
"""Their widths. Fixed: a line is written before the next page is read."""


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
            lines = [json.dumps(_record(call), ensure_ascii=False, separators=(",", ":")) for call in calls]
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


def _record(call: Call) -> dict[str, Any]:
    """For programs."""
    took = call.microseconds
    return {
        "number": call.number,
        "call_id": call.call_id,
        "action": call.action,
        "resource": call.resource,
        "decision": call.decision,
        "clause": call.clause,
        "code": call.code,
        "message": call.message,
        "requested_at": rfc3339(call.requested_at),
        "replied_at": None if call.replied_at is None else rfc3339(call.replied_at),
        "latency_ms": None if took is None else took / 1_000,
    }
