"""Results that are held back while a run is paused at one of them, with everything its runner sent after it."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from engine.events import PauseStage
from engine.run.breakpoints import Pause, PauseControl


class _Item(NamedTuple):
    deliver: Callable[[], bool | None]
    """Handles the item; returns True if it will write its first entry only in the loop's next iteration."""
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

    async def wait_for_turn(self) -> None:
        """Return when everything that is held now has been delivered. A call is answered only then."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def deliver() -> bool:
            if turn.done():  # the runner cancelled the call
                return False
            turn.set_result(None)
            return True

        self._items.append(_Item(deliver))
        await turn

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
            if self._items.popleft().deliver():
                # A woken call runs before the next item here, and writes its first entry without a break.
                asyncio.get_running_loop().call_soon(self._deliver_rest)
                return
        self.is_holding = False
        self._emptied.set()
        calls, self._waiting_for_room = self._waiting_for_room, []
        for call in calls:
            self._when_room(call)
