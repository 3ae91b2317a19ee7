"""Runs and sessions as the rail lists them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from console.model.safe import one_line
from console.model.sessions.rows import state_of, title_of
from console.model.words import ago, brief, duration, number, short_run, short_runner

if TYPE_CHECKING:
    from engine.api import RunRow, SessionRow

_STATES: Final = {"created": "starting", "running": "running", "completed": "completed", "failed": "failed",
                  "cancelled": "cancelled", "timeout": "timeout"}  # fmt: skip
_AT_WORK: Final = ("created", "running")
_LONGEST: Final = 120
_SECOND: Final = 1_000_000
_MINUTE: Final = 60 * _SECOND
ELSEWHERE: Final = "elsewhere"


@dataclass(frozen=True, slots=True)
class Card:
    """One row: a glyph's name, what it is about, and what is to be known of it, in a word or in full."""

    id: str
    glyph: str
    title: str
    short: str
    """Where there is little room."""
    full: str
    is_shown: bool = False


@dataclass(frozen=True, slots=True)
class Cards:
    """All that is listed."""

    runs: Sequence[Card] = ()
    sessions: Sequence[Card] = ()
    has_more: bool = False
    """There are earlier runs."""


def run_card(run: "RunRow", now: int, shown: str | None, *, is_here: bool = True) -> Card:
    """A run by what was asked of it: how long it works, or how long it took and when that was."""
    state = "lost" if run.status_reason == "runner.lost" else _STATES.get(run.status, "failed")
    if run.status in _AT_WORK and run.cancel_requested_at is not None:
        state = "stopping"
    asked = (str(run.metadata.get(key) or "").strip() for key in ("event_type", "input"))
    title = one_line(" ".join(filter(None, asked)) or short_run(run.run_id), _LONGEST)
    took = (run.finished_at or now) - (run.started_at or run.created_at)
    short, full = (brief(took), duration(took)) if run.status not in _AT_WORK else _ticking(took)
    details = [full, short_runner(run.runner_id)]
    if run.status not in _AT_WORK:
        details.insert(1, ago(now - (run.finished_at or run.updated_at)))
    elif not is_here:
        short = ELSEWHERE
        details.insert(0, "in another process")
    return Card(run.run_id, state, title, short, one_line(" · ".join(details)), run.run_id == shown)


def session_card(row: "SessionRow", now: int, shown: str) -> Card:
    """A session by its name: where it stands, how much was said in it, and when last."""
    session = row.session
    is_shown, age = session.session_id == shown, now - session.last_active
    said = number(session.message_count, "exchange") if session.message_count else "no answer yet"
    short = brief(age) if age >= _MINUTE else "now"
    # The header tells where the one stands that is shown.
    glyph = "live" if is_shown else state_of(row)
    return Card(session.session_id, glyph, title_of(row), short, f"{said} · {ago(age)}", is_shown)


def _ticking(took: int) -> tuple[str, str]:
    """How long it works by now. It is told anew once a second, so a tenth of one would be another in the header."""
    seconds = took // _SECOND
    return (f"{seconds}s", f"{seconds} s") if took < _MINUTE else (brief(took), duration(took))
