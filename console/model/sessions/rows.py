"""How a session and a line that was found look in a list."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from console.model.columns import cells, cut
from console.model.glyphs import Glyphs
from console.model.inspect.sheet import Row
from console.model.piece import Piece
from console.model.safe import one_line
from console.model.sessions.snippet import snippet
from console.model.sessions.tree import Branch
from console.model.shelf import row
from console.model.words import ago, brief, number, session_name

if TYPE_CHECKING:
    from engine.api import Hit, Line, SessionRow

_DETAILED: Final = 90
"""Columns from which a row says how much was said."""
_STATES: Final[Mapping[str, str]] = {
    "created": "running", "running": "running", "completed": "completed", "failed": "failed",
    "cancelled": "cancelled", "timeout": "timeout",
}  # fmt: skip
TONES: Final[Mapping[str, str]] = {
    "running": "good", "completed": "faint", "failed": "bad", "timeout": "bad", "lost": "bad",
}  # fmt: skip
_DEEPEST: Final = 12
"""Steps to the right, at which a deep fork stays."""
_MOST: Final = 10_000
"""Counted no further."""


def state_of(session: "SessionRow") -> str:
    """The glyph's name of where a session stands."""
    if session.live_run is not None:
        return "running"
    if session.last_reason == "runner.lost":
        return "lost"
    return _STATES.get(session.last_status or "", "idle")


def title_of(session: "SessionRow", most: int = 120) -> str:
    """What it is called, in so many characters."""
    own = session.session
    return one_line(session_name(own.session_id, own.title, session.beginning), most)


def session_row(branch: Branch, width: int, glyphs: Glyphs, now: int, shown: str) -> Row:
    """Where it stands, what it is about, and at the right how much was said and when."""
    session, state = branch.row, state_of(branch.row)
    is_here = session.session.session_id == shown
    pieces = [Piece(f"{glyphs[state]} ", TONES.get(state, "faint")), Piece(title_of(session), "strong")]
    marks: list[Piece] = []
    if branch.depth and session.is_fork:
        marks.append(Piece("  fork", "faint"))
    if is_here:
        marks.append(Piece(f"  {glyphs['live']} you are here", "jump"))
    if session.live_run is not None:
        marks.append(Piece("  at work", "good"))
    age = now - session.session.last_active
    right = brief(age) if age >= 60_000_000 else "now"
    if width >= _DETAILED:
        right = f"{exchanged(session):>12} · {counted(session.lines, 'line'):>9} · {ago(age):>12}"
    # Those without a sign to fold stand as far right as those with one.
    indent = 2 * min(branch.depth, _DEEPEST) + (2 if branch.is_open is None else 0)
    return row(width, pieces, right, marks=marks, indent=indent, is_open=branch.is_open)


def hit_row(hit: "Hit", query: str, width: int, now: int) -> Row:
    """In which session it was said, by whom, and the place in it that was looked for, which is always seen."""
    line = hit.line
    right = ago(now - line.created_at) if width >= _DETAILED else brief(now - line.created_at)
    title = cut(one_line(session_name(line.conversation_id, hit.title), 40), width // 3)
    where = [Piece(f"{title}  ", "key"), Piece(f"{speaker(line)}: ", "faint")]
    room = width - sum(cells(piece.text) for piece in where) - cells(right) - 6  # margins, and a gap before the right
    return row(width, [*where, *snippet(line.content or "", query, room)], right, indent=2)


def speaker(line: "Line") -> str:
    """Who said it."""
    return {"user": "you", "assistant": "agent"}.get(line.role, one_line(line.role, 12))


def exchanged(session: "SessionRow") -> str:
    """How often something was said and answered in it."""
    return number(session.session.message_count, "exchange")


def counted(count: int, one: str) -> str:
    """`3 lines`, as far as the engine counts."""
    return number(count, one) if count < _MOST else f"{_MOST:,}+ {one}s"
