"""The run as a ribbon: turns, the tools in them, where a message was queued and where it landed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson

from console.model.glyphs import Glyphs
from console.model.safe import one_line
from engine.api import Entry

NARROWEST: Final = 7
"""Columns of the shortest turn: its name, a line and its end."""
TAIL: Final = 14
_MARKS: Final = {"steering.queued": "queued", "steering.injected": "injected", "steering.dropped": "dropped"}


class Piece(NamedTuple):
    """Some text in a tone: `turn`, `tool`, `queued`, `injected`, `dropped`, `faint` …"""

    text: str
    tone: str


@dataclass(slots=True)
class Turn:
    """One segment."""

    number: int
    began_at: int
    ended_at: int
    tools: list[tuple[int, int | None]] = field(default_factory=list[tuple[int, "int | None"]])
    """When each began and ended."""
    marks: list[tuple[int, str, str]] = field(default_factory=list[tuple[int, str, str]])
    """When, which, and what was said."""


class Ribbon:
    """Follows one run. An entry costs the same however long the run is."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.is_over = False
        self._open: dict[str, tuple[Turn, int]] = {}
        self._texts: dict[str, str] = {}

    def apply(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self._note(entry)

    def rows(self, width: int, now: int, glyphs: Glyphs) -> tuple[Sequence[Piece], Sequence[Piece]]:
        """The line of turns, and under it what was said; as many of the last turns as the width has room for."""
        if not self.turns or width < NARROWEST:
            return (), ()
        room = width - (0 if self.is_over else TAIL)
        shown = self.turns[-max(1, room // (NARROWEST + 4)) :]
        widths = _shared(room, [max(1, self._end(turn, now) - turn.began_at) for turn in shown])
        upper: list[Piece] = []
        lower = _Lane(width)
        column = 0
        for turn, columns in zip(shown, widths, strict=True):
            upper += self._segment(turn, columns, now, glyphs)
            for at, kind, text in turn.marks:
                lower.put(column + _column(at, turn.began_at, self._end(turn, now), columns), kind, text, glyphs)
            column += columns
        if not self.is_over:
            upper.append(Piece(glyphs["dots"] * 4 + " next pull", "faint"))
        return upper, lower.pieces

    def _note(self, entry: Entry) -> None:
        turn = self.turns[-1] if self.turns else None
        if turn is None or entry.turn > turn.number:
            turn = Turn(entry.turn, entry.at, entry.at)
            self.turns.append(turn)
        turn.ended_at = entry.at
        if entry.type == "message.delta":
            return
        if entry.type == "tool.call.started":
            self._open[str(_data(entry).get("tool_call_id"))] = (turn, len(turn.tools))
            turn.tools.append((entry.at, None))
        elif entry.type == "tool.call.completed":
            where = self._open.pop(str(_data(entry).get("tool_call_id")), None)
            if where is not None:
                began, _ = where[0].tools[where[1]]
                where[0].tools[where[1]] = (began, entry.at)
        elif entry.type in _MARKS and entry.outcome is None:
            data = _data(entry)
            text = str(data.get("text") or self._texts.get(str(data.get("item_id")), ""))
            self._texts[str(data.get("item_id"))] = text
            turn.marks.append((entry.at, _MARKS[entry.type], one_line(text, 60)))
        elif entry.type == "run.finished":
            self.is_over = True

    def _end(self, turn: Turn, now: int) -> int:
        return now if turn is self.turns[-1] and not self.is_over else turn.ended_at

    def _segment(self, turn: Turn, columns: int, now: int, glyphs: Glyphs) -> list[Piece]:
        name = f"T{turn.number} "
        last = turn is self.turns[-1]
        end = "" if last and self.is_over else glyphs["head"] if last else glyphs["turn"] + " "
        length = max(0, columns - len(name) - len(end))
        line = [glyphs["line"]] * length
        busy = [False] * length
        until = self._end(turn, now)
        for began, ended in turn.tools:
            first = _column(began, turn.began_at, until, length)
            final = _column(ended if ended is not None else until, turn.began_at, until, length)
            for place in range(first, min(length, final + 1)):
                busy[place] = True
        pieces = [Piece(name, "turn")]
        start = 0
        while start < length:
            stop = start
            while stop < length and busy[stop] == busy[start]:
                stop += 1
            text = "".join(line[start:stop])
            if busy[start]:
                text = _centred("tool", text)
            pieces.append(Piece(text, "tool" if busy[start] else "line"))
            start = stop
        pieces.append(Piece(end, "turn"))
        return pieces


class _Lane:
    """One line of remarks that do not overlap; one that finds its place taken is left out."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._used = 0
        self.pieces: list[Piece] = []

    def put(self, column: int, kind: str, text: str, glyphs: Glyphs) -> None:
        remark = f"{glyphs[kind]} {kind}" + (f" “{text}”" if text else "")
        column = max(column, self._used + 2 if self._used else 0)
        room = self._width - column
        if room < 4:
            return
        remark = remark if len(remark) <= room else remark[: room - 1] + glyphs["ellipsis"]
        self.pieces.append(Piece(" " * (column - self._used), "faint"))
        self.pieces.append(Piece(remark, kind))
        self._used = column + len(remark)


def _data(entry: Entry) -> dict[str, Any]:
    return orjson.loads(entry.data)


def _column(at: int, began: int, ended: int, columns: int) -> int:
    return min(max(0, columns - 1), max(0, (at - began) * columns // max(1, ended - began)))


def _centred(word: str, line: str) -> str:
    if len(line) < len(word) + 2:
        return line
    start = (len(line) - len(word)) // 2
    return line[:start] + word + line[start + len(word) :]


def _shared(room: int, lengths: Sequence[int]) -> list[int]:
    """Columns for each turn by how long it took, none below the narrowest."""
    spare = max(0, room - NARROWEST * len(lengths))
    total = sum(lengths)
    widths = [NARROWEST + spare * length // total for length in lengths]
    widths[-1] += room - sum(widths) if room > sum(widths) else 0
    return widths
