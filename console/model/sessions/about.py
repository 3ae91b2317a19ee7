"""What is told beside a session, or beside a line that was found."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from console.model.glyphs import Glyphs
from console.model.inspect.sheet import Source, Stack, Text
from console.model.piece import Piece
from console.model.safe import one_line, safe
from console.model.sessions.rows import TONES, counted, exchanged, speaker, state_of, title_of
from console.model.words import ago, session_name

if TYPE_CHECKING:
    from engine.api import Hit, Line, SessionRow

_SAID: Final = 1_000
"""Characters of each line that are told beside its session."""
_FOUND: Final = 20_000
"""Of the one line that was found."""
_TITLE: Final = 2_000
"""Of a title: in a list it may be cut, here it is whole."""
_WORDS: Final = {"running": "at work", "cancelled": "stopped", "timeout": "timed out", "lost": "its runner was lost"}


def about_session(
    session: "SessionRow", glyphs: Glyphs, now: int, said: "Sequence[Line]", words: str = "", *, parent: str = ""
) -> Source:
    """What is to be known of a session, and what was said in it last, the oldest first; or words in place of that.

    `parent` is what the one is called that it came from, where that is known.
    """
    own, state = session.session, state_of(session)
    told = [
        *_named(title_of(session, _TITLE), own.session_id),
        Text(
            Piece(f"{glyphs[state]} {_WORDS.get(state, state)}", TONES.get(state, "faint")),
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
