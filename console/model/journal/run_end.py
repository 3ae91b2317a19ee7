"""The words for the end of a run and for the reason why a message was dropped."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from console.model.run.state import RunState, stored_state
from console.model.text.units import duration
from engine.events import FINAL_STATUSES, DropReason, EndReason, RunFinished, Status

_HOST_LOST: Final = "the process that hosted the run was lost"
_FAILURE_CAUSES: Final[Mapping[str, str]] = {
    EndReason.EXCEPTION: "the runner raised an exception",
    EndReason.NOT_LOADED: "the runner could not be loaded",
    EndReason.HOST_RESTARTED: _HOST_LOST,
    EndReason.PROTOCOL_ERROR: "the runner broke the protocol",
    EndReason.JOURNAL_FULL: "the journal of the run is full",
    EndReason.STORAGE_FAILED: "the database could not be written",
    EndReason.HOST_FAILED: "the host failed",
    EndReason.STALE: "it was left open",
}
_RUN_ENDS: Final[Mapping[str, str]] = {
    DropReason.COMPLETED: "run completed",
    DropReason.FAILED: "run failed",
    DropReason.CANCELLED: "run was stopped",
    DropReason.TIMEOUT: "run timed out",
    DropReason.RUNNER_LOST: "runner was lost",
}
_HOST_ENDS: Final[Mapping[str, str]] = {
    DropReason.HOST_RESTARTED: _HOST_LOST,
    DropReason.HOST_CLOSED: "the process that queued it was closed",
    DropReason.SESSION_DELETED: "its session was deleted",
}
_USUAL_REASONS: Final = ("", EndReason.STOP, EndReason.ENDED)
_LONGER_THAN: Final = re.compile(r"the run took longer than (.{1,20} s)")
_EXITED: Final = re.compile(r"the runner exited with code (-?\d{1,5})")
_KILLED: Final = re.compile(r"the runner was killed by (\w{1,20})")


class EndWords(NamedTuple):
    """The end of a run in words."""

    state: RunState
    words: str
    error: str
    """The part of the error message that the words do not contain."""
    is_failure: bool


def end_state(payload: RunFinished) -> RunState:
    """Return the state of a run that has ended."""
    return stored_state(payload.status if payload.status in FINAL_STATUSES else Status.FAILED, payload.reason)


def end_words(payload: RunFinished, *, took: int | None, by_user: bool, by_runner: bool) -> EndWords:
    """Return the words for `run.finished`, given who ended the run; `took` in microseconds."""
    error = payload.error
    match payload.status:
        case Status.COMPLETED:
            return EndWords(RunState.COMPLETED, _completed_words(payload.reason), error, False)
        case Status.CANCELLED:
            words = "stopped by you" if by_user else "stopped by the runner" if by_runner else "stopped"
            return EndWords(RunState.CANCELLED, words, error, False)
        case Status.TIMEOUT:
            return _timeout_words(error, took, by_runner=by_runner)
        case _ if payload.reason == EndReason.LOST:
            return lost_words(error)
        case _:
            cause = "reported by the runner" if by_runner else _FAILURE_CAUSES.get(payload.reason, "")
            return EndWords(RunState.FAILED, f"failed: {cause}" if cause else "failed", error, True)


def drop_reason_words(reason: str | None, before: str = "it pulled") -> str:
    """Return why a message was dropped: `run failed before it pulled`."""
    if reason in _RUN_ENDS:
        return f"{_RUN_ENDS[reason]} before {before}"
    return _HOST_ENDS.get(reason or "", reason or "no reason given")


def lost_words(error: str) -> EndWords:
    """Return the words for a lost runner, with its exit code or signal if known."""
    if code := _EXITED.match(error):
        return EndWords(RunState.LOST, f"runner exited (code {code[1]})", error[code.end() :].strip(" .:;"), True)
    if signal := _KILLED.match(error):
        return EndWords(RunState.LOST, f"runner killed ({signal[1]})", error[signal.end() :].strip(" .:;"), True)
    return EndWords(RunState.LOST, "runner lost", error, True)


def _completed_words(reason: str) -> str:
    if reason == EndReason.NO_OUTPUT:
        return "completed with no output"
    return "completed" if reason in _USUAL_REASONS else f"completed ({reason})"


def _timeout_words(error: str, took: int | None, *, by_runner: bool) -> EndWords:
    if by_runner:
        return EndWords(RunState.TIMEOUT, "the runner reported a timeout", error, True)
    limit = _LONGER_THAN.fullmatch(error)
    after = limit[1] if limit else "" if took is None else duration(took)
    words = f"timed out after {after}" if after else "timed out"
    return EndWords(RunState.TIMEOUT, words, "" if limit else error, True)
