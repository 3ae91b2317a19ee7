"""The rate limit of a run: calls in flight, and calls per second."""

import time
from typing import Final

MAX_CALLS_IN_FLIGHT: Final = 128
MAX_CALLS_PER_SECOND: Final = 2_000


class RateLimit:
    """A token bucket of one second's calls. Uses real time, because it protects the host's event loop."""

    def __init__(self) -> None:
        self.in_flight = 0
        self._tokens = float(MAX_CALLS_PER_SECOND)
        self._filled_at = time.monotonic()

    def take(self) -> str | None:
        """Count one call. Returns why it cannot be accepted now, or None."""
        if self.in_flight >= MAX_CALLS_IN_FLIGHT:
            return f"{MAX_CALLS_IN_FLIGHT} calls are in flight; await some of them first"
        now = time.monotonic()
        self._tokens = min(MAX_CALLS_PER_SECOND, self._tokens + (now - self._filled_at) * MAX_CALLS_PER_SECOND)
        self._filled_at = now
        if self._tokens < 1:
            return f"more than {MAX_CALLS_PER_SECOND} calls a second; slow down"
        self._tokens -= 1
        return None
