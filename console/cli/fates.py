"""What became of a message that was sent to a run at work, as people say it."""

from collections.abc import Mapping
from typing import Final

FATES: Final[Mapping[str, tuple[str, str]]] = {
    "queued": ("▲", "cyan"),
    "held": ("‖", "yellow"),
    "pulled": ("▼", "cyan"),
    "injected": ("▼", "green"),
    "dropped": ("✗", "red"),
    "withdrawn": ("✗", "dim"),
    "own_run": ("▸", "cyan"),
}
"""Glyph and colour of a fate; the word always stands beside them."""
_DROPPED: Final[Mapping[str, str]] = {
    "completed": "the run completed before it pulled",
    "failed": "the run failed before it pulled",
    "cancelled": "the run was cancelled before it pulled",
    "timeout": "the run ran out of time before it pulled",
    "runner_lost": "the runner was lost before it pulled",
    "host_restarted": "the process that hosted the run was lost",
    "host_closed": "the process that it waited in was closed",
}


def why_dropped(reason: str | None) -> str:
    """Why nobody got it."""
    return _DROPPED.get(reason or "", reason or "no reason is known")
