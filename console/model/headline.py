"""The line at the top: who runs, where it stands, what waits. Where it is tight the lightest parts go first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from console.model.columns import cells, cut
from console.model.glyphs import Glyphs
from console.model.piece import Piece
from console.model.safe import one_line
from console.model.words import brief, duration

if TYPE_CHECKING:  # the screen is drawn before the engine is loaded
    from console.model.status import RunStatus

FAR: Final = "   "
NEAR: Final = "  "


class _Part(NamedTuple):
    """One thing that the header says; the heavier, the longer it stays."""

    weight: int
    tone: str
    full: str
    short: str = ""
    """Where it is tight; nothing where that is the same."""


@dataclass(frozen=True, slots=True)
class Headline:
    """What the header is made of."""

    runner: str
    session: str
    status: "RunStatus | None"
    queued: int
    as_of: int | None
    now: int
    trouble: str | None = None
    others: tuple[int, ...] = ()
    """Processes that host on the same database, too."""
    is_loading: bool = False
    is_past: bool = False
    """There were runs after the one that is shown."""
    is_elsewhere: bool = False
    """The run works in another process."""
    code: str | None = None
    """What is to be said of the runner's code: it was edited, or the run has the old."""

    def fit(self, width: int, glyphs: Glyphs) -> tuple[Sequence[Piece], Sequence[Piece]]:
        """The left and the right half: whole, or nearer together and shorter, or as many parts as there is room for."""
        left, right = self._left(glyphs), self._right(glyphs)
        for gap, is_short in ((FAR, False), (NEAR, False), (NEAR, True)):
            halves = _said(left, gap, is_short=is_short), _said(right, gap, is_short=is_short)
            if _width(halves) <= width:
                return halves
        # The heaviest stays longest, and the last is cut rather than left out.
        for lightest in sorted([*left, *right], key=lambda part: part.weight)[:-1]:
            left = [part for part in left if part is not lightest]
            right = [part for part in right if part is not lightest]
            halves = _said(left, NEAR, is_short=True), _said(right, NEAR, is_short=True)
            if _width(halves) <= width:
                return halves
        first, second = ([piece._replace(text=cut(piece.text, width - 1)) for piece in half] for half in halves)
        return first, second

    def _left(self, glyphs: Glyphs) -> list[_Part]:
        # Of an agent its runner, in brackets, is said where there is room.
        name, bracket, runner = one_line(self.runner, 80).partition(" (")
        name = cut(name, 24)
        parts = [
            _Part(1, "brand", "trackside"),
            _Part(8, "runner", f"{name}{cut(bracket + runner, 26)}", name),
            _Part(2, "faint", cut(one_line(self.session, 40), 24), cut(one_line(self.session, 40), 14)),
        ]
        status = self.status
        if self.is_loading and self.trouble:
            return parts  # the other half says why
        if self.is_loading:
            return [*parts, _Part(9, "starting", f"{glyphs['starting']} loading")]
        if status is None:
            return [*parts, _Part(9, "idle", f"{glyphs['idle']} idle")]
        words = one_line(status.words(self.now), 60) + (" · in another process" if self.is_elsewhere else "")
        told = f"{glyphs[status.state]} {words}"
        parts.append(_Part(9, status.state, cut(told, 60), cut(told, 40)))
        parts.append(_Part(6, "turn", f"turn {status.turn}", f"T{status.turn}"))
        parts.append(_Part(3, "faint", f"{_short(status.entries)} {'event' if status.entries == 1 else 'events'}"))
        if not status.is_over:
            parts.append(_Part(4, "faint", f"{_short(status.rate(self.now))} ev/s"))
        return parts

    def _right(self, glyphs: Glyphs) -> list[_Part]:
        parts: list[_Part] = []
        status = self.status
        if self.trouble:
            parts.append(_Part(10, "failed", f"{glyphs['lost']} {one_line(self.trouble, 60)}"))
        if self.others:
            parts.append(_Part(4, "faint", elsewhere(self.others)))
        if self.code:
            parts.append(_Part(7, "held", self.code))
        if self.queued:
            parts.append(_Part(7, "queued", f"{glyphs['queued']}{self.queued} queued"))
        if status is not None and not status.is_over and status.began_at is not None:
            parts.append(_Part(5, "faint", *_pulled(status, self.now)))
        if self.as_of is None and self.is_past:
            parts.append(_Part(6, "faint", "a past run", "past"))
        elif self.as_of is None:
            parts.append(_Part(6, "live", f"{glyphs['live']} live", "live"))
        else:
            parts.append(_Part(8, "as_of", f"as of #{self.as_of}"))
        return parts


def elsewhere(others: Sequence[int]) -> str:
    """`also open in process 4242`, `also open in 3 processes`."""
    return f"also open in {f'process {others[0]}' if len(others) == 1 else f'{len(others)} processes'}"


def _pulled(status: "RunStatus", now: int) -> tuple[str, str]:
    """When the run listened last, in full and in short."""
    if not status.can_steer:
        return "cannot be steered", "no steering"
    if status.last_pull_at is None:
        return "never pulled", "no pull"
    ago = now - status.last_pull_at
    return f"pull {duration(ago)} ago", f"pull {brief(ago)}"


def _short(count: int) -> str:
    """`999`, `2.1k`, `1.0M`."""
    if count < 1_000:
        return str(count)
    return f"{count / 1_000:.1f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"


def _said(parts: Sequence[_Part], gap: str, *, is_short: bool) -> list[Piece]:
    """The parts that say something, with gaps between."""
    said = [Piece(part.short or part.full if is_short else part.full, part.tone) for part in parts if part.full]
    return [piece for place, one in enumerate(said) for piece in ((Piece(gap, "faint"), one) if place else (one,))]


def _width(halves: tuple[Sequence[Piece], Sequence[Piece]]) -> int:
    return len(NEAR) + sum(cells(piece.text) for half in halves for piece in half)
