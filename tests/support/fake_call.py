"""A call of a runner that a test answers."""

import asyncio
from collections.abc import Callable
from typing import Any


class FakeCall:
    """Answers with what a function returns, which may be a coroutine."""

    def __init__(self, reply: Callable[[], Any]) -> None:
        self._reply = reply
        self.is_cancelled = False
        self.closed = asyncio.Event()

    async def answer(self) -> Any:
        reply = self._reply()
        return await reply if asyncio.iscoroutine(reply) else reply

    def cancel(self) -> None:
        self.is_cancelled = True

    def close(self) -> None:
        self.closed.set()
