"""Results that are held back while a run is paused at one of them, with everything its runner sent after it."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from engine.events import PauseStage
from engine.run.breakpoints import Pause, PauseControl
from engine.runtimes.runtime import RunnerCall


class _Item(NamedTuple):
    deliver: Callable[[], None]
    kind: object = None
    """The type of a result, which may match a breakpoint itself."""


class HeldResults:
    """A queue between a run's runtime and its journal; empty unless the run is paused at a result."""

    def __init__(self, pause_control: PauseControl, when_room: Callable[[Callable[[], None]], None]) -> None:
        self._pause_control = pause_control
        self._when_room = when_room
        self._items: deque[_Item] = deque()
        self._waiting_for_room: list[Callable[[], None]] = []
        self._emptied = asyncio.Event()
        self._emptied.set()
        self.is_holding = False
        """Whether anything new must be added here; the runtime should not read more."""

    def pause_at(self, location: str, kind: object) -> None:
        """Start to hold back results. The caller adds the result that reached the breakpoint next."""
        self.is_holding = True
        self._emptied.clear()
        self._pause(location, kind)

    def add(self, deliver: Callable[[], None], kind: object = None) -> None:
        """Add a result of this type, or something else that must keep its order among the results."""
        self._items.append(_Item(deliver, kind))

    def when_room(self, call: Callable[[], None]) -> None:
        """Call back when nothing is held and the writer has room."""
        if self.is_holding:
            self._waiting_for_room.append(call)
        else:
            self._when_room(call)

    async def wait_until_empty(self) -> None:
        await self._emptied.wait()

    def _pause(self, location: str, kind: object) -> None:
        pause = Pause(location, PauseStage.RESULT, type=str(kind))
        self._pause_control.pause(pause, lambda _: self._deliver_paused(), self._deliver_paused)

    def _deliver_paused(self) -> None:
        self._items.popleft().deliver()
        self._deliver_rest()

    def _deliver_rest(self) -> None:
        """Deliver in order until a result matches a breakpoint."""
        while self._items:
            kind = self._items[0].kind
            location = self._pause_control.match_result(kind)
            if location is not None:
                self._pause(location, kind)
                return
            self._items.popleft().deliver()
        self.is_holding = False
        self._emptied.set()
        calls, self._waiting_for_room = self._waiting_for_room, []
        for call in calls:
            self._when_room(call)


class HeldCall:
    """A call that was read behind a paused result. It is recorded and answered after that result."""

    def __init__(self, open_call: Callable[[], RunnerCall]) -> None:
        self._open_call = open_call
        self._call: RunnerCall | None = None
        self._opened = asyncio.Event()
        self._is_cancelled = False
        self._is_closed = False

    def deliver(self) -> None:
        """Record the call, because everything before it was delivered."""
        call = self._call = self._open_call()
        if self._is_cancelled:
            call.cancel()
        if self._is_closed:
            call.close()
        self._opened.set()

    async def answer(self) -> Any:
        await self._opened.wait()
        assert self._call is not None  # noqa: S101  (it is set before the event)
        return await self._call.answer()

    def cancel(self) -> None:
        self._is_cancelled = True
        if self._call is not None:
            self._call.cancel()

    def close(self) -> None:
        self._is_closed = True
        if self._call is not None:
            self._call.close()
