"""The states of a run as the console shows them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from engine.events import EndReason, Status


class RunState(StrEnum):
    """The state of a run. The value is also the name of its glyph and of its tone."""

    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    """Shown to the user as stopped."""
    TIMEOUT = "timeout"
    LOST = "lost"
    """The runner process is gone. The status of the run is `failed`."""


_BY_STATUS: Final[Mapping[str, RunState]] = {
    Status.CREATED: RunState.STARTING,
    Status.RUNNING: RunState.RUNNING,
    Status.COMPLETED: RunState.COMPLETED,
    Status.FAILED: RunState.FAILED,
    Status.CANCELLED: RunState.CANCELLED,
    Status.TIMEOUT: RunState.TIMEOUT,
}


def stored_state(status: str, reason: str | None) -> RunState:
    """Return the state for the stored status of a run and the reason of its end. An unknown status is a failure."""
    return RunState.LOST if reason == EndReason.LOST else _BY_STATUS.get(status, RunState.FAILED)
