"""The line in which children wait for their start: starting an interpreter takes 0.2 s of a processor."""

import asyncio
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from engine.runtimes.child import Child
from engine.runtimes.runtime import Launch


class OnWait(Protocol):
    """Is told that a start waits, with a function that counts the starts before it; None when the wait is over."""

    def __call__(self, before: Callable[[], int] | None, reason: str = "") -> None: ...


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    launch: Launch
    turn: "asyncio.Future[Child | None]"


class StartQueue:
    """Lets at most `limit` children start at the same time: first come, first served.

    A child that becomes free goes to the first place in the line that can use it, which then needs no start.
    """

    def __init__(self, limit: int, give_back: Callable[[Child], None]) -> None:
        self._free = limit
        self._give_back = give_back
        """Takes a child whose receiver has given up."""
        self._line: deque[_Place] = deque()
        self._blocked: dict[object, None] = {}
        """Starts that had their turn and wait for resources of the system, in order."""

    async def wait_for_turn(self, launch: Launch, on_wait: OnWait, *, is_first: bool = False) -> Child | None:
        """Wait for a turn, which ends with `leave`. Returns a child instead if one became free: then it has no turn.

        Returns at once if fewer than `limit` children are starting. With `is_first` it waits ahead of all others.
        """
        if self._free > 0:
            self._free -= 1
            return None
        place = _Place(launch, asyncio.get_running_loop().create_future())
        (self._line.appendleft if is_first else self._line.append)(place)
        on_wait(partial(self._count_before, place))
        try:
            return await place.turn
        except asyncio.CancelledError:
            self._give_up(place)
            raise
        finally:
            on_wait(None)

    def leave(self) -> None:
        """End a turn: the next in line may start."""
        while self._line:
            turn = self._line.popleft().turn
            if not turn.done():  # otherwise its caller is being cancelled
                turn.set_result(None)
                return
        self._free += 1

    def offer(self, child: Child) -> bool:
        """Give a free child to the first in line that can use it. Returns False if there is none."""
        fitting = (place for place in self._line if place.launch == child.launch and not place.turn.done())
        place = next(fitting, None)
        if place is None:
            return False
        self._line.remove(place)
        place.turn.set_result(child)
        return True

    @contextmanager
    def blocked(self, on_wait: OnWait, reason: str) -> Generator[None]:
        """Count a start that has its turn as waiting for resources of the system."""
        place = object()
        self._blocked[place] = None
        on_wait(lambda: list(self._blocked).index(place), reason)
        try:
            yield
        finally:
            del self._blocked[place]
            on_wait(None)

    def _count_before(self, place: _Place) -> int:
        return len(self._blocked) + (self._line.index(place) if place in self._line else 0)

    def _give_up(self, place: _Place) -> None:
        if place in self._line:
            self._line.remove(place)
        elif not place.turn.cancelled():
            child = place.turn.result()
            if child is None:
                self.leave()
            else:
                self._give_back(child)
