"""The run as a ribbon: turns, the tools in them, where a message was queued and where it landed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Any, Final, NamedTuple

import orjson

from console.model.columns import cells, cut
from console.model.glyphs import Glyphs
from console.model.piece import Piece
from console.model.safe import one_line
from engine.events import Entry

NARROWEST: Final = 7
"""Columns of the shortest turn: its name, a line and its end."""
USUAL: Final = 11
"""Columns that a turn needs on average to tell something; where they are fewer, the first turns go."""
TAIL: Final = 14
_MARKS: Final = {"steering.queued": "queued", "steering.injected": "injected", "steering.dropped": "dropped"}
_TURNED: Final = "steering.turned"
_WITHDRAWN: Final = "steering.withdrawn"
_ENDS: Final = frozenset({"completed", "failed", "cancelled", "timeout"})
_REMARK: Final = 8
"""Columns below which a mark stands without words."""


class _Cell(NamedTuple):
    """One column of the line."""

    text: str
    tone: str


class Remark(NamedTuple):
    """Something that was said to the run: when, what became of it, which message, its text."""

    at: int
    kind: str
    item_id: str
    text: str


@dataclass(slots=True)
class Turn:
    """One segment."""

    number: int
    began_at: int
    ended_at: int
    tools: list[tuple[int, int | None]] = field(default_factory=list[tuple[int, "int | None"]])
    """When each began and ended."""
    marks: "list[Remark]" = field(default_factory=list["Remark"])


class Ribbon:
    """Follows one run. An entry costs the same however long the run is."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.is_over = False
        self.is_held = False
        self.is_stopping = False
        self.can_steer = True
        """It may pull what is said to it."""
        self._state = ""
        """How it ended, as a glyph's name."""
        self._open: dict[str, tuple[Turn, int]] = {}
        self._texts: dict[str, str] = {}

    def apply(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self._note(entry)

    def rows(self, width: int, now: int, glyphs: Glyphs, tall: int = 2) -> Sequence[Sequence[Piece]]:
        """The line of turns, and under it what was said; where there is one row only, the marks are in the line."""
        if not self.turns or width < NARROWEST:
            return ()
        line: list[_Cell] = [_Cell(glyphs["ellipsis"], "faint"), _Cell(" ", "faint")] if self._is_cut(width) else []
        marks: list[_Mark] = []
        for turn, columns in self._laid(width, now):
            marks += self._marks(turn, len(line), columns, now)
            line += self._segment(turn, columns, now, glyphs)
        line = line[:width]
        if tall < 2:
            for mark in marks:
                line[min(mark.column, len(line) - 1)] = _Cell(glyphs[mark.kind], mark.kind)
        pieces = [
            Piece("".join(cell.text for cell in some), tone) for tone, some in groupby(line, lambda cell: cell.tone)
        ]
        if self._has_tail(width):
            pieces.append(self._tail(glyphs))
        return (pieces,) if tall < 2 else (pieces, _remarks(marks, width, glyphs))

    def turn_at(self, column: int, width: int, now: int) -> int | None:
        """The turn whose segment a column is in; behind the last there is none."""
        if not self.turns or width < NARROWEST:
            return None
        end = 2 if self._is_cut(width) else 0
        for turn, columns in self._laid(width, now):
            end += columns
            if column < end:
                return turn.number
        return None

    # What came

    def _note(self, entry: Entry) -> None:
        turn = self.turns[-1] if self.turns else None
        if turn is None or entry.turn > turn.number:
            if turn is not None and entry.turn == turn.number + 1:
                turn.ended_at = entry.at
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
        elif (entry.type in _MARKS or entry.type in (_TURNED, _WITHDRAWN)) and entry.outcome is None:
            self._mark(entry, turn)
        elif entry.type in ("hold.reached", "hold.released"):
            self.is_held = entry.type == "hold.reached"
        elif entry.type == "cancel.requested":
            self.is_stopping = True
        elif entry.type == "run.finished":
            self.is_over, self.is_held = True, False
            data = _data(entry)
            status, is_lost = data.get("status"), data.get("reason") == "runner.lost"
            self._state = "lost" if is_lost else status if status in _ENDS else "failed"

    def _mark(self, entry: Entry, turn: Turn) -> None:
        data = _data(entry)
        item_id = str(data.get("item_id"))
        if entry.type == _WITHDRAWN or (entry.type == _TURNED and data.get("mode") != "steer"):
            self._unmark(item_id)
            return
        text = self._texts[item_id] = str(data.get("text") or self._texts.get(item_id, ""))
        turn.marks.append(Remark(entry.at, _MARKS.get(entry.type, "queued"), item_id, one_line(text, 60)))

    def _unmark(self, item_id: str) -> None:
        """It was withdrawn, or is kept for after the run: nothing of it was ever said here."""
        for turn in self.turns:
            turn.marks = [mark for mark in turn.marks if mark.item_id != item_id]

    # Where it is drawn

    def _shown(self, width: int) -> Sequence[Turn]:
        """The last turns: as many as the width has room for, none of which is missing."""
        most = max(1, self._room(width) // USUAL)
        first = len(self.turns) - 1
        while first and len(self.turns) - first < most and self.turns[first - 1].number == self.turns[first].number - 1:
            first -= 1
        return self.turns[first:]

    def _is_cut(self, width: int) -> bool:
        shown = self._shown(width)
        return shown[0] is not self.turns[0] or shown[0].number > 1

    def _room(self, width: int) -> int:
        return max(NARROWEST, width - (TAIL if self._has_tail(width) else 0))

    def _has_tail(self, width: int) -> bool:
        """Whether there is room to say what the run waits for."""
        says_something = self.can_steer or self.is_stopping or self.is_held
        return says_something and not self.is_over and width >= 3 * TAIL

    def _tail(self, glyphs: Glyphs) -> Piece:
        """What the run waits for, or what is in its way."""
        for is_so, state in ((self.is_stopping, "stopping"), (self.is_held, "held")):
            if is_so:
                return Piece(f" {glyphs[state]} {state}", state)
        return Piece(glyphs["dots"] * 4 + " next pull", "faint")

    def _laid(self, width: int, now: int) -> Iterable[tuple[Turn, int]]:
        """The turns that are shown, each with its columns."""
        shown = self._shown(width)
        room = self._room(width) - (2 if self._is_cut(width) else 0)
        widths = _shared(room, [max(1, self._end(turn, now) - turn.began_at) for turn in shown])
        return zip(shown, widths, strict=True)

    def _end(self, turn: Turn, now: int) -> int:
        return now if turn is self.turns[-1] and not self.is_over else turn.ended_at

    def _length(self, turn: Turn, columns: int) -> int:
        """Columns of a turn's line, between its name and its end."""
        return max(0, columns - len(_name(turn)) - (1 if turn is self.turns[-1] else 2))

    def _marks(self, turn: Turn, start: int, columns: int, now: int) -> "list[_Mark]":
        length, until = self._length(turn, columns), self._end(turn, now)
        start += len(_name(turn))
        return [
            _Mark(start + _column(at, turn.began_at, until, length), kind, text) for at, kind, _, text in turn.marks
        ]

    def _segment(self, turn: Turn, columns: int, now: int, glyphs: Glyphs) -> list[_Cell]:
        length, until = self._length(turn, columns), self._end(turn, now)
        busy = [False] * length
        for began, ended in turn.tools:
            first = _column(began, turn.began_at, until, length)
            final = _column(ended if ended is not None else until, turn.began_at, until, length)
            busy[first : final + 1] = [True] * len(busy[first : final + 1])
        line: list[_Cell] = []
        for is_tool, some in groupby(busy):
            text = glyphs["line"] * len(list(some))
            line += [
                _Cell(each, "tool" if is_tool else "line") for each in (_centred("tool", text) if is_tool else text)
            ]
        if turn is not self.turns[-1]:
            end = [_Cell(glyphs["turn"], "turn"), _Cell(" ", "turn")]
        else:
            end = [_Cell(glyphs[self._state], self._state) if self.is_over else _Cell(glyphs["head"], "turn")]
        return ([_Cell(each, "turn") for each in _name(turn)] + line + end)[:columns]


class _Mark(NamedTuple):
    """Something that was said, and the column of when."""

    column: int
    kind: str
    text: str


def _remarks(marks: Sequence[_Mark], width: int, glyphs: Glyphs) -> list[Piece]:
    """Each in its place, with as many words as there is room before the next."""
    placed: list[_Mark] = []
    for mark in marks:
        column = max(mark.column, placed[-1].column + 1) if placed else mark.column
        if column < width:
            placed.append(mark._replace(column=column))
    pieces: list[Piece] = []
    used = 0
    for mark, following in pairwise([*placed, _Mark(width + 1, "", "")]):
        room = following.column - mark.column
        words = f" {mark.kind}" + (f" “{mark.text}”" if mark.text else "") if room > _REMARK else ""
        remark = glyphs[mark.kind] + cut(words, room - 2)
        pieces += [Piece(" " * (mark.column - used), "faint"), Piece(remark, mark.kind)]
        used = mark.column + cells(remark)
    return pieces


def _data(entry: Entry) -> dict[str, Any]:
    return orjson.loads(entry.data)


def _name(turn: Turn) -> str:
    return f"T{turn.number} "


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
