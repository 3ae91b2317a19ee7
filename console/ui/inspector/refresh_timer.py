"""Decides when the inspector requests data: after the cursor rests, and a few times a second during a run."""

from collections.abc import Callable
from time import monotonic
from typing import Final

from textual.timer import Timer

MOVE_DELAY_SECONDS: Final = 0.05
"""Data is requested when the user has not moved for this long."""
REFRESH_SECONDS: Final = 0.25
"""The time between two requests for a run in progress."""
ANSWER_TIMEOUT_SECONDS: Final = 2.0
"""An unanswered request is given up after this time."""


class RefreshTimer:
    """Schedules one request at a time. Only the answer to the last request counts."""

    def __init__(
        self,
        set_timer: Callable[[float, Callable[[], None]], Timer],
        request: Callable[[int], None],
        is_busy: Callable[[], bool],
    ) -> None:
        self._set_timer = set_timer
        self._request = request
        self._is_busy = is_busy
        """Returns whether new data would disturb the user now."""
        self._timer: Timer | None = None
        self._has_moved = False
        self._requested_at = 0.0
        self.number = 0
        """The number of the last request."""
        self._answered_number = 0

    def request_after_move(self) -> None:
        """Request data after the user has moved, unless another move follows."""
        self._has_moved = True
        self._schedule(MOVE_DELAY_SECONDS)

    def request_soon(self) -> None:
        """Request data after new entries, at most every REFRESH_SECONDS."""
        if self._timer is None:
            self._schedule(max(MOVE_DELAY_SECONDS, self._requested_at + REFRESH_SECONDS - monotonic()))

    def accept_answer(self, number: int) -> bool:
        """Note an answer. Returns whether it belongs to the last request and is not outdated."""
        if number != self.number:
            return False
        self._answered_number = number
        return not self._has_moved  # otherwise the user has moved since

    @property
    def is_waiting(self) -> bool:
        """Whether a request is scheduled or unanswered."""
        return self._timer is not None or self._answered_number != self.number

    def _schedule(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._set_timer(seconds, self._due)

    def _due(self) -> None:
        self._timer = None
        is_unanswered = (
            self._answered_number != self.number and monotonic() - self._requested_at < ANSWER_TIMEOUT_SECONDS
        )
        if not self._has_moved and (is_unanswered or self._is_busy()):
            self._schedule(REFRESH_SECONDS)
            return
        self._has_moved = False
        self._requested_at = monotonic()
        self.number += 1
        self._request(self.number)
