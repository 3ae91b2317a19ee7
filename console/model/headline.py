"""The line at the top: who runs, where it stands, what waits. Where it is tight the lightest parts go first."""

from collections.abc import Sequence
from dataclasses import dataclass

from console.model.glyphs import Glyphs
from console.model.ribbon import Piece
from console.model.safe import one_line
from console.model.status import RunStatus
from console.model.words import duration

GAP = "   "


@dataclass(frozen=True, slots=True)
class Headline:
    """What the header is made of."""

    runner: str
    session: str
    status: RunStatus | None
    queued: int
    as_of: int | None
    now: int
    trouble: str | None = None
    is_loading: bool = False

    def fit(self, width: int, glyphs: Glyphs) -> tuple[Sequence[Piece], Sequence[Piece]]:
        """The left and the right half, with as many parts as there is room for."""
        left, right = self._left(glyphs), self._right(glyphs)
        # Each part has a weight; the heaviest stays longest.
        parts = sorted([*left, *right], key=lambda part: part[0])
        while parts and _width(left) + _width(right) + len(GAP) > width:
            lightest = parts.pop(0)
            left = [part for part in left if part is not lightest]
            right = [part for part in right if part is not lightest]
        return [part[1] for part in left], [part[1] for part in right]

    def _left(self, glyphs: Glyphs) -> list[tuple[int, Piece]]:
        parts = [(2, Piece("trackside", "brand")), (8, Piece(one_line(self.runner, 40), "runner"))]
        parts.append((1, Piece(one_line(self.session, 30), "faint")))
        status = self.status
        if self.is_loading:
            return [*parts, (9, Piece(f"{glyphs['starting']} loading", "starting"))]
        if status is None:
            return [*parts, (9, Piece(f"{glyphs['idle']} idle", "idle"))]
        words = one_line(status.words(self.now), 60)
        parts.append((9, Piece(f"{glyphs[status.state]} {words}", status.state)))
        parts.append((6, Piece(f"T{status.turn}", "turn")))
        parts.append((4, Piece(f"{_short(status.entries)} events", "faint")))
        if not status.is_over:
            parts.append((3, Piece(f"{_short(status.rate(self.now))} ev/s", "faint")))
        return parts

    def _right(self, glyphs: Glyphs) -> list[tuple[int, Piece]]:
        parts: list[tuple[int, Piece]] = []
        status = self.status
        if self.trouble:
            parts.append((10, Piece(f"{glyphs['lost']} {one_line(self.trouble, 60)}", "failed")))
        if self.queued:
            parts.append((7, Piece(f"{glyphs['queued']}{self.queued} queued", "queued")))
        if status is not None and not status.is_over and status.began_at is not None:
            parts.append((5, Piece(_pulled(status, self.now), "faint")))
        where = f"as of #{self.as_of}" if self.as_of is not None else f"{glyphs['live']} live"
        parts.append((6, Piece(where, "as_of" if self.as_of is not None else "live")))
        return parts


def _pulled(status: RunStatus, now: int) -> str:
    if not status.can_steer:
        return "cannot be steered"
    if status.last_pull_at is None:
        return "never pulled"
    return f"pull {duration(now - status.last_pull_at)} ago"


def _short(count: int) -> str:
    """`999`, `2.1k`, `1.0M`."""
    if count < 1_000:
        return str(count)
    return f"{count / 1_000:.1f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"


def _width(parts: Sequence[tuple[int, Piece]]) -> int:
    return sum(len(part[1].text) + len(GAP) for part in parts)
