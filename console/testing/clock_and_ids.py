"""A clock that stands still and ids that count, so that two runs of a test show the same screen."""

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import Final

START: Final = 1_767_323_045_000_000
"""2026-01-02T03:04:05Z in microseconds."""


class FakeClock:
    """A clock that only advances when told to, and then calls the timers that are due, in order."""

    def __init__(self, start: int = START) -> None:
        self._now = start
        self._jumped = 0
        """Microseconds by which the user has set the clock; timers and durations do not notice."""
        self._waiting: list[tuple[int, int, _Timer]] = []
        self._order = count()

    def now(self) -> int:
        return self._now

    def monotonic(self) -> int:
        return self._now - self._jumped

    def jump(self, seconds: float) -> None:
        """Set the time of day. No time passes."""
        self._jumped += int(seconds * 1_000_000)
        self._now += int(seconds * 1_000_000)

    def later(self, seconds: float, call: Callable[[], None]) -> "_Timer":
        timer = _Timer(call)
        heappush(self._waiting, (self.monotonic() + int(seconds * 1_000_000), next(self._order), timer))
        return timer

    def advance(self, seconds: float) -> None:
        until = self.monotonic() + int(seconds * 1_000_000)
        while self._waiting and self._waiting[0][0] <= until:
            due, _, timer = heappop(self._waiting)
            self._now = due + self._jumped
            if not timer.cancelled:
                timer.call()
        self._now = until + self._jumped


@dataclass(slots=True)
class _Timer:
    call: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


class CountingIds:
    """`run_000001`, `line_000002` …: one counter for all kinds, so that ids sort by creation."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._count = count(1)

    def new(self, kind: str) -> str:
        return f"{kind}_{self._prefix}{next(self._count):06d}"
