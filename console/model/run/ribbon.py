"""The ribbon: the turns of a run, their tool calls, and where steering messages were queued and delivered."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, NamedTuple

from console.model.journal.run_end import end_state
from console.model.run.state import RunState
from console.model.text.columns import cells, cut
from console.model.text.glyphs import GLYPHS
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from engine.events import (
    Entry,
    EntryKind,
    Fate,
    Mode,
    RunFinished,
    SteeringItem,
    SteeringTurned,
    ToolCallCompleted,
    ToolCallStarted,
    payload_as,
    payload_of,
)

MIN_TURN_COLUMNS: Final = 7
"""Columns of the narrowest turn: its name, a line and its end."""
USUAL_TURN_COLUMNS: Final = 11
"""Columns per turn; if there is not that much room, the first turns are left out."""
TAIL_COLUMNS: Final = 14
"""Columns of the state behind the last turn."""
_MARKED_FATES: Final[Mapping[str, Fate]] = {
    EntryKind.STEERING_QUEUED: Fate.QUEUED,
    EntryKind.STEERING_TURNED: Fate.QUEUED,
    EntryKind.STEERING_INJECTED: Fate.INJECTED,
    EntryKind.STEERING_DROPPED: Fate.DROPPED,
}
"""The fates that the ribbon marks, by the kind of entry."""
_WORDS: Final[Mapping[str, str]] = {Fate.QUEUED: "queued", Fate.INJECTED: "delivered", Fate.DROPPED: "dropped"}
_MIN_REMARK_COLUMNS: Final = 8
"""Columns below which a mark has no words."""


class _Cell(NamedTuple):
    """One column of the line of turns."""

    text: str
    tone: str


class Remark(NamedTuple):
    """A steering message in a turn: time, fate, id and text."""

    at: int
    fate: Fate
    item_id: str
    text: str


@dataclass(slots=True)
class Turn:
    """One turn."""

    number: int
    began_at: int
    ended_at: int
    tools: list[tuple[int, int | None]] = field(default_factory=list[tuple[int, "int | None"]])
    """Start and end of each tool call."""
    marks: "list[Remark]" = field(default_factory=list["Remark"])


class Ribbon:
    """Follows one run. The cost of an entry does not grow with the run."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.is_over = False
        self.is_paused = False
        self.is_stopping = False
        self.can_steer = True
        """The runner may pull steering messages."""
        self._end_state: RunState | None = None
        """How the run ended."""
        self._open_tools: dict[str, tuple[Turn, int]] = {}
        self._texts: dict[str, str] = {}

    def apply(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self._apply(entry)

    def rows(self, width: int, now: int, height: int = 2) -> Sequence[Sequence[Piece]]:
        """The line of turns, and the steering messages below it; with one row only, the marks are in the line."""
        if not self.turns or width < MIN_TURN_COLUMNS:
            return ()
        line: list[_Cell] = [_Cell(GLYPHS["ellipsis"], "faint"), _Cell(" ", "faint")] if self._is_cut(width) else []
        marks: list[_Mark] = []
        for turn, columns in self._turn_widths(width, now):
            marks += self._marks(turn, len(line), columns, now)
            line += self._segment(turn, columns, now)
        line = line[:width]
        if height < 2:
            for mark in marks:
                line[min(mark.column, len(line) - 1)] = _Cell(GLYPHS[mark.fate], mark.fate)
        pieces = [
            Piece("".join(cell.text for cell in some), tone) for tone, some in groupby(line, lambda cell: cell.tone)
        ]
        if self._has_tail(width):
            pieces.append(self._tail())
        return (pieces,) if height < 2 else (pieces, _remarks(marks, width))

    def turn_at(self, column: int, width: int, now: int) -> int | None:
        """The turn at a column, or None behind the last one."""
        if not self.turns or width < MIN_TURN_COLUMNS:
            return None
        end = 2 if self._is_cut(width) else 0
        for turn, columns in self._turn_widths(width, now):
            end += columns
            if column < end:
                return turn.number
        return None

    # Entries

    def _apply(self, entry: Entry) -> None:
        turn = self.turns[-1] if self.turns else None
        if turn is None or entry.turn > turn.number:
            if turn is not None and entry.turn == turn.number + 1:
                turn.ended_at = entry.at
            turn = Turn(entry.turn, entry.at, entry.at)
            self.turns.append(turn)
        turn.ended_at = entry.at
        match entry.type:
            case EntryKind.MESSAGE_DELTA:
                pass
            case EntryKind.TOOL_CALL_STARTED:
                self._open_tools[payload_as(ToolCallStarted, entry).tool_call_id] = (turn, len(turn.tools))
                turn.tools.append((entry.at, None))
            case EntryKind.TOOL_CALL_COMPLETED:
                where = self._open_tools.pop(payload_as(ToolCallCompleted, entry).tool_call_id, None)
                if where is not None:
                    began, _ = where[0].tools[where[1]]
                    where[0].tools[where[1]] = (began, entry.at)
            case EntryKind.PAUSE_STARTED | EntryKind.PAUSE_ENDED:
                self.is_paused = entry.type == EntryKind.PAUSE_STARTED
            case EntryKind.CANCEL_REQUESTED:
                self.is_stopping = True
            case EntryKind.RUN_FINISHED:
                self.is_over, self.is_paused = True, False
                self._end_state = end_state(payload_as(RunFinished, entry))
            case EntryKind.STEERING_WITHDRAWN if entry.outcome is None:
                self._remove_marks(payload_as(SteeringItem, entry).item_id)
            case _ if entry.type in _MARKED_FATES and entry.outcome is None:
                self._mark(entry, turn)
            case _:
                pass

    def _mark(self, entry: Entry, turn: Turn) -> None:
        payload = payload_of(entry)
        item_id = payload_as(SteeringItem, entry).item_id
        if isinstance(payload, SteeringTurned) and payload.mode != Mode.STEER:
            self._remove_marks(item_id)
            return
        text = self._texts[item_id] = getattr(payload, "text", None) or self._texts.get(item_id, "")
        turn.marks.append(Remark(entry.at, _MARKED_FATES[entry.type], item_id, one_line(text, 60)))

    def _remove_marks(self, item_id: str) -> None:
        """Remove a message that was withdrawn or now waits for the end of the run."""
        for turn in self.turns:
            turn.marks = [mark for mark in turn.marks if mark.item_id != item_id]

    # Layout

    def _shown(self, width: int) -> Sequence[Turn]:
        """The last consecutive turns that fit into the width."""
        most = max(1, self._room(width) // USUAL_TURN_COLUMNS)
        first = len(self.turns) - 1
        while first and len(self.turns) - first < most and self.turns[first - 1].number == self.turns[first].number - 1:
            first -= 1
        return self.turns[first:]

    def _is_cut(self, width: int) -> bool:
        shown = self._shown(width)
        return shown[0] is not self.turns[0] or shown[0].number > 1

    def _room(self, width: int) -> int:
        return max(MIN_TURN_COLUMNS, width - (TAIL_COLUMNS if self._has_tail(width) else 0))

    def _has_tail(self, width: int) -> bool:
        """Whether there is room for the state behind the last turn."""
        has_state = self.can_steer or self.is_stopping or self.is_paused
        return has_state and not self.is_over and width >= 3 * TAIL_COLUMNS

    def _tail(self) -> Piece:
        """The state behind the last turn: stopping, paused, or the next pull."""
        for is_current, state in ((self.is_stopping, RunState.STOPPING), (self.is_paused, RunState.PAUSED)):
            if is_current:
                return Piece(f" {GLYPHS[state]} {state}", state)
        return Piece(GLYPHS["dots"] * 4 + " next pull", "faint")

    def _turn_widths(self, width: int, now: int) -> Iterable[tuple[Turn, int]]:
        """The shown turns with their widths."""
        shown = self._shown(width)
        room = self._room(width) - (2 if self._is_cut(width) else 0)
        widths = _shared(room, [max(1, self._end(turn, now) - turn.began_at) for turn in shown])
        return zip(shown, widths, strict=True)

    def _end(self, turn: Turn, now: int) -> int:
        return now if turn is self.turns[-1] and not self.is_over else turn.ended_at

    def _length(self, turn: Turn, columns: int) -> int:
        """Columns of a turn's line between its name and its end mark."""
        return max(0, columns - len(_name(turn)) - (1 if turn is self.turns[-1] else 2))

    def _marks(self, turn: Turn, start: int, columns: int, now: int) -> "list[_Mark]":
        length, until = self._length(turn, columns), self._end(turn, now)
        start += len(_name(turn))
        return [
            _Mark(start + _column(at, turn.began_at, until, length), fate, text) for at, fate, _, text in turn.marks
        ]

    def _segment(self, turn: Turn, columns: int, now: int) -> list[_Cell]:
        length, until = self._length(turn, columns), self._end(turn, now)
        busy = [False] * length
        for began, ended in turn.tools:
            first = _column(began, turn.began_at, until, length)
            final = _column(ended if ended is not None else until, turn.began_at, until, length)
            busy[first : final + 1] = [True] * len(busy[first : final + 1])
        line: list[_Cell] = []
        for is_tool, some in groupby(busy):
            text = GLYPHS["line"] * len(list(some))
            line += [
                _Cell(each, "tool" if is_tool else "line") for each in (_centred("tool", text) if is_tool else text)
            ]
        if turn is not self.turns[-1]:
            end = [_Cell(GLYPHS["turn"], "turn"), _Cell(" ", "turn")]
        else:
            state = self._end_state
            end = [_Cell(GLYPHS["head"], "turn") if state is None else _Cell(GLYPHS[state], state)]
        return ([_Cell(each, "turn") for each in _name(turn)] + line + end)[:columns]


class _Mark(NamedTuple):
    """A steering message and its column."""

    column: int
    fate: Fate
    text: str


def _remarks(marks: Sequence[_Mark], width: int) -> list[Piece]:
    """The marks in their columns, with as many words as fit before the next mark."""
    placed: list[_Mark] = []
    for mark in marks:
        column = max(mark.column, placed[-1].column + 1) if placed else mark.column
        if column < width:
            placed.append(mark._replace(column=column))
    pieces: list[Piece] = []
    used = 0
    next_columns = [*(mark.column for mark in placed[1:]), width + 1]
    for mark, next_column in zip(placed, next_columns, strict=False):
        room = next_column - mark.column
        words = f" {_WORDS[mark.fate]}" + (f" “{mark.text}”" if mark.text else "") if room > _MIN_REMARK_COLUMNS else ""
        remark = GLYPHS[mark.fate] + cut(words, room - 2)
        pieces += [Piece(" " * (mark.column - used), "faint"), Piece(remark, mark.fate)]
        used = mark.column + cells(remark)
    return pieces


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
    """The width of each turn by its duration, with a minimum."""
    spare = max(0, room - MIN_TURN_COLUMNS * len(lengths))
    total = sum(lengths)
    widths = [MIN_TURN_COLUMNS + spare * length // total for length in lengths]
    widths[-1] += room - sum(widths) if room > sum(widths) else 0
    return widths
