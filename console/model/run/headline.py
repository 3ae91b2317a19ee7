"""The header line: runner, run state and counters. If space is short, the least important parts go first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from console.model.text.columns import cells, cut
from console.model.text.glyphs import GLYPHS
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from console.model.text.units import brief, duration

if TYPE_CHECKING:  # the first frame is drawn before the engine is loaded
    from console.model.run.status import RunStatus

_WIDE_GAP: Final = "   "
_GAP: Final = "  "


class _Part(NamedTuple):
    """One part of the header. Parts with a higher weight stay longer."""

    weight: int
    tone: str
    full: str
    short: str = ""
    """The short form; empty if it is the same."""


@dataclass(frozen=True, slots=True)
class Headline:
    """The values that the header shows."""

    runner: str
    session: str
    status: "RunStatus | None"
    queued: int
    as_of: int | None
    now: int
    trouble: str | None = None
    others: tuple[int, ...] = ()
    """Other processes that host runs on the same database."""
    is_loading: bool = False
    upgrade_percent: int | None = None
    """The progress of an upgrade of the database, which is part of loading; None if there is none."""
    is_past: bool = False
    """The shown run is not the last one."""
    is_elsewhere: bool = False
    """Another process hosts the run."""
    starts_before: int | None = None
    """Runs that get a process before this one; None if the run does not wait for a process."""
    code: str | None = None
    """A remark about the runner's code: it was edited, or the run uses the old version."""

    def fit(self, width: int) -> tuple[Sequence[Piece], Sequence[Piece]]:
        """The left and the right half: in full, or shortened, or without the least important parts."""
        left, right = self._left(), self._right()
        for gap, is_short in ((_WIDE_GAP, False), (_GAP, False), (_GAP, True)):
            halves = _pieces(left, gap, is_short=is_short), _pieces(right, gap, is_short=is_short)
            if _width(halves) <= width:
                return halves
        # The part with the highest weight stays; the last one is cut, not left out.
        for lightest in sorted([*left, *right], key=lambda part: part.weight)[:-1]:
            left = [part for part in left if part is not lightest]
            right = [part for part in right if part is not lightest]
            halves = _pieces(left, _GAP, is_short=True), _pieces(right, _GAP, is_short=True)
            if _width(halves) <= width:
                return halves
        first, second = ([piece._replace(text=cut(piece.text, width - 1)) for piece in half] for half in halves)
        return first, second

    def _left(self) -> list[_Part]:
        # The runner of an agent is shown in brackets if there is room.
        name, bracket, runner = one_line(self.runner, 80).partition(" (")
        name = cut(name, 24)
        parts = [
            _Part(1, "brand", "trackside"),
            _Part(8, "runner", f"{name}{cut(bracket + runner, 26)}", name),
            _Part(2, "faint", cut(one_line(self.session, 40), 24), cut(one_line(self.session, 40), 14)),
        ]
        status = self.status
        if self.is_loading and self.trouble:
            return parts  # the right half shows the reason
        if self.is_loading:
            step = "loading" if self.upgrade_percent is None else f"upgrading the database, {self.upgrade_percent} %"
            return [*parts, _Part(9, "starting", f"{GLYPHS['starting']} {step}")]
        if status is None:
            return [*parts, _Part(9, "idle", f"{GLYPHS['idle']} idle")]
        if self.starts_before is not None and not status.is_over and not status.is_stopping:
            parts.append(_Part(9, "starting", *_waiting_words(self.starts_before)))
        else:
            text = f"{GLYPHS[status.state]} {one_line(status.words(self.now), 60)}{self._place_words(status)}"
            parts.append(_Part(9, status.state, cut(text, 60), cut(text, 40)))
        parts.append(_Part(6, "turn", f"turn {status.turn}", f"T{status.turn}"))
        parts.append(
            _Part(3, "faint", f"{_short_count(status.entries)} {'entry' if status.entries == 1 else 'entries'}")
        )
        if not status.is_over:
            rate = _short_count(status.rate(self.now))
            parts.append(_Part(4, "faint", f"{rate} entries/s", f"{rate}/s"))
        return parts

    def _place_words(self, status: "RunStatus") -> str:
        """Where the run is executed, if not by this process."""
        if status.is_external:
            return " · executed elsewhere"
        return " · in another process" if self.is_elsewhere else ""

    def _right(self) -> list[_Part]:
        parts: list[_Part] = []
        status = self.status
        if self.trouble:
            parts.append(_Part(10, "failed", f"{GLYPHS['lost']} {one_line(self.trouble, 60)}"))
        if self.others:
            parts.append(_Part(4, "faint", other_processes_words(self.others)))
        if self.code:
            parts.append(_Part(7, "paused", self.code))
        if self.queued:
            parts.append(_Part(7, "queued", f"{GLYPHS['queued']}{self.queued} queued"))
        if status is not None and not status.is_over and status.began_at is not None:
            parts.append(_Part(5, "faint", *_last_pull_words(status, self.now)))
        if self.as_of is None and self.is_past:
            parts.append(_Part(6, "faint", "a past run", "past"))
        elif self.as_of is None:
            parts.append(_Part(6, "live", f"{GLYPHS['live']} live", "live"))
        else:
            parts.append(_Part(8, "as_of", f"as of #{self.as_of}"))
        return parts


def other_processes_words(others: Sequence[int]) -> str:
    """`also open in process 4242`, `also open in 3 processes`."""
    return f"also open in {f'process {others[0]}' if len(others) == 1 else f'{len(others)} processes'}"


def _waiting_words(before: int) -> tuple[str, str]:
    """Return how many runs get a process before this one, in full and in short."""
    glyph = GLYPHS["starting"]
    return f"{glyph} waiting for a free process ({before} before it)", f"{glyph} waiting for a process ({before})"


def _last_pull_words(status: "RunStatus", now: int) -> tuple[str, str]:
    """Return the time of the last pull, in full and in short."""
    if not status.can_steer:
        return "cannot be steered", "no steering"
    if status.last_pull_at is None:
        return "not pulled yet", "no pull yet"
    ago = now - status.last_pull_at
    return f"pull {duration(ago)} ago", f"pull {brief(ago)}"


def _short_count(count: int) -> str:
    """`999`, `2.1k`, `1.0M`."""
    if count < 1_000:
        return str(count)
    return f"{count / 1_000:.1f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"


def _pieces(parts: Sequence[_Part], gap: str, *, is_short: bool) -> list[Piece]:
    """Return the non-empty parts with gaps between them."""
    shown = [Piece(part.short or part.full if is_short else part.full, part.tone) for part in parts if part.full]
    return [piece for place, one in enumerate(shown) for piece in ((Piece(gap, "faint"), one) if place else (one,))]


def _width(halves: tuple[Sequence[Piece], Sequence[Piece]]) -> int:
    return len(_GAP) + sum(cells(piece.text) for half in halves for piece in half)
