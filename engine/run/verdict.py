"""How a run ended, decided once from what its runner said, how its code ended and why the host stopped it."""

from dataclasses import dataclass
from typing import Any, Final

from engine.facts.runs import Status
from engine.protocol.results import FailureCode, ResultType
from engine.run.live import LiveRun, Stop
from engine.runtimes.runtime import Ending, How

NO_OUTPUT: Final = "no output"
NOT_LOADED: Final = "runner.not_loaded"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The final status with its reason."""

    status: Status
    reason: str
    error: str = ""
    retryable: bool = False

    def data(self, usage: dict[str, int | float]) -> dict[str, Any]:
        """As `run.finished` says it."""
        told: dict[str, Any] = {"status": self.status, "reason": self.reason}
        if self.error:
            told["error"] = self.error
        if self.status in (Status.FAILED, Status.TIMEOUT):
            told["retryable"] = self.retryable
        if usage:
            told["usage"] = usage
        return told


_CODES: Final = {FailureCode.TIMEOUT.value: Status.TIMEOUT, FailureCode.CANCELLED.value: Status.CANCELLED}


def judge(live: LiveRun, ending: Ending) -> Verdict:
    """The first that holds: a disk that lost entries, the runner's own end, the host's stop, how the code ended."""
    if live.stop is Stop.STORAGE:
        return storage_failed(live.stop_error)
    if live.end is not None:
        return _own_end(live, live.end)
    if live.stop is not None:
        return _stopped(live.stop, live.stop_error)
    match ending.how:
        case How.RAISED:
            return Verdict(Status.FAILED, FailureCode.EXCEPTION, ending.message)
        case How.NOT_LOADED:
            return Verdict(Status.FAILED, NOT_LOADED, ending.message)
        case How.LOST:
            return Verdict(Status.FAILED, FailureCode.LOST, ending.message)
        case How.CANCELLED:
            return Verdict(Status.FAILED, FailureCode.EXCEPTION, "the runner cancelled itself")
        case How.ENDED:
            return Verdict(Status.COMPLETED, "ended" if live.has_said_anything else NO_OUTPUT)


def storage_failed(error: str) -> Verdict:
    """The end of a run whose entries could not all be written."""
    return Verdict(Status.FAILED, "storage.failed", error, retryable=True)


def _own_end(live: LiveRun, end: dict[str, Any]) -> Verdict:
    if live.end_type is ResultType.RUN_COMPLETED:
        reason = str(end.get("finish_reason", "stop")) if live.has_said_anything else NO_OUTPUT
        return Verdict(Status.COMPLETED, reason)
    code = str(end.get("code", FailureCode.ERROR))
    status = _CODES.get(code, Status.FAILED)
    retryable = bool(end.get("retryable", status is Status.TIMEOUT))
    return Verdict(status, code, str(end.get("error", "")), retryable)


def _stopped(stop: Stop, error: str) -> Verdict:
    match stop:
        case Stop.CANCELLED:
            return Verdict(Status.CANCELLED, FailureCode.CANCELLED, error)
        case Stop.DEADLINE:
            return Verdict(Status.TIMEOUT, FailureCode.TIMEOUT, error, retryable=True)
        case Stop.PROTOCOL:
            return Verdict(Status.FAILED, "protocol.error", error)
        case Stop.JOURNAL:
            return Verdict(Status.FAILED, "journal.full", error)
        case Stop.STORAGE:
            return storage_failed(error)
        case Stop.HOST:
            return Verdict(Status.FAILED, "host.failed", error)
        case Stop.LINGERING:  # only ever after the runner's own end
            return Verdict(Status.COMPLETED, "ended")
