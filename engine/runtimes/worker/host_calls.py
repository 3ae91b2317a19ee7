"""Sends run-scoped calls to the host: many in flight, each with its own number."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from itertools import count
from typing import Any

from pydantic import ValidationError

from engine.protocol.errors import AgentAPIError, AgentAPIException, ErrorCode
from engine.runtimes import wire
from engine.runtimes.worker.outbox import Outbox


class HostCalls:
    """Makes calls over the wire."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._numbers = count(1)
        self._waiting: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Queue[wire.Frame]]] = {}
        """Pending calls by number. A runner may call from a thread with its own loop."""

    async def call(self, action: str, data: dict[str, Any]) -> Any:
        """Make a call and return the data of its reply."""
        number = self._ask(action, data)
        try:
            return _data(await self._waiting[number][1].get())
        except asyncio.CancelledError:
            self._take_back(number)
            raise
        finally:
            del self._waiting[number]

    async def stream(self, action: str, data: dict[str, Any]) -> AsyncGenerator[Any, None]:
        """Make a call and yield the data of each reply; closing it early cancels the call in the host."""
        number = self._ask(action, data)
        over = False
        try:
            while True:
                frame = await self._waiting[number][1].get()
                over = frame.get("chunk_status") == "end" or frame.get("code") != 0
                if frame.get("chunk_status") == "end" and frame.get("code") == 0:
                    return
                yield _data(frame)
        finally:
            if not over:
                self._take_back(number)
            del self._waiting[number]

    def replied(self, frame: wire.Frame) -> None:
        """Deliver a reply. One without a pending call is not an error: it crossed a cancel."""
        loop, waiting = self._waiting.get(frame["seq_id"], (None, None))
        if loop is None or waiting is None:
            return
        if loop is asyncio.get_running_loop():
            waiting.put_nowait(frame)
        else:
            with contextlib.suppress(RuntimeError):  # that loop is closed: nobody waits
                loop.call_soon_threadsafe(waiting.put_nowait, frame)

    def _ask(self, action: str, data: dict[str, Any]) -> int:
        number = next(self._numbers)
        try:
            line = wire.encode({"seq_id": number, "action": action, "data": data}, wire.MAX_FRAME)
        except wire.Unencodable as error:
            raise unsendable(action, error) from None
        if len(line) > wire.MAX_CONTAINERS and wire.too_wide(wire.dumps(data)):
            raise unsendable(action, wire.TooLarge(wire.TOO_WIDE))
        self._waiting[number] = asyncio.get_running_loop(), asyncio.Queue()
        self._outbox.send(line)
        return number

    def _take_back(self, number: int) -> None:
        self._outbox.send(wire.encode({"seq_id": 0, "action": "__cancel_action", "data": {"seq_id": number}}))


def unsendable(action: str, error: wire.Unencodable) -> AgentAPIException:
    """Return the refusal of a request that cannot be encoded."""
    code = ErrorCode.PAYLOAD_TOO_LARGE if isinstance(error, wire.TooLarge) else ErrorCode.INVALID_ARGUMENT
    return AgentAPIException.of(code, f"{action}: {error}")


def _data(frame: wire.Frame) -> Any:
    if frame.get("code") == 0:
        return frame.get("data")
    try:
        error = AgentAPIError.model_validate(frame.get("data"))
    except ValidationError:
        error = AgentAPIError(code=ErrorCode.RUNTIME_ERROR, message=str(frame.get("message")))
    raise AgentAPIException(error)
