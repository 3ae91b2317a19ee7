"""Answers a run's calls on the host's side, each in its own task."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, Final, cast

from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.runtimes import wire
from engine.runtimes.pipes import WritePipe
from engine.runtimes.runtime import ConfirmedReply, EncodedReply, RunnerCall, Sink

MAX_TASKS: Final = 1024
"""Far above what the gate lets through: a flood of calls must not become a flood of tasks."""
ENCODED_BYTES: Final = 32 * 1024
"""A longer reply is split into fragments in a thread."""
MAX_ANSWERED: Final = 256
"""Answered calls that are remembered, because the runner may have cancelled them while the reply was on its way."""


class Answers:
    """Answers the calls of one run while it is active. No call is started while replies are unread."""

    def __init__(self, sink: Sink, pipe: WritePipe) -> None:
        self._sink = sink
        self._write = pipe.write
        self._room = pipe.room
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._calls: dict[int, RunnerCall] = {}
        self._answered: OrderedDict[int, RunnerCall] = OrderedDict()
        self._waiting: deque[asyncio.Future[None]] = deque()
        """Calls that wait until the runner has read earlier replies, in order."""
        self._waking: asyncio.Task[None] | None = None

    def take(self, number: int, action: str, data: object) -> None:
        """Start to answer a call; the runner may cancel it."""
        if action == "__cancel_action":
            called = cast("dict[str, Any]", data).get("seq_id") if isinstance(data, dict) else None
            if isinstance(called, int):
                self._cancel(called)
            return
        if number in self._tasks:
            self._reject_request(number, ErrorCode.INVALID_ARGUMENT, f"call {number} is already in progress")
            return
        if len(self._tasks) >= MAX_TASKS:
            self._reject_request(number, ErrorCode.RATE_LIMITED, f"{MAX_TASKS} calls are in progress")
            return
        if not isinstance(data, dict):
            self._reject_request(number, ErrorCode.INVALID_ARGUMENT, f"{action:.80}: its data is not an object")
            return
        call = self._calls[number] = self._sink.request(action, cast("dict[str, Any]", data))
        answer = self._answer(number, action, call)
        task = self._tasks[number] = asyncio.get_running_loop().create_task(answer)
        task.add_done_callback(lambda _: self._done(number))

    def _cancel(self, number: int) -> None:
        call = self._calls.get(number) or self._answered.pop(number, None)
        if call is not None:
            call.cancel()
        if (task := self._tasks.get(number)) is not None:
            task.cancel()

    def _done(self, number: int) -> None:
        del self._tasks[number]
        call = self._answered[number] = self._calls.pop(number)
        call.close()
        if len(self._answered) > MAX_ANSWERED:
            self._answered.popitem(last=False)

    def stop(self) -> None:
        """Cancel all calls, because the run has ended."""
        for task in self._tasks.values():
            task.cancel()
        if self._waking is not None:
            self._waking.cancel()

    async def _answer(self, number: int, action: str, call: RunnerCall) -> None:
        try:
            if not self._room.is_set() or self._waiting:
                await self._wait_for_turn()
            reply = await call.answer()
            if hasattr(reply, "__aiter__"):
                await self._stream(number, reply)
            elif isinstance(reply, EncodedReply):
                await self._send_encoded(number, reply)
            elif isinstance(reply, ConfirmedReply):
                self._send_confirmed(number, reply)
            else:
                self._reply(number, reply, "continue")
        except AgentAPIException as refused:
            error = refused.error
            body = {"seq_id": number, "code": 1, "message": error.message, "data": error.model_dump(mode="json")}
            self._write(wire.encode(body))
        except wire.Unencodable as error:
            self._refuse(number, ErrorCode.PAYLOAD_TOO_LARGE, f"{action}: the reply cannot be sent: {error}")
        except Exception as error:
            # A bug of ours: the runner gets an answer, and the loop's exception handler gets the traceback.
            self._refuse(number, ErrorCode.RUNTIME_ERROR, f"{action}: {type(error).__name__}: {error}")
            raise

    async def _wait_for_turn(self) -> None:
        """Wait until the runner has read the replies before."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        if self._waking is None:
            self._waking = asyncio.get_running_loop().create_task(self._wake())
        await turn

    async def _wake(self) -> None:
        """Let waiting calls go on, one in each turn of the loop, as long as the runner reads the replies."""
        while self._waiting:
            await self._room.wait()
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                await asyncio.sleep(0)  # the call may fill the pipe at once
        self._waking = None

    async def _send_encoded(self, number: int, reply: EncodedReply) -> None:
        try:
            if len(reply.text) > ENCODED_BYTES:
                line = await asyncio.to_thread(wire.encode_reply, number, reply.text)
                await self._room.wait()
            else:
                line = wire.encode_reply(number, reply.text)
            self._write(line)
        finally:
            reply.sent()

    def _send_confirmed(self, number: int, reply: ConfirmedReply) -> None:
        is_written = False
        try:
            is_written = self._reply(number, reply.data, "continue")
        finally:
            (reply.written if is_written else reply.lost)()

    async def _stream(self, number: int, replies: AsyncIterator[Any]) -> None:
        if hasattr(replies, "aclose"):
            async with aclosing(cast("Any", replies)):
                await self._send_all(number, replies)
        else:
            await self._send_all(number, replies)
        self._reply(number, {}, "end")

    async def _send_all(self, number: int, replies: AsyncIterator[Any]) -> None:
        async for reply in replies:
            self._reply(number, reply, "continue")
            await self._room.wait()

    def _reply(self, number: int, data: object, status: str) -> bool:
        """Write a reply. Returns whether the runner could still be reached."""
        frame = {"seq_id": number, "code": 0, "message": "success", "data": data, "chunk_status": status}
        return self._write(wire.encode(frame))

    def _reject_request(self, number: int, code: ErrorCode, message: str) -> None:
        """Refuse a request that never becomes a call. Nothing else records it."""
        self._sink.unreadable(message, 0)
        self._refuse(number, code, message)

    def _refuse(self, number: int, code: ErrorCode, message: str) -> None:
        data: dict[str, Any] = {"code": code.value, "message": message, "retryable": False, "details": {}}
        self._write(wire.encode({"seq_id": number, "code": 1, "message": message, "data": data}))
