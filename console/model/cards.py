"""Runs and sessions as the rail lists them."""

from dataclasses import dataclass

from console.model.safe import one_line
from console.model.words import duration, short_run
from engine.api import RunRow, Session

_STATES = {"created": "starting", "running": "running", "completed": "completed", "failed": "failed",
           "cancelled": "cancelled", "timeout": "timeout"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Card:
    """One row: a glyph's name, what it is about, and how long it took or takes."""

    id: str
    glyph: str
    title: str
    detail: str
    is_shown: bool = False


def run_card(run: RunRow, now: int, shown: str | None) -> Card:
    """A run by what was asked of it."""
    state = "lost" if run.status_reason == "runner.lost" else _STATES.get(run.status, "failed")
    title = one_line(str(run.metadata.get("input") or "").strip() or short_run(run.run_id), 40)
    began = run.started_at or run.created_at
    return Card(run.run_id, state, title, duration((run.finished_at or now) - began), run.run_id == shown)


def session_card(session: Session, shown: str) -> Card:
    """A session by its title."""
    title = one_line(session.title or session.session_id, 40)
    here = session.session_id == shown
    return Card(session.session_id, "live" if here else "idle", title, f"{session.message_count}×", here)
