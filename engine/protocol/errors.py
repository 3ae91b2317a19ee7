"""Failures of calls to the host: one exception with a stable code."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from engine.protocol.base import Model


class ErrorCode(StrEnum):
    """The reasons for which the host refuses a call."""

    UNAUTHORIZED = "unauthorized"
    NOT_FOUND = "not_found"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    RATE_LIMITED = "rate_limited"
    INVALID_ARGUMENT = "invalid_argument"
    RUNTIME_ERROR = "runtime_error"
    CANCELLED = "cancelled"


class AgentAPIError(Model):
    """An error as the host reports it."""

    code: str
    """One of `ErrorCode`; a newer host may have more."""
    message: str
    retryable: bool = False
    details: dict[str, Any] = Field(default_factory=dict)


class AgentAPIException(Exception):
    """The only exception that run-scoped calls raise; `.error` has the reason."""

    def __init__(self, error: AgentAPIError) -> None:
        super().__init__(error.message)
        self.error = error

    @classmethod
    def of(
        cls, code: ErrorCode, message: str, *, retryable: bool = False, details: dict[str, Any] | None = None
    ) -> "AgentAPIException":
        """Build the exception for a known code."""
        return cls(AgentAPIError(code=code.value, message=message, retryable=retryable, details=details or {}))
