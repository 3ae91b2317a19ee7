"""An allowed call: makes it, with pauses at breakpoints, and records its reply."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Final

import orjson

from engine.access.call import MAX_REPLY_BYTES, CallRefused, Decision, Reply
from engine.access.held_calls import AllowedCall, NextStep, collect_reply, pause_at_reply, pause_before_call
from engine.access.rate_limit import RateLimit
from engine.access.reply_slots import ReplySlot
from engine.access.services import Services
from engine.access.streamed_reply import StreamedReply
from engine.events import EntryKind, Outcome, Source
from engine.journal.recorder import MAX_ENTRY_PART_BYTES
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.run.live import LiveRun, StopReason
from engine.runtimes.runtime import ConfirmedReply, EncodedReply

_BY_RUNNER: Final[Mapping[str, str]] = {"cancelled_by": Source.RUNNER}


class ServedCall:
    """One call from its decision to its reply. Every call that was allowed gets exactly one `call.replied`.

    If the runner cancels the call while the reply is on its way, a second one says so.
    """

    def __init__(
        self, services: Services, run: LiveRun, call: AllowedCall, rate_limit: RateLimit, slot: ReplySlot | None
    ) -> None:
        self._services = services
        self._run = run
        self._call = call
        self._rate_limit = rate_limit
        self._slot = slot
        """For the reply; None if the reply of such a call is never large."""
        self._is_cancelled = False
        """Whether the runner cancelled the call."""
        self._has_reply = False
        """Whether the reply is recorded."""
        self._is_closed = False
        rate_limit.in_flight += 1

    async def answer(self) -> Any:
        run, call_type, slot = self._run, self._call.call_type, self._slot
        try:
            reply = await self._perform()
            if isinstance(reply, AsyncGenerator):
                return self._stream(reply)
            if slot is not None:
                await slot.take()
            text = _encode(reply.data if isinstance(reply, ConfirmedReply) else reply)
            self._record_reply(text)
            if slot is not None and (call_type.reads_much or len(text) > MAX_ENTRY_PART_BYTES):
                self._slot = None
                return EncodedReply(text, slot.release)
        except CallRefused as refusal:
            record_decision(run, self._call.call_id, refusal.decision)
            self._has_reply = True
            raise
        except AgentAPIException as error:
            self._record_error(error)
            raise
        return reply

    def cancel(self) -> None:
        if self._is_cancelled:
            return
        self._is_cancelled = True
        if self._has_reply and not self._run.has_ended:
            self._run.recorder.record(
                Source.HOST, EntryKind.CALL_REPLIED, {"call_id": self._call.call_id, **_BY_RUNNER}
            )

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._rate_limit.in_flight -= 1
        if self._slot is not None:
            self._slot.release()
        if not self._has_reply:
            self._record_error(self._interruption())

    async def _perform(self) -> Reply:
        """Make the call, with pauses at breakpoints. A stop of the run cancels it, and the runner gets the reason."""
        run, call = self._run, self._call
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  (a running coroutine has a task)
        run.active_calls.add(task)
        try:
            location = run.pause_control.match_call(call.call_type.name)
            if location is not None:
                return await self._make_paused(location)
            if self._slot is not None and call.call_type.reads_much:
                await self._slot.take()
            return await self._make()
        except asyncio.CancelledError:
            if run.stop_reason is None:
                raise
            raise stopped_decision(run.stop_reason).refusal() from None
        except AgentAPIException:
            raise
        except Exception as error:
            raise call.call_type.as_api_error(error) from error
        finally:
            run.active_calls.discard(task)

    async def _make_paused(self, location: str) -> Reply:
        """Pause before a call, and then do what the user decided."""
        run, call = self._run, self._call
        decision = await pause_before_call(run, call, location)
        if decision.reply is not None:
            return decision.reply
        if decision.next_step is NextStep.MAKE_CALL:
            return await self._make()
        try:
            original = await collect_reply(call.call_type, self._make())
        except asyncio.CancelledError:
            run.pause_control.pause_at_next_boundary()  # there is no reply to pause at
            raise
        return await pause_at_reply(run, call, original)

    async def _make(self) -> Reply:
        if self._call.call_type.leaves_host:
            await self._services.writer.flush()
        return await self._call.call_type.handler(self._services, self._run, self._call.arguments)

    async def _stream(self, frames: AsyncGenerator[Mapping[str, Any], None]) -> AsyncGenerator[Mapping[str, Any], None]:
        """Pass on the frames of a streamed reply, and record them."""
        run = self._run
        streamed = StreamedReply(run, self._call.call_id, self._services.clock)
        task = asyncio.current_task()
        if task is not None:
            run.active_calls.add(task)
        error: AgentAPIException | None = None
        try:
            async with aclosing(frames):
                async for frame in frames:
                    streamed.add(frame)
                    yield frame
                    if run.stop_reason is not None:
                        await asyncio.sleep(0)  # the stop has cancelled this task; a model may never wait
                    if self._services.writer.full:
                        await self._wait_for_room()
        except GeneratorExit:
            error = self._interruption()
            raise
        except asyncio.CancelledError:
            error = self._interruption()
            if run.stop_reason is None:
                raise
            raise error from None
        except AgentAPIException as api_error:
            error = api_error
            raise
        except Exception as cause:
            error = self._call.call_type.as_api_error(cause)
            raise error from cause
        finally:
            if task is not None:
                run.active_calls.discard(task)
            self._record_stream(streamed.close(), error)

    async def _wait_for_room(self) -> None:
        """Wait until the frames so far are written, because a slow disk must not fill the memory."""
        room = asyncio.Event()
        self._services.writer.when_room(room.set)
        await room.wait()

    def _interruption(self) -> AgentAPIException:
        """Return why the call has no reply."""
        if self._run.stop_reason is not None:
            return stopped_decision(self._run.stop_reason).refusal()
        if self._is_cancelled:
            return AgentAPIException.of(ErrorCode.CANCELLED, "the runner stopped waiting for the reply")
        return AgentAPIException.of(ErrorCode.CANCELLED, "the run ended before the reply")

    # Entries

    def _record_reply(self, text: bytes) -> None:
        self._record({}, {"reply": text})

    def _record_error(self, error: AgentAPIException, **data: Any) -> None:
        data["error"] = error.error.model_dump(mode="json")
        self._record(data, {}, outcome=Outcome.FAILED, reason=error.error.message)

    def _record_stream(self, facts: Mapping[str, Any], error: AgentAPIException | None) -> None:
        if error is None:
            self._record({"streamed": facts}, {})
        else:
            self._record_error(error, streamed=facts)

    def _record(self, data: Mapping[str, Any], parts: Mapping[str, bytes], **details: Any) -> None:
        self._has_reply = True
        if self._run.has_ended:
            return  # run.finished is the last entry of a run
        fields = {"call_id": self._call.call_id, **(_BY_RUNNER if self._is_cancelled else {}), **data}
        self._run.recorder.record_call(Source.HOST, EntryKind.CALL_REPLIED, fields, parts, **details)


def record_decision(run: LiveRun, call_id: str, decision: Decision) -> None:
    """Record whether a call is allowed, and by which clause."""
    if run.has_ended:
        return
    data: dict[str, Any] = {"call_id": call_id, "allowed": decision.allowed, "clause": decision.clause}
    if decision.resource is not None:
        data["resource"] = decision.resource
    if decision.allowed:
        run.recorder.record(Source.HOST, EntryKind.CALL_DECIDED, data)
    else:
        data["code"] = decision.code
        run.recorder.record(Source.HOST, EntryKind.CALL_DECIDED, data, outcome=Outcome.REFUSED, reason=decision.clause)


def stopped_decision(reason: StopReason) -> Decision:
    """Return why a call of a run that is being stopped is refused."""
    match reason:
        case StopReason.DEADLINE:
            return Decision(False, "the run's deadline has passed", ErrorCode.DEADLINE_EXCEEDED)
        case StopReason.CANCELLED:
            return Decision(False, "the run was stopped", ErrorCode.CANCELLED)
        case _:
            return Decision(False, "the run is being stopped", ErrorCode.CANCELLED)


def _encode(reply: Mapping[str, Any]) -> bytes:
    """Return a reply as JSON. Raises AgentAPIException if it is too large."""
    text = orjson.dumps(reply)
    if len(text) > MAX_REPLY_BYTES:
        raise AgentAPIException.of(
            ErrorCode.PAYLOAD_TOO_LARGE, f"the reply has {len(text)} bytes, more than {MAX_REPLY_BYTES}; ask for less"
        )
    return text
