"""When the inspector asks for facts: once one has come to rest, and of a run at work as often as one can read."""

from collections.abc import Callable
from time import monotonic
from typing import Final

from textual.timer import Timer

QUIET: Final = 0.05
"""Seconds without a move after which one is where one wants to be."""
REST: Final = 0.25
"""Seconds between two looks at a run at work."""
PATIENCE: Final = 2.0
"""Seconds after which an answer is waited for no longer."""


class Asking:
    """Plans one question at a time; the last that was asked is the only one whose answer counts."""

    def __init__(
        self,
        later: Callable[[float, Callable[[], None]], Timer],
        ask: Callable[[int], None],
        is_busy: Callable[[], bool],
    ) -> None:
        self._later = later
        self._ask = ask
        self._is_busy = is_busy
        """Whether a person is at something that news would disturb."""
        self._timer: Timer | None = None
        self._has_moved = False
        self._asked_at = 0.0
        self.number = 0
        """Of the last question."""
        self._answered = 0

    def moved(self) -> None:
        """Another place is looked at: ask about it, unless one moves on."""
        self._has_moved = True
        self._plan(QUIET)

    def heard(self) -> None:
        """Something came that belongs here: ask again when it is time."""
        if self._timer is None:
            self._plan(max(QUIET, self._asked_at + REST - monotonic()))

    def answered(self, number: int) -> bool:
        """Whether an answer is the one that is waited for."""
        if number != self.number:
            return False
        self._answered = number
        # Who has moved on since does not want to see where they were.
        return not self._has_moved

    @property
    def is_waiting(self) -> bool:
        """Whether a question is planned or has no answer yet."""
        return self._timer is not None or self._answered != self.number

    def _plan(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._later(seconds, self._due)

    def _due(self) -> None:
        self._timer = None
        is_unanswered = self._answered != self.number and monotonic() - self._asked_at < PATIENCE
        if not self._has_moved and (is_unanswered or self._is_busy()):
            self._plan(REST)
            return
        self._has_moved = False
        self._asked_at = monotonic()
        self.number += 1
        self._ask(self.number)
