"""Rows and details of the session browser: sessions, and transcript lines that a search found."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from console.model.run.state import RunState, stored_state
from console.model.sessions.line_place import place_of
from console.model.sessions.stored_size import total_text
from console.model.sessions.tree import SessionNode
from console.model.text.columns import cells, cut
from console.model.text.glyphs import GLYPHS
from console.model.text.lists import Row, Source, Stack, Text, row
from console.model.text.piece import Piece
from console.model.text.safe import one_line, safe
from console.model.text.units import ago, brief, number, session_name, short_path, short_session, who_runs
from console.model.text.word_match import without_accents
from engine.events import LIVE_STATUSES

if TYPE_CHECKING:
    from engine.api import Hit, Session, SessionRow, StoredSize, TranscriptLine

DETAILED_COLUMNS: Final = 90
"""The width of a row from which it shows counts and the full age."""
MAX_INDENT_STEPS: Final = 12
MAX_COUNT: Final = 10_000
"""The engine counts lines and children up to this number."""
MAX_LINE_CHARS: Final = 1_000
"""Characters of each of the last lines in the details of a session."""
MAX_FOUND_LINE_CHARS: Final = 20_000
"""Characters of a found line in its details."""
MAX_TITLE_CHARS: Final = 2_000
"""Characters of a title in the details; rows cut it."""
MAX_METADATA_CHARS: Final = 500
KEYS_OF_FORKS: Final = frozenset({"forked_from", "forked_at"})
"""Keys of the metadata that the engine sets."""
SNIPPET_CHARS_BEFORE: Final = 24
SNIPPET_CHARS_AFTER: Final = 240
MIN_SNIPPET_COLUMNS: Final = 10
"""Columns that stay for the text before and after the found word."""
TONES: Final[Mapping[str, str]] = {
    RunState.RUNNING: "good", RunState.COMPLETED: "faint", RunState.FAILED: "bad", RunState.TIMEOUT: "bad",
    RunState.LOST: "bad",
}  # fmt: skip
_STATE_LABELS: Final[Mapping[str, str]] = {
    RunState.CANCELLED: "stopped", RunState.TIMEOUT: "timed out", RunState.LOST: "runner lost",
}  # fmt: skip
_QUOTES: Final = "\"'“”"
_MINUTE_US: Final = 60_000_000


def state_of(session: "SessionRow") -> str:
    """The state of a session, as the name of its glyph."""
    if session.live_run is not None or session.last_status in LIVE_STATUSES:
        return RunState.RUNNING
    return "idle" if session.last_status is None else stored_state(session.last_status, session.last_reason)


def title_of(session: "SessionRow", max_chars: int = 120) -> str:
    own = session.session
    return one_line(session_name(own.session_id, own.title, session.beginning), max_chars)


# Rows


def session_row(node: SessionNode, width: int, now: int, open_session: str) -> Row:
    """A session: state, title and marks; at the right its counts and its age."""
    session, state = node.row, state_of(node.row)
    pieces = [Piece(f"{GLYPHS[state]} ", TONES.get(state, "faint")), Piece(title_of(session), "strong")]
    marks: list[Piece] = []
    if node.depth and session.is_fork:
        marks.append(Piece("  fork", "faint"))
    if session.session.session_id == open_session:
        marks.append(Piece(f"  {GLYPHS['live']} you are here", "jump"))
    if session.live_run is not None:
        marks.append(Piece("  running", "good"))
    age = now - session.session.last_active
    right = brief(age) if age >= _MINUTE_US else "now"
    if width >= DETAILED_COLUMNS:
        right = f"{event_count(session):>12} · {count_text(session.lines, 'message'):>12} · {ago(age):>12}"
    # A row without a fold glyph starts in the same column as one with it.
    indent = 2 * min(node.depth, MAX_INDENT_STEPS) + (2 if node.is_open is None else 0)
    return row(width, pieces, right, marks=marks, indent=indent, is_open=node.is_open)


def hit_row(hit: "Hit", query: str, width: int, now: int) -> Row:
    """A found line: session, speaker, and the text around the found word, which is always visible."""
    line = hit.line
    right = ago(now - line.created_at) if width >= DETAILED_COLUMNS else brief(now - line.created_at)
    title = cut(one_line(session_name(line.conversation_id, hit.title), 40), width // 3)
    where = [Piece(f"{title}  ", "key"), Piece(f"{speaker(line)}: ", "faint")]
    room = width - sum(cells(piece.text) for piece in where) - cells(right) - 6  # margins, and a gap before the right
    return row(width, [*where, *snippet(line.content or "", query, room)], right, indent=2)


def snippet(text: str, query: str, room: int = SNIPPET_CHARS_AFTER) -> list[Piece]:
    """The text around the first query word in it, which is highlighted and fits into `room` columns."""
    place, length = _find_word(text, query)
    start = max(0, place - SNIPPET_CHARS_BEFORE)
    if start or len(text) > room or cells(text) > room:
        # Cut the text before the word, so that some of the text after it is visible too.
        before = max(MIN_SNIPPET_COLUMNS, room - cells(text[place : place + length]) - MIN_SNIPPET_COLUMNS)
        while start < place and cells(text[start:place]) > before:
            start += 1
    if start:
        # Start with a whole word if there are spaces.
        space = text.find(" ", start, place)
        start = space + 1 if space >= 0 else start
    end = place + length
    pieces = [
        Piece(("…" if start else "") + one_line(text[start:place]), ""),
        Piece(one_line(text[place:end]), "warn"),
        Piece(one_line(text[end : end + SNIPPET_CHARS_AFTER], SNIPPET_CHARS_AFTER), ""),
    ]
    return [piece for piece in pieces if piece.text]


def _find_word(text: str, query: str) -> tuple[int, int]:
    """The place and length of the first query word; (0, 0) if no word is in the text, whatever case and accents."""
    small = without_accents(text.lower())
    if len(small) != len(text):
        return 0, 0  # a letter that gets longer or shorter moves all places after it
    words = [part.strip(_QUOTES) for part in without_accents(query.lower()).split()]
    found = [(small.find(word), len(word)) for word in words if word]
    return min((each for each in found if each[0] >= 0), default=(0, 0))


def speaker(line: "TranscriptLine") -> str:
    return {"user": "you", "assistant": "agent"}.get(line.role, one_line(line.role, 12))


def event_count(session: "SessionRow") -> str:
    """The number of events that started or joined a run, as text."""
    return number(session.session.message_count, "event")


def count_text(count: int, noun: str) -> str:
    """`3 messages`; `10,000+ messages` from MAX_COUNT on."""
    return number(count, noun) if count < MAX_COUNT else f"{MAX_COUNT:,}+ {noun}s"


# Details


def session_details(
    session: "SessionRow",
    now: int,
    last_lines: "Sequence[TranscriptLine]",
    remark: str = "",
    *,
    parent_title: str = "",
    stored: "StoredSize | None" = None,
) -> Source:
    """A session in full, with its last lines, oldest first, or a remark in place of them.

    `stored` is its size; None until it is read.
    """
    own, state = session.session, state_of(session)
    on_disk = f"{total_text(stored)} on disk" if stored is not None else ""
    parts = [
        *_title_lines(title_of(session, MAX_TITLE_CHARS), own.session_id),
        Text(
            Piece(f"{GLYPHS[state]} {_STATE_LABELS.get(state, state)}", TONES.get(state, "faint")),
            Piece(f" · {ago(now - own.last_active)}", "faint"),
        ),
        _faint(" · ".join(filter(None, (event_count(session), count_text(session.lines, "message"), on_disk)))),
    ]
    if session.children:
        parts.append(_faint(count_text(session.children, "child session")))
    if own.parent_session_id:
        parent = f"“{one_line(parent_title, 80)}”" if parent_title else short_session(own.parent_session_id)
        parts.append(_faint(f"{'forked' if session.is_fork else 'spawned'} from {parent}"))
    parts += map(_faint, _own_facts(own))
    for line in last_lines:
        parts += [_faint(""), _speaker_line(line), *_content_lines(line.content or "", MAX_LINE_CHARS)]
    if remark:
        parts += [_faint(""), _faint(remark)]
    return Stack(parts)


def own_metadata(session: "Session") -> dict[str, Any]:
    """The metadata that users set, without the keys that say where the session was forked."""
    return {key: value for key, value in session.metadata.items() if key not in KEYS_OF_FORKS}


def _own_facts(session: "Session") -> Iterator[str]:
    """The user, the runner of the last run, and the metadata, as far as there are any."""
    if session.user_id:
        yield f"user {one_line(session.user_id, 80)}"
    if session.runner_id:
        project = f" in {one_line(short_path(session.project), 200)}" if session.project else ""
        yield f"last run by {one_line(who_runs(session.agent_id, session.runner_id), 80)}{project}"
    if metadata := own_metadata(session):
        yield f"metadata {one_line(json.dumps(metadata, ensure_ascii=False), MAX_METADATA_CHARS)}"


def _speaker_line(line: "TranscriptLine", remark: str = "") -> Text:
    """Who said a line, and in which thread and to which bot."""
    label = " · ".join(filter(None, (place_of(line).label, remark)))
    return Text(Piece(speaker(line), "key"), *([Piece(f" · {label}", "faint")] if label else ()))


def line_details(hit: "Hit", now: int) -> Source:
    """A found line in full."""
    line = hit.line
    title = one_line(session_name(line.conversation_id, hit.title), MAX_TITLE_CHARS)
    return Stack(
        [
            *_title_lines(title, line.conversation_id),
            _speaker_line(line, ago(now - line.created_at)),
            _faint(""),
            *_content_lines(line.content or "", MAX_FOUND_LINE_CHARS),
        ]
    )


def _title_lines(title: str, session_id: str) -> Iterator[Text]:
    yield Text(Piece(title, "heading"), hang=0)
    if short_session(session_id) != title:
        yield Text(Piece(short_session(session_id), "faint"), hang=0, copy=lambda: session_id)


def _content_lines(text: str, max_chars: int) -> Iterator[Text]:
    for line in safe(text[:max_chars]).expandtabs(4).split("\n"):
        yield Text(Piece(line, "text"), hang=0, copy=lambda: text)
    if len(text) > max_chars:
        yield _faint(f"… {len(text) - max_chars:,} more characters")


def _faint(words: str) -> Text:
    return Text(Piece(words, "faint"), hang=0)
