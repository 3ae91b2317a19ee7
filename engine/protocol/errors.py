"""How a call to the host fails: one exception, with a stable code."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from engine.protocol.base import Model


class ErrorCode(StrEnum):
    """Every reason the host gives for not answering a call."""

    UNAUTHORIZED = "unauthorized"
    NOT_FOUND = "not_found"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    RATE_LIMITED = "rate_limited"
    INVALID_ARGUMENT = "invalid_argument"
    RUNTIME_ERROR = "runtime_error"
    CANCELLED = "cancelled"


class AgentAPIError(Model):
    """What went wrong, as the host says it."""

    code: str
    """One of `ErrorCode`; a newer host may know more."""
    message: str
    retryable: bool = False
    details: dict[str, Any] = Field(default_factory=dict)


class AgentAPIException(Exception):
    """The one exception that a call of the run-scoped API raises; `.error` says why."""

    def __init__(self, error: AgentAPIError) -> None:
        super().__init__(error.message)
        self.error = error

    @classmethod
    def of(
        cls, code: ErrorCode, message: str, *, retryable: bool = False, details: dict[str, Any] | None = None
    ) -> "AgentAPIException":
        """The exception for one of the known codes."""
        return cls(AgentAPIError(code=code.value, message=message, retryable=retryable, details=details or {}))
