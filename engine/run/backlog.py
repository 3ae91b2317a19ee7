"""What a held result keeps back: itself, unrecorded, and all that its runner said and asked behind it, in order."""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, cast

from engine.run.holds import Held, Holds, Stage


class _Item(NamedTuple):
    go: Callable[[], bool | None]
    """Lets it through; true if it speaks only in the loop's next turn."""
    kind: object = None
    """The type of a result, which may be held in its turn."""


class Backlog:
    """Stands between a run's runtime and its journal; empty unless a result is held."""

    def __init__(
        self,
        holds: Holds,
        take: Callable[[object], None],
        when_room: Callable[[Callable[[], None]], None],
    ) -> None:
        self._holds = holds
        self._take = take
        self._when_room = when_room
        self._items: deque[_Item] = deque()
        self._wait_for_room: list[Callable[[], None]] = []
        self._emptied = asyncio.Event()
        self._emptied.set()
        self.keeps = False
        """Whether what comes now must wait; the runtime should read no more."""

    def result(self, result: object) -> None:
        """Take a result, hold it, or let it wait behind one that is held."""
        kind = _type_of(result)
        if not self.keeps:
            point = self._holds.meet_result(kind)
            if point is None:
                self._take(result)
                return
            self.keeps = True
            self._emptied.clear()
            self._hold(point, str(kind))
        self._items.append(_Item(partial(self._take, result), kind))

    def behind(self, call: Callable[[], None]) -> None:
        """Something that is no result, in its order."""
        self._items.append(_Item(call))

    async def turn(self) -> None:
        """Wait until all that came before has gone through; a call speaks only then."""
        come: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def go() -> bool:
            if come.done():  # taken back
                return False
            come.set_result(None)
            return True

        self._items.append(_Item(go))
        await come

    def when_room(self, call: Callable[[], None]) -> None:
        """Call when nothing is kept back and the writer has room."""
        if self.keeps:
            self._wait_for_room.append(call)
        else:
            self._when_room(call)

    async def emptied(self) -> None:
        """Return when nothing is kept back."""
        await self._emptied.wait()

    def _hold(self, point: str, kind: str) -> None:
        self._holds.stand(Held(point, Stage.RESULT, type=kind), lambda _: self._let_go(), self._let_go)

    def _let_go(self) -> None:
        self._items.popleft().go()
        self._go_on()

    def _go_on(self) -> None:
        while self._items:
            kind = self._items[0].kind
            point = self._holds.meet_result(kind)
            if point is not None:
                self._hold(point, str(kind))
                return
            if self._items.popleft().go():
                # A woken call runs before what is queued here, and writes its first entry without a pause.
                asyncio.get_running_loop().call_soon(self._go_on)
                return
        self.keeps = False
        self._emptied.set()
        calls, self._wait_for_room = self._wait_for_room, []
        for call in calls:
            self._when_room(call)


def _type_of(result: object) -> object:
    return cast("dict[str, Any]", result).get("type") if isinstance(result, dict) else None
