"""How anything scripted can be slow or fail."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Annotated, Any, Final

from pydantic import Field

from engine.protocol.errors import ErrorCode
from engine.resources.interfaces import ResourceError
from engine.section import Section

Sleep = Callable[[float], Awaitable[object]]
"""How to wait; tests give one that takes no time."""
Seconds = Annotated[float, Field(ge=0, le=86_400)]

_PHRASES: Final = {status.value: status.phrase for status in HTTPStatus}
_RATE_LIMITED: Final = 429
_TIMED_OUT: Final = 408


class Failing(Section):
    """Keys that every scripted answer has."""

    delay: Seconds = 0.0
    """Seconds before anything comes, the failure too."""
    error: str | None = None
    """Fail with this message."""
    status: Annotated[int, Field(ge=400, le=599)] | None = None
    """Fail like a provider that answers with this HTTP status."""
    retry_after: Seconds | None = None
    """Seconds that the provider asks to wait; only with a status."""

    def fails(self) -> bool:
        """Whether it says anything of a failure."""
        return self.error is not None or self.status is not None

    def failure(self) -> ResourceError | None:
        """What it fails with, if it does."""
        if self.status is None:
            return None if self.error is None else ResourceError(self.error)
        message = f"{self.status} {_PHRASES.get(self.status, '')}".rstrip() if self.error is None else self.error
        details: dict[str, Any] = {"status": self.status}
        if self.retry_after is not None:
            details["retry_after"] = self.retry_after
        limited = self.status == _RATE_LIMITED
        return ResourceError(
            message,
            code=ErrorCode.RATE_LIMITED if limited else ErrorCode.RUNTIME_ERROR,
            retryable=limited or self.status == _TIMED_OUT or self.status >= 500,
            details=details,
        )

    def check_failure(self) -> None:
        """For validators: what of these keys does not go together."""
        if self.retry_after is not None and self.status is None:
            raise ValueError("has a retry_after without a status")


async def wait(failing: Failing, sleep: Sleep) -> None:
    """Let the delay pass, then fail if that is the script."""
    if failing.delay:
        await sleep(failing.delay)
    if (failure := failing.failure()) is not None:
        raise failure
