"""When the inspector requests data, with a clock that the test moves."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from console.ui.inspector import refresh_timer as module
from console.ui.inspector.refresh_timer import ANSWER_TIMEOUT_SECONDS, MOVE_DELAY_SECONDS, REFRESH_SECONDS, RefreshTimer


@dataclass
class Clock:
    """A clock that calls its timers when it is moved."""

    now: float = 100.0
    due: list[tuple[float, "Timer"]] = field(default_factory=list)

    def set_timer(self, seconds: float, call: Callable[[], None]) -> Any:
        timer = Timer(call)
        self.due.append((self.now + seconds, timer))
        return timer

    def move(self, seconds: float) -> None:
        until = self.now + seconds
        while waiting := sorted((each for each in self.due if each[0] <= until + 1e-9), key=lambda each: each[0]):
            at, timer = waiting[0]
            self.due.remove((at, timer))
            self.now = max(self.now, at)
            if not timer.is_stopped:
                timer.call()
        self.now = until


@dataclass(eq=False)
class Timer:
    call: Callable[[], None]
    is_stopped: bool = False

    def stop(self) -> None:
        self.is_stopped = True


class TimerHarness:
    def __init__(self) -> None:
        self.clock = Clock()
        self.requested_at: list[float] = []
        self.is_busy = False
        self.answers = True
        self.timer = RefreshTimer(self.clock.set_timer, self._request, lambda: self.is_busy)

    def _request(self, number: int) -> None:
        self.requested_at.append(self.clock.now)
        if self.answers:
            assert self.timer.accept_answer(number)


@pytest.fixture
def harness(monkeypatch: pytest.MonkeyPatch) -> TimerHarness:
    made = TimerHarness()
    monkeypatch.setattr(module, "monotonic", lambda: made.clock.now)
    return made


def test_data_is_requested_after_the_cursor_rests(harness: TimerHarness) -> None:
    for _ in range(20):
        harness.timer.request_after_move()
        harness.clock.move(MOVE_DELAY_SECONDS / 2)
    assert harness.requested_at == []

    harness.clock.move(MOVE_DELAY_SECONDS)

    assert len(harness.requested_at) == 1


def test_new_entries_cause_at_most_four_requests_a_second(harness: TimerHarness) -> None:
    for _ in range(300):
        harness.timer.request_soon()
        harness.clock.move(1 / 30)

    assert 36 <= len(harness.requested_at) <= 40
    assert (
        min(after - before for before, after in zip(harness.requested_at, harness.requested_at[1:], strict=False))
        >= REFRESH_SECONDS - 1e-6
    )


def test_no_request_without_new_entries(harness: TimerHarness) -> None:
    harness.timer.request_soon()
    harness.clock.move(60)

    assert len(harness.requested_at) == 1
    assert not harness.timer.is_waiting


def test_request_waits_while_the_user_is_busy(harness: TimerHarness) -> None:
    harness.is_busy = True
    harness.timer.request_soon()
    harness.clock.move(5)
    assert harness.requested_at == []

    harness.is_busy = False
    harness.clock.move(REFRESH_SECONDS)

    assert len(harness.requested_at) == 1


def test_move_causes_a_request_even_while_busy(harness: TimerHarness) -> None:
    harness.is_busy = True
    harness.timer.request_after_move()
    harness.clock.move(MOVE_DELAY_SECONDS)

    assert len(harness.requested_at) == 1


def test_slow_answer_times_out(harness: TimerHarness) -> None:
    harness.answers = False
    harness.timer.request_soon()
    harness.clock.move(MOVE_DELAY_SECONDS)
    harness.timer.request_soon()
    harness.clock.move(ANSWER_TIMEOUT_SECONDS / 2)
    assert len(harness.requested_at) == 1

    harness.clock.move(ANSWER_TIMEOUT_SECONDS)

    assert len(harness.requested_at) == 2


def test_answer_counts_only_for_the_current_entry(harness: TimerHarness) -> None:
    harness.answers = False
    harness.timer.request_after_move()
    harness.clock.move(MOVE_DELAY_SECONDS)
    harness.timer.request_after_move()

    assert not harness.timer.accept_answer(harness.timer.number)
