"""The rows of the runs list: runs and sessions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from console.model.journal.run_end import LOST
from console.model.run.status import STARTING, STOPPING
from console.model.sessions.rows import state_of, title_of
from console.model.text.safe import one_line
from console.model.text.units import ago, brief, duration, number, short_run, short_runner
from engine.events import LIVE_STATUSES, EndReason, Status

if TYPE_CHECKING:
    from engine.api import RunRow, SessionRow

_STATES: Final[Mapping[str, str]] = {
    Status.CREATED: STARTING,
    **{each: each.value for each in Status if each is not Status.CREATED},
}
_LONGEST: Final = 120
_SECOND: Final = 1_000_000
_MINUTE: Final = 60 * _SECOND
ELSEWHERE: Final = "elsewhere"


@dataclass(frozen=True, slots=True)
class Card:
    """One row: glyph name, title, and details in a short and a full form."""

    id: str
    glyph: str
    title: str
    short: str
    """The details for a narrow list."""
    full: str
    is_shown: bool = False


@dataclass(frozen=True, slots=True)
class Cards:
    """All rows."""

    runs: Sequence[Card] = ()
    sessions: Sequence[Card] = ()
    has_more: bool = False
    """Earlier runs exist that are not listed."""


def run_card(run: "RunRow", now: int, shown: str | None, *, is_here: bool = True) -> Card:
    """The row of a run: its input, its duration, and when it ended."""
    state = LOST if run.status_reason == EndReason.LOST else _STATES.get(run.status, Status.FAILED)
    if run.status in LIVE_STATUSES and run.cancel_requested_at is not None:
        state = STOPPING
    asked = (str(run.metadata.get(key) or "").strip() for key in ("event_type", "input"))
    title = one_line(" ".join(filter(None, asked)) or short_run(run.run_id), _LONGEST)
    took = (run.finished_at or now) - (run.started_at or run.created_at)
    short, full = (brief(took), duration(took)) if run.status not in LIVE_STATUSES else _ticking(took)
    details = [full, short_runner(run.runner_id)]
    if run.status not in LIVE_STATUSES:
        details.insert(1, ago(now - (run.finished_at or run.updated_at)))
    elif not is_here:
        short = ELSEWHERE
        details.insert(0, "in another process")
    return Card(run.run_id, state, title, short, one_line(" · ".join(details)), run.run_id == shown)


def session_card(row: "SessionRow", now: int, shown: str) -> Card:
    """The row of a session: its name, state, number of messages and time of the last one."""
    session = row.session
    is_shown, age = session.session_id == shown, now - session.last_active
    said = number(session.message_count, "exchange") if session.message_count else "no answer yet"
    short = brief(age) if age >= _MINUTE else "now"
    # The header shows the state of the active session.
    glyph = "live" if is_shown else state_of(row)
    return Card(session.session_id, glyph, title_of(row), short, f"{said} · {ago(age)}", is_shown)


def _ticking(took: int) -> tuple[str, str]:
    """The time so far, in whole seconds: rows are drawn once a second, so tenths would differ from the header."""
    seconds = took // _SECOND
    return (f"{seconds}s", f"{seconds} s") if took < _MINUTE else (brief(took), duration(took))
