"""Goes through a long journal for the few entries of a kind, by its index."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import orjson

from console.model.inspect.calls import CallLog
from console.model.inspect.facts import Printed
from console.model.words import number, size
from engine.api import Engine, Entry

WINDOW: Final = 16_384
"""Entries of one look at the index."""
_GAP: Final = 32
"""Entries that are read in vain rather than asked for apart."""
_LINES: Final = 1_000
_LOOKS: Final = 8
"""Windows that are looked through backwards for output."""


async def one_entry(engine: Engine, run_id: str, position: int) -> Entry | None:
    found = await engine.journal(run_id, after=position - 1, limit=1)
    return found[0] if found and found[0].position == position else None


class CallScan:
    """The calls of one run, read as far as its journal goes, and further the next time."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.log = CallLog()
        self._after = 0

    async def go_on(self, engine: Engine) -> None:
        """Read what is new."""
        while marks := await engine.index(self.run_id, after=self._after, limit=WINDOW):
            wanted = [mark.position for mark in marks if mark.type.startswith("call.")]
            self.log.take(await entries_at(engine, self.run_id, wanted))
            self._after = marks[-1].position


async def output_until(engine: Engine, run_id: str, last: int) -> tuple[Sequence[Printed], bool]:
    """The lines that were printed up to an entry, the last of them, and whether there may be more before."""
    lines: deque[Printed] = deque(maxlen=_LINES)
    until = last
    for _ in range(_LOOKS):
        if until <= 0 or len(lines) == _LINES:
            break
        first = max(0, until - WINDOW)
        marks = await engine.index(run_id, after=first, limit=until - first)
        wanted = [mark.position for mark in marks if mark.type == "output"][-(_LINES - len(lines)) :]
        lines.extendleft(_printed(entry) for entry in reversed(await entries_at(engine, run_id, wanted)))
        until = first
    return tuple(lines), until > 0 or len(lines) == _LINES


async def entries_at(engine: Engine, run_id: str, positions: Sequence[int]) -> list[Entry]:
    """These entries, rising, in as few reads as their places allow."""
    wanted = frozenset(positions)
    found: list[Entry] = []
    for first, last in _ranges(positions):
        page = await engine.journal(run_id, after=first - 1, limit=last - first + 1)
        found += [entry for entry in page if entry.position in wanted]
    return found


def _ranges(positions: Iterable[int]) -> Iterator[tuple[int, int]]:
    first = last = -1
    for position in positions:
        if first >= 0 and position - last > _GAP:
            yield first, last
            first = position
        elif first < 0:
            first = position
        last = position
    if first >= 0:
        yield first, last


def _printed(entry: Entry) -> Printed:
    data: dict[str, Any] = orjson.loads(entry.data)
    stream = str(data.get("stream"))
    text = str(data.get("text", ""))
    if stream == "cut":
        text = f"{number(int(data.get('lines', 0)), 'line')} more, {size(int(data.get('bytes', 0)))}, were not kept"
    return Printed(entry.position, entry.at, stream, text)
