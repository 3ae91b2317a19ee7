"""The deadline of a run. Its timer stops while the run is paused."""

from collections.abc import Callable
from typing import Final

from engine.clock import Clock, Timer

_MICROSECONDS_PER_SECOND: Final = 1_000_000


class Deadline:
    """Calls `on_expired` after so many seconds of run time, pauses not counted; never if `seconds` is None."""

    def __init__(self, clock: Clock, seconds: float | None, on_expired: Callable[[], None]) -> None:
        self._clock = clock
        self._seconds = seconds
        self._on_expired = on_expired
        self._timer: Timer | None = None
        self._paused_seconds_left: float | None = None
        self.expires_at: int | None = None
        """Microseconds; None while the run is paused."""

    def start(self, now: int) -> None:
        if self._seconds is not None:
            self._start_timer(self._seconds, now)

    def pause(self) -> None:
        if self._timer is not None and self.expires_at is not None:
            self._timer.cancel()
            self._paused_seconds_left = max(0.0, (self.expires_at - self._clock.now()) / _MICROSECONDS_PER_SECOND)
            self._timer = self.expires_at = None

    def resume(self) -> None:
        """Restart the timer with the seconds that were left; no effect if it is not paused."""
        if self._paused_seconds_left is not None:
            self._start_timer(self._paused_seconds_left, self._clock.now())
            self._paused_seconds_left = None

    def cancel(self) -> None:
        self._paused_seconds_left = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def seconds_left(self) -> float | None:
        """Run time until the deadline; None if there is no deadline."""
        if self.expires_at is None:
            return self._paused_seconds_left
        return max(0.0, (self.expires_at - self._clock.now()) / _MICROSECONDS_PER_SECOND)

    def _start_timer(self, seconds: float, now: int) -> None:
        self.expires_at = now + int(seconds * _MICROSECONDS_PER_SECOND)
        self._timer = self._clock.later(seconds, self._on_expired)
