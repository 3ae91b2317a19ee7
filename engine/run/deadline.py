"""The time that a run may work. Its clock stands while the run is held."""

from collections.abc import Callable
from typing import Final

from engine.clock import Clock, Timer

_SECOND: Final = 1_000_000


class Deadline:
    """Calls when the time is used up; no seconds means that it never is."""

    def __init__(self, clock: Clock, seconds: float | None, passed: Callable[[], None]) -> None:
        self._clock = clock
        self._seconds = seconds
        self._passed = passed
        self._timer: Timer | None = None
        self._left: float | None = None
        """While it stands: the seconds that are left."""
        self.at: int | None = None
        """When it will pass, in microseconds; unknown while it stands."""

    def start(self, now: int) -> None:
        """The run begins."""
        if self._seconds is not None:
            self._run(self._seconds, now)

    def stand(self) -> None:
        """The run is held."""
        if self._timer is not None and self.at is not None:
            self._timer.cancel()
            self._left = max(0.0, (self.at - self._clock.now()) / _SECOND)
            self._timer = self.at = None

    def go_on(self) -> None:
        """It is not any more."""
        if self._left is not None:
            self._run(self._left, self._clock.now())
            self._left = None

    def cancel(self) -> None:
        """The run is over."""
        self._left = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def left(self) -> float | None:
        """Seconds that the run may still work."""
        if self.at is None:
            return self._left
        return max(0.0, (self.at - self._clock.now()) / _SECOND)

    def _run(self, seconds: float, now: int) -> None:
        self.at = now + int(seconds * _SECOND)
        self._timer = self._clock.later(seconds, self._passed)
