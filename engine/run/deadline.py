"""The deadline of a run. Its timer stops while the run is paused or waits for a process."""

from collections.abc import Callable
from typing import Final

from engine.clock import Clock, Timer

_MICROSECONDS_PER_SECOND: Final = 1_000_000


class Deadline:
    """Calls `on_expired` after so many seconds of run time, pauses not counted; never if `seconds` is None.

    Counts by the monotonic clock: a change of the machine's time neither shortens nor extends a run.
    """

    def __init__(self, clock: Clock, seconds: float | None, on_expired: Callable[[], None]) -> None:
        self._clock = clock
        self._seconds = seconds
        self._on_expired = on_expired
        self._timer: Timer | None = None
        self._ends = 0
        """When the timer ends, by the monotonic clock."""
        self._paused_seconds_left: float | None = None
        self.expires_at: int | None = None
        """A time stamp in microseconds, to be shown; None while the run is paused."""

    def start(self, now: int) -> None:
        if self._seconds is not None:
            self._start_timer(self._seconds, now)

    def pause(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._paused_seconds_left = self._running_seconds_left()
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
        return self._paused_seconds_left if self.expires_at is None else self._running_seconds_left()

    def _running_seconds_left(self) -> float:
        return max(0.0, (self._ends - self._clock.monotonic()) / _MICROSECONDS_PER_SECOND)

    def _start_timer(self, seconds: float, now: int) -> None:
        microseconds = int(seconds * _MICROSECONDS_PER_SECOND)
        self.expires_at = now + microseconds
        self._ends = self._clock.monotonic() + microseconds
        self._timer = self._clock.later(seconds, self._on_expired)
