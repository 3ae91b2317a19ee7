"""How often the inspector requests data, with a clock that the test advances."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from console.ui.inspector import refresh_timer as module
from console.ui.inspector.refresh_timer import ANSWER_TIMEOUT_SECONDS, QUIET, REST, RefreshTimer


@dataclass
class Clock:
    """A clock that calls due timers when the test advances it."""

    now: float = 100.0
    due: list[tuple[float, "Timer"]] = field(default_factory=list)

    def later(self, seconds: float, call: Callable[[], None]) -> Any:
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


class World:
    def __init__(self) -> None:
        self.clock = Clock()
        self.asked: list[float] = []
        self.is_busy = False
        self.answers = True
        self.asking = RefreshTimer(self.clock.later, self._ask, lambda: self.is_busy)

    def _ask(self, number: int) -> None:
        self.asked.append(self.clock.now)
        if self.answers:
            assert self.asking.answered(number)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    monkeypatch.setattr(module, "monotonic", lambda: made.clock.now)
    return made


def test_data_is_requested_after_the_cursor_rests(world: World) -> None:
    for _ in range(20):
        world.asking.moved()
        world.clock.move(QUIET / 2)
    assert world.asked == []

    world.clock.move(QUIET)

    assert len(world.asked) == 1


def test_new_entries_cause_at_most_four_requests_a_second(world: World) -> None:
    for _ in range(300):
        world.asking.heard()
        world.clock.move(1 / 30)

    assert 36 <= len(world.asked) <= 40
    assert min(after - before for before, after in zip(world.asked, world.asked[1:], strict=False)) >= REST - 1e-6


def test_no_request_without_new_entries(world: World) -> None:
    world.asking.heard()
    world.clock.move(60)

    assert len(world.asked) == 1
    assert not world.asking.is_waiting


def test_request_waits_while_the_user_is_busy(world: World) -> None:
    world.is_busy = True
    world.asking.heard()
    world.clock.move(5)
    assert world.asked == []

    world.is_busy = False
    world.clock.move(REST)

    assert len(world.asked) == 1


def test_move_causes_a_request_even_while_busy(world: World) -> None:
    world.is_busy = True
    world.asking.moved()
    world.clock.move(QUIET)

    assert len(world.asked) == 1


def test_slow_answer_times_out(world: World) -> None:
    world.answers = False
    world.asking.heard()
    world.clock.move(QUIET)
    world.asking.heard()
    world.clock.move(ANSWER_TIMEOUT_SECONDS / 2)
    assert len(world.asked) == 1

    world.clock.move(ANSWER_TIMEOUT_SECONDS)

    assert len(world.asked) == 2


def test_answer_counts_only_for_the_current_entry(world: World) -> None:
    world.answers = False
    world.asking.moved()
    world.clock.move(QUIET)
    world.asking.moved()

    assert not world.asking.answered(world.asking.number)
