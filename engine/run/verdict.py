"""Decides how a run ended, from its terminal result, the end of its code and the reason for a stop."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.events import Status
from engine.protocol.results import FailureCode, ResultType
from engine.run.live import LiveRun, StopReason
from engine.runtimes.runtime import Ending, EndKind

NO_OUTPUT: Final = "no output"
NOT_LOADED: Final = "runner.not_loaded"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The final status of a run, with its reason."""

    status: Status
    reason: str
    error: str = ""
    retryable: bool = False

    def data(self, usage: Mapping[str, Any]) -> dict[str, Any]:
        """Return the data of the `run.finished` entry."""
        data: dict[str, Any] = {"status": self.status, "reason": self.reason}
        if self.error:
            data["error"] = self.error
        if self.status in (Status.FAILED, Status.TIMEOUT):
            data["retryable"] = self.retryable
        if usage:
            data["usage"] = usage
        return data


_STATUS_OF_CODE: Final = {FailureCode.TIMEOUT.value: Status.TIMEOUT, FailureCode.CANCELLED.value: Status.CANCELLED}


def decide_verdict(live: LiveRun, ending: Ending) -> Verdict:
    """Return the verdict by the first that applies: lost entries, the terminal result, a stop, the end of the code."""
    if live.stop_reason is StopReason.STORAGE:
        return storage_failure(live.stop_error)
    if live.final_result is not None:
        return _verdict_of_result(live, live.final_result)
    if live.stop_reason is not None:
        return _verdict_of_stop(live.stop_reason, live.stop_error)
    match ending.how:
        case EndKind.RAISED:
            return Verdict(Status.FAILED, FailureCode.EXCEPTION, ending.message)
        case EndKind.NOT_LOADED:
            return Verdict(Status.FAILED, NOT_LOADED, ending.message)
        case EndKind.LOST:
            return Verdict(Status.FAILED, FailureCode.LOST, ending.message)
        case EndKind.CANCELLED:
            return Verdict(Status.FAILED, FailureCode.EXCEPTION, "the runner cancelled itself")
        case EndKind.ENDED:
            return Verdict(Status.COMPLETED, "ended" if live.has_output else NO_OUTPUT)


def storage_failure(error: str) -> Verdict:
    """Return the verdict for a run whose entries could not all be written."""
    return Verdict(Status.FAILED, "storage.failed", error, retryable=True)


def _verdict_of_result(live: LiveRun, result: dict[str, Any]) -> Verdict:
    if live.final_result_type is ResultType.RUN_COMPLETED:
        reason = str(result.get("finish_reason", "stop")) if live.has_output else NO_OUTPUT
        return Verdict(Status.COMPLETED, reason)
    code = str(result.get("code", FailureCode.ERROR))
    status = _STATUS_OF_CODE.get(code, Status.FAILED)
    retryable = bool(result.get("retryable", status is Status.TIMEOUT))
    return Verdict(status, code, str(result.get("error", "")), retryable)


def _verdict_of_stop(reason: StopReason, error: str) -> Verdict:
    match reason:
        case StopReason.CANCELLED:
            return Verdict(Status.CANCELLED, FailureCode.CANCELLED, error)
        case StopReason.DEADLINE:
            return Verdict(Status.TIMEOUT, FailureCode.TIMEOUT, error, retryable=True)
        case StopReason.PROTOCOL:
            return Verdict(Status.FAILED, "protocol.error", error)
        case StopReason.JOURNAL:
            return Verdict(Status.FAILED, "journal.full", error)
        case StopReason.STORAGE:
            return storage_failure(error)
        case StopReason.HOST:
            return Verdict(Status.FAILED, "host.failed", error)
        case StopReason.LINGERING:  # comes only after a terminal result
            return Verdict(Status.COMPLETED, "ended")
