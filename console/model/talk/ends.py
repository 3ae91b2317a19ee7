"""How runs end and why messages to them are dropped, as people say it."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from console.model.words import duration

_FAILURES: Final[Mapping[str, str]] = {
    "runner.exception": "the runner raised an exception",
    "runner.not_loaded": "the runner could not be loaded",
    "host_restarted": "the process that hosted the run was lost",
    "protocol.error": "the runner broke the protocol",
    "journal.full": "the run wrote more than a journal may hold",
    "storage.failed": "the database could not be written",
    "host.failed": "the host itself failed",
}
_ENDS: Final[Mapping[str, str]] = {
    "completed": "run completed",
    "failed": "run failed",
    "cancelled": "run was stopped",
    "timeout": "run ran out of time",
    "runner_lost": "runner was lost",
}
_GONE: Final[Mapping[str, str]] = {
    "host_restarted": "the process that hosted the run was lost",
    "host_closed": "the process that it waited in was closed",
}
_USUAL: Final = ("", "stop", "ended")
_LONGER_THAN: Final = re.compile(r"the run took longer than (.{1,20} s)")
_EXITED: Final = re.compile(r"the runner exited with code (-?\d{1,5})")
_KILLED: Final = re.compile(r"the runner was killed by (\w{1,20})")


class Ended(NamedTuple):
    """An end in words."""

    state: str
    """A glyph's name."""
    words: str
    error: str
    """What the words do not say already."""
    is_failure: bool


def ended(status: str, reason: str, error: str, *, took: int | None, by_person: bool, by_runner: bool) -> Ended:
    """What `run.finished` means; `by_runner` where the runner itself said so, `by_person` where someone stopped it."""
    match status:
        case "completed":
            return Ended("completed", _completed(reason), error, False)
        case "cancelled":
            words = "stopped by you" if by_person else "cancelled by the runner" if by_runner else "stopped"
            return Ended("cancelled", words, error, False)
        case "timeout":
            return _timeout(error, took, by_runner=by_runner)
        case _ if reason == "runner.lost":
            return lost(error)
        case _:
            known = "the runner says so" if by_runner else _FAILURES.get(reason, "")
            return Ended("failed", f"failed: {known}" if known else "failed", error, True)


def why_dropped(reason: str | None, before: str = "it pulled") -> str:
    """Why nobody got a message: `run failed before it pulled`."""
    if reason in _ENDS:
        return f"{_ENDS[reason]} before {before}"
    return _GONE.get(reason or "", reason or "no reason is known")


def _completed(reason: str) -> str:
    if reason == "no output":
        return "completed with no output"
    return "completed" if reason in _USUAL else f"completed ({reason})"


def _timeout(error: str, took: int | None, *, by_runner: bool) -> Ended:
    if by_runner:
        return Ended("timeout", "the runner says that it ran out of time", error, True)
    limit = _LONGER_THAN.fullmatch(error)
    after = limit[1] if limit else "" if took is None else duration(took)
    return Ended(
        "timeout", f"ran out of time after {after}" if after else "ran out of time", "" if limit else error, True
    )


def lost(error: str) -> Ended:
    """A runner that is gone, with the code or the signal where they are known."""
    if code := _EXITED.match(error):
        return Ended("lost", f"runner exited (code {code[1]})", error[code.end() :].strip(" .:;"), True)
    if signal := _KILLED.match(error):
        return Ended("lost", f"runner killed ({signal[1]})", error[signal.end() :].strip(" .:;"), True)
    return Ended("lost", "runner lost", error, True)
