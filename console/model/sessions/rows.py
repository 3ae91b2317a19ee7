"""What is told beside a session, or beside a line that was found."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from console.model.run.state import RunState, stored_state
from console.model.sessions.tree import Branch
from console.model.text.columns import cells, cut
from console.model.text.glyphs import GLYPHS
from console.model.text.lists import Row, Source, Stack, Text, row
from console.model.text.piece import Piece
from console.model.text.safe import one_line, safe
from console.model.text.units import ago, brief, number, session_name
from engine.events import LIVE_STATUSES

BEFORE: Final = 24
"""Characters of what stands before it, at most."""
LEAST: Final = 10
"""Columns before and after it, at least."""
AFTER: Final = 240
_QUOTES: Final = "\"'“”"


def snippet(text: str, query: str, room: int = AFTER) -> list[Piece]:
    """The text around the first of the words that were looked for, which stands out and is seen in so many columns."""
    place, length = _place(text, query)
    start = max(0, place - BEFORE)
    if start or len(text) > room or cells(text) > room:
        # Of what stands before it so much that something is seen of what follows, too.
        before = max(LEAST, room - cells(text[place : place + length]) - LEAST)
        while start < place and cells(text[start:place]) > before:
            start += 1
    if start:
        # Where there are spaces it begins with a word.
        space = text.find(" ", start, place)
        start = space + 1 if space >= 0 else start
    led = ("…" if start else "") + one_line(text[start:place])
    pieces = [
        Piece(led, ""),
        Piece(one_line(text[place : place + length]), "warn"),
        Piece(one_line(text[place + length : place + length + AFTER], AFTER), ""),
    ]
    return [piece for piece in pieces if piece.text]


def _place(text: str, query: str) -> tuple[int, int]:
    """Where the first of them is, and how long; nowhere is the beginning. Search finds more than letters tell."""
    small = text.lower()
    if len(small) != len(text):
        return 0, 0  # a letter that grows in lower case: places would not be the text's
    found = [(small.find(word), len(word)) for word in (part.strip(_QUOTES) for part in query.lower().split()) if word]
    return min((each for each in found if each[0] >= 0), default=(0, 0))


if TYPE_CHECKING:
    from engine.api import Hit, SessionRow, TranscriptLine

_DETAILED: Final = 90
"""Columns from which a row says how much was said."""
TONES: Final[Mapping[str, str]] = {
    RunState.RUNNING: "good", RunState.COMPLETED: "faint", RunState.FAILED: "bad", RunState.TIMEOUT: "bad",
    RunState.LOST: "bad",
}  # fmt: skip
_DEEPEST: Final = 12
"""Steps to the right, at which a deep fork stays."""
_MOST: Final = 10_000
"""Counted no further."""


def state_of(session: "SessionRow") -> str:
    """The glyph's name of where a session stands."""
    if session.live_run is not None or session.last_status in LIVE_STATUSES:
        return RunState.RUNNING
    return "idle" if session.last_status is None else stored_state(session.last_status, session.last_reason)


def title_of(session: "SessionRow", most: int = 120) -> str:
    """What it is called, in so many characters."""
    own = session.session
    return one_line(session_name(own.session_id, own.title, session.beginning), most)


def session_row(branch: Branch, width: int, now: int, shown: str) -> Row:
    """Where it stands, what it is about, and at the right how much was said and when."""
    session, state = branch.row, state_of(branch.row)
    is_here = session.session.session_id == shown
    pieces = [Piece(f"{GLYPHS[state]} ", TONES.get(state, "faint")), Piece(title_of(session), "strong")]
    marks: list[Piece] = []
    if branch.depth and session.is_fork:
        marks.append(Piece("  fork", "faint"))
    if is_here:
        marks.append(Piece(f"  {GLYPHS['live']} you are here", "jump"))
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


def speaker(line: "TranscriptLine") -> str:
    """Who said it."""
    return {"user": "you", "assistant": "agent"}.get(line.role, one_line(line.role, 12))


def exchanged(session: "SessionRow") -> str:
    """How often something was said and answered in it."""
    return number(session.session.message_count, "exchange")


def counted(count: int, one: str) -> str:
    """`3 lines`, as far as the engine counts."""
    return number(count, one) if count < _MOST else f"{_MOST:,}+ {one}s"


if TYPE_CHECKING:
    from engine.api import Hit, SessionRow, TranscriptLine

_SAID: Final = 1_000
"""Characters of each line that are told beside its session."""
_FOUND: Final = 20_000
"""Of the one line that was found."""
_TITLE: Final = 2_000
"""Of a title: in a list it may be cut, here it is whole."""
_WORDS: Final[Mapping[str, str]] = {
    RunState.RUNNING: "at work", RunState.CANCELLED: "stopped", RunState.TIMEOUT: "timed out",
    RunState.LOST: "its runner was lost",
}  # fmt: skip


def about_session(
    session: "SessionRow",
    now: int,
    said: "Sequence[TranscriptLine]",
    words: str = "",
    *,
    parent: str = "",
) -> Source:
    """What is to be known of a session, and what was said in it last, the oldest first; or words in place of that.

    `parent` is what the one is called that it came from, where that is known.
    """
    own, state = session.session, state_of(session)
    told = [
        *_named(title_of(session, _TITLE), own.session_id),
        Text(
            Piece(f"{GLYPHS[state]} {_WORDS.get(state, state)}", TONES.get(state, "faint")),
            Piece(f" · {ago(now - own.last_active)}", "faint"),
        ),
        _faint(f"{exchanged(session)} · {counted(session.lines, 'line')}"),
    ]
    if session.children:
        told.append(_faint(f"{counted(session.children, 'session')} came of it"))
    if own.parent_session_id:
        whence = f"“{one_line(parent, 80)}”" if parent else one_line(own.parent_session_id, 80)
        told.append(_faint(f"{'forked' if session.is_fork else 'spawned'} from {whence}"))
    for line in said:
        told += [_faint(""), Text(Piece(speaker(line), "key")), *_prose(line.content or "", _SAID)]
    if words:
        told += [_faint(""), _faint(words)]
    return Stack(told)


def about_line(hit: "Hit", now: int) -> Source:
    """All of a line that was found."""
    line = hit.line
    return Stack(
        [
            *_named(one_line(session_name(line.conversation_id, hit.title), _TITLE), line.conversation_id),
            Text(Piece(speaker(line), "key"), Piece(f" · {ago(now - line.created_at)}", "faint")),
            _faint(""),
            *_prose(line.content or "", _FOUND),
        ]
    )


def _named(title: str, session_id: str) -> Iterator[Text]:
    yield Text(Piece(title, "heading"), hang=0)
    if one_line(session_id) != title:
        yield Text(Piece(one_line(session_id), "faint"), hang=0, copy=lambda: session_id)


def _prose(text: str, limit: int) -> Iterator[Text]:
    for line in safe(text[:limit]).expandtabs(4).split("\n"):
        yield Text(Piece(line, "text"), hang=0, copy=lambda: text)
    if len(text) > limit:
        yield _faint(f"… {len(text) - limit:,} more characters")


def _faint(words: str) -> Text:
    return Text(Piece(words, "faint"), hang=0)
