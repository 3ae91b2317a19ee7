"""The rows of the runs list: runs and sessions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from console.model.run.state import RunState, stored_state
from console.model.sessions.rows import state_of, title_of
from console.model.text.safe import one_line
from console.model.text.units import ago, brief, duration, number, short_run, short_runner
from engine.events import LIVE_STATUSES

if TYPE_CHECKING:
    from engine.api import RunRow, SessionRow

_MAX_TITLE_CHARS: Final = 120
_SECOND_US: Final = 1_000_000
_MINUTE_US: Final = 60 * _SECOND_US


@dataclass(frozen=True, slots=True)
class ListRow:
    """One row: glyph name, title, and details in a short and a full form."""

    id: str
    glyph: str
    title: str
    short: str
    """The details for a narrow list."""
    full: str
    is_shown: bool = False


@dataclass(frozen=True, slots=True)
class ListRows:
    """All rows of the list."""

    runs: Sequence[ListRow] = ()
    sessions: Sequence[ListRow] = ()
    has_more: bool = False
    """Earlier runs exist that are not listed."""


def run_row(run: "RunRow", now: int, shown: str | None, *, is_here: bool = True) -> ListRow:
    """Return the row of a run: its input, its duration, and when it ended. `shown` is the id of the run on screen."""
    state = stored_state(run.status, run.status_reason)
    if run.status in LIVE_STATUSES and run.cancel_requested_at is not None:
        state = RunState.STOPPING
    title_parts = (str(run.metadata.get(key) or "").strip() for key in ("event_type", "input"))
    title = one_line(" ".join(filter(None, title_parts)) or short_run(run.run_id), _MAX_TITLE_CHARS)
    took = (run.finished_at or now) - (run.started_at or run.created_at)
    short, full = (brief(took), duration(took)) if run.status not in LIVE_STATUSES else _time_so_far(took)
    details = [full, short_runner(run.runner_id)]
    if run.status not in LIVE_STATUSES:
        details.insert(1, ago(now - (run.finished_at or run.updated_at)))
    elif not is_here:
        short = "elsewhere"
        details.insert(0, "in another process")
    return ListRow(run.run_id, state, title, short, one_line(" · ".join(details)), run.run_id == shown)


def session_row(row: "SessionRow", now: int, shown: str) -> ListRow:
    """Return the row of a session: its name, state, number of events and time of the last one."""
    session = row.session
    is_shown, age = session.session_id == shown, now - session.last_active
    count = number(session.message_count, "event") if session.message_count else "no events yet"
    short = brief(age) if age >= _MINUTE_US else "now"
    # The header shows the state of the active session.
    glyph = "live" if is_shown else state_of(row)
    return ListRow(session.session_id, glyph, title_of(row), short, f"{count} · {ago(age)}", is_shown)


def _time_so_far(took: int) -> tuple[str, str]:
    """Return the time so far in whole seconds: rows are drawn once a second, so tenths would differ from the header."""
    seconds = took // _SECOND_US
    return (f"{seconds}s", f"{seconds} s") if took < _MINUTE_US else (brief(took), duration(took))
