"""When the inspector requests data: after the cursor rests, and for a run in progress a few times a second."""

from collections.abc import Callable
from time import monotonic
from typing import Final

from textual.timer import Timer

QUIET: Final = 0.05
"""Seconds without a move after which data is requested."""
REST: Final = 0.25
"""Seconds between two requests for a run in progress."""
ANSWER_TIMEOUT_SECONDS: Final = 2.0
"""Seconds after which an unanswered request is given up."""


class RefreshTimer:
    """Plans one request at a time. Only the answer to the last request counts."""

    def __init__(
        self,
        later: Callable[[float, Callable[[], None]], Timer],
        ask: Callable[[int], None],
        is_busy: Callable[[], bool],
    ) -> None:
        self._later = later
        self._ask = ask
        self._is_busy = is_busy
        """Returns whether new data would disturb the user now."""
        self._timer: Timer | None = None
        self._has_moved = False
        self._asked_at = 0.0
        self.number = 0
        """The number of the last request."""
        self._answered = 0

    def moved(self) -> None:
        """The user moved: request data unless another move follows."""
        self._has_moved = True
        self._plan(QUIET)

    def heard(self) -> None:
        """New entries concern the tab: request data when it is time."""
        if self._timer is None:
            self._plan(max(QUIET, self._asked_at + REST - monotonic()))

    def answered(self, number: int) -> bool:
        """Whether an answer belongs to the last request."""
        if number != self.number:
            return False
        self._answered = number
        # The user has moved since, so this answer is outdated.
        return not self._has_moved

    @property
    def is_waiting(self) -> bool:
        """Whether a request is planned or unanswered."""
        return self._timer is not None or self._answered != self.number

    def _plan(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._later(seconds, self._due)

    def _due(self) -> None:
        self._timer = None
        is_unanswered = self._answered != self.number and monotonic() - self._asked_at < ANSWER_TIMEOUT_SECONDS
        if not self._has_moved and (is_unanswered or self._is_busy()):
            self._plan(REST)
            return
        self._has_moved = False
        self._asked_at = monotonic()
        self.number += 1
        self._ask(self.number)
