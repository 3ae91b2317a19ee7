"""The call server: validates every call of every run, asks the gate, answers, and records all of it."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Final
from weakref import WeakKeyDictionary

import orjson
from pydantic import ValidationError

from engine.access.call import MAX_REPLY_BYTES, Arguments, CallRefused, CallType, Decision, Reply
from engine.access.calls import artifact, event, files, history, knowledge, model, state, steering, storage, tool
from engine.access.calls import run as run_calls
from engine.access.gate import decide_call
from engine.access.held_calls import AllowedCall, NextStep, collect_reply, pause_at_reply, pause_before_call
from engine.access.rate_limit import RateLimit
from engine.access.reply_slots import ReplySlot, ReplySlots
from engine.access.services import MAX_ENTRY_PART_BYTES, Services
from engine.events import EntryKind, Outcome, Source
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.protocol.faults import sentence
from engine.run.live import LiveRun, StopReason
from engine.runtimes.runtime import ConfirmedReply, EncodedReply

CALL_TYPES: Final[Mapping[str, CallType]] = {
    call_type.name: call_type
    for group in (model, tool, knowledge, history, event, steering, artifact, state, storage, files, run_calls)
    for call_type in group.CALLS
}
IDENTITY_FIELDS: Final = ("plugin_identity", "caller_plugin_identity")
"""Fields of LangBot's wire. The connection identifies the caller, so they may repeat its name but not claim another."""
ALLOWED_WHILE_STOPPING: Final = "run_get"
"""A runner learns by this call that it is being stopped, so it is answered until the run has ended."""
RUN_ENDED: Final = Decision(False, "the run has ended; its id is no longer valid")


class CallServer:
    """Answers the calls that runners make through `ctx.api`, in any runtime."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._rate_limits: WeakKeyDictionary[LiveRun, RateLimit] = WeakKeyDictionary()
        self._call_counts: WeakKeyDictionary[LiveRun, int] = WeakKeyDictionary()
        self._reply_slots: WeakKeyDictionary[LiveRun, ReplySlots] = WeakKeyDictionary()

    async def answer(self, run: LiveRun, action: str, data: dict[str, Any]) -> Any:
        """Return the reply's data, or an async iterator of parts of it. Raises AgentAPIException."""
        if run.has_ended:
            raise RUN_ENDED.refusal()
        number = self._call_counts[run] = self._call_counts.get(run, 0) + 1
        call_id = f"c{number}"
        request = {"call_id": call_id, "action": run.order.secret_mask.cover_words(action)[:100]}
        self._record(run, Source.RUNNER, EntryKind.CALL_REQUESTED, request, "arguments", data)
        rate_limit = self._rate_limits.setdefault(run, RateLimit())
        call_type, arguments, decision = self._decide(run, action, data, rate_limit)
        self._record_decision(run, call_id, decision)
        if call_type is None or arguments is None or not decision.allowed:
            raise decision.refusal()
        rate_limit.in_flight += 1
        slot = self._slot(run, call_type)
        try:
            reply = await self._perform(run, AllowedCall(call_id, call_type, arguments), slot)
            if isinstance(reply, AsyncGenerator):
                return self._stream(run, call_id, reply, rate_limit)
            if slot is not None:
                await slot.take()
            reply_data = reply.data if isinstance(reply, ConfirmedReply) else reply
            text = _encode(reply_data)
            self._record_reply(run, call_id, reply=reply_data, text=text)
            if slot is not None and (call_type.reads_much or len(text) > MAX_ENTRY_PART_BYTES):
                reply = EncodedReply(text, slot.release)
                slot = None
        except CallRefused as refusal:
            self._record_decision(run, call_id, refusal.decision)
            raise
        except AgentAPIException as error:
            self._record_reply(run, call_id, error=error)
            raise
        except asyncio.CancelledError:
            self._record_reply(run, call_id, error=_cancelled_by_runner())
            raise
        finally:
            rate_limit.in_flight -= 1
            if slot is not None:
                slot.release()
        return reply

    def _slot(self, run: LiveRun, call_type: CallType) -> ReplySlot | None:
        """Return the slot for the reply of a call; None if its reply is never large."""
        if not call_type.reads_much and not call_type.leaves_host:
            return None
        slots = self._reply_slots.get(run)
        if slots is None:
            slots = self._reply_slots[run] = ReplySlots()
        return slots.new()

    def _decide(
        self, run: LiveRun, name: str, data: dict[str, Any], rate_limit: RateLimit
    ) -> tuple[CallType | None, Arguments | None, Decision]:
        refusal = self._check_caller(run, name, data, rate_limit)
        if refusal is not None:
            return None, None, refusal
        call_type = CALL_TYPES.get(name)
        if call_type is None:
            shown = run.order.secret_mask.cover_words(name)
            return None, None, Decision(False, f"{shown!r:.80} is not a call of this host", ErrorCode.NOT_FOUND)
        own_data = {key: value for key, value in data.items() if key != "run_id" and key not in IDENTITY_FIELDS}
        try:
            arguments = call_type.arguments.model_validate(own_data)
        except ValidationError as error:
            return None, None, Decision(False, sentence(error, name), ErrorCode.INVALID_ARGUMENT)
        return call_type, arguments, decide_call(call_type, run.order.grants, arguments)

    def _check_caller(self, run: LiveRun, name: str, data: dict[str, Any], rate_limit: RateLimit) -> Decision | None:
        """Return why a call is refused whatever it asks: the run is ending, the caller is wrong, or the rate is."""
        if run.stop_reason is not None and name != ALLOWED_WHILE_STOPPING:
            return _stopped_decision(run.stop_reason)
        if run.final_result is not None:
            return RUN_ENDED
        if data.get("run_id") != run.order.run_id:
            problem = "has no run_id" if data.get("run_id") is None else "has the run_id of another run"
            return Decision(False, f"the call {problem}")
        if any(data.get(key, run.order.grants.plugin) != run.order.grants.plugin for key in IDENTITY_FIELDS):
            return Decision(False, "the call claims to come from another plugin")
        if (problem := rate_limit.take()) is not None:
            return Decision(False, problem, ErrorCode.RATE_LIMITED)
        return None

    async def _perform(self, run: LiveRun, call: AllowedCall, slot: ReplySlot | None) -> Reply:
        """Make the call, with pauses at breakpoints. A stop of the run cancels it, and the runner gets the reason."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  (a running coroutine has a task)
        run.active_calls.add(task)
        try:
            location = run.pause_control.match_call(call.call_type.name)
            if location is None:
                if slot is not None and call.call_type.reads_much:
                    await slot.take()
                return await self._make(run, call)
            return await self._make_paused(run, call, location)
        except asyncio.CancelledError:
            if run.stop_reason is None:
                raise
            raise _stopped_decision(run.stop_reason).refusal() from None
        except AgentAPIException:
            raise
        except Exception as error:
            raise call.call_type.as_api_error(error) from error
        finally:
            run.active_calls.discard(task)

    async def _make_paused(self, run: LiveRun, call: AllowedCall, location: str) -> Reply:
        """Pause before a call, and then do what the user decided."""
        decision = await pause_before_call(self._services, run, call, location)
        if decision.reply is not None:
            return decision.reply
        if decision.next_step is NextStep.MAKE_CALL:
            return await self._make(run, call)
        try:
            original = await collect_reply(call.call_type, self._make(run, call))
        except asyncio.CancelledError:
            run.pause_control.pause_at_next_boundary()  # there is no reply to pause at
            raise
        return await pause_at_reply(self._services, run, call, original)

    async def _make(self, run: LiveRun, call: AllowedCall) -> Reply:
        if call.call_type.leaves_host:
            await self._services.writer.flush()
        return await call.call_type.handler(self._services, run, call.arguments)

    async def _stream(
        self, run: LiveRun, call_id: str, frames: AsyncGenerator[Mapping[str, Any], None], rate_limit: RateLimit
    ) -> AsyncGenerator[Mapping[str, Any], None]:
        """Pass on the frames of a streamed reply, and record all of them at the end."""
        sent: list[Mapping[str, Any]] = []
        task = asyncio.current_task()
        rate_limit.in_flight += 1
        if task is not None:
            run.active_calls.add(task)
        error: AgentAPIException | None = None
        try:
            async with aclosing(frames):
                async for frame in frames:
                    sent.append(frame)
                    yield frame
        except GeneratorExit:
            error = _cancelled_by_runner() if run.stop_reason is None else _stopped_decision(run.stop_reason).refusal()
            raise
        except asyncio.CancelledError:
            if run.stop_reason is None:
                error = _cancelled_by_runner()
                raise
            error = _stopped_decision(run.stop_reason).refusal()
            raise error from None
        except AgentAPIException as api_error:
            error = api_error
            raise
        finally:
            rate_limit.in_flight -= 1
            if task is not None:
                run.active_calls.discard(task)
            self._record_reply(run, call_id, reply={"frames": sent}, error=error)

    def _record_decision(self, run: LiveRun, call_id: str, decision: Decision) -> None:
        if run.has_ended:
            return
        data: dict[str, Any] = {"call_id": call_id, "allowed": decision.allowed, "clause": decision.clause}
        if decision.resource is not None:
            data["resource"] = decision.resource
        if decision.allowed:
            run.recorder.record(Source.HOST, EntryKind.CALL_DECIDED, data)
        else:
            data["code"] = decision.code
            run.recorder.record(
                Source.HOST, EntryKind.CALL_DECIDED, data, outcome=Outcome.REFUSED, reason=decision.clause
            )

    def _record_reply(
        self,
        run: LiveRun,
        call_id: str,
        *,
        reply: Mapping[str, Any] | None = None,
        text: bytes | None = None,
        error: AgentAPIException | None = None,
    ) -> None:
        """Record a reply, or an error; `text` is the reply as JSON, if it is known."""
        if run.has_ended:
            return  # run.finished is the last entry of a run
        if error is not None:
            data = {"call_id": call_id, "error": error.error.model_dump(mode="json")}
            if reply is None:
                run.recorder.record(
                    Source.HOST, EntryKind.CALL_REPLIED, data, outcome=Outcome.FAILED, reason=error.error.message
                )
            else:
                self._record(run, Source.HOST, EntryKind.CALL_REPLIED, data, "reply", reply)
        else:
            self._record(run, Source.HOST, EntryKind.CALL_REPLIED, {"call_id": call_id}, "reply", reply, text)

    def _record(
        self,
        run: LiveRun,
        source: str,
        kind: str,
        data: dict[str, Any],
        name: str,
        value: object,
        text: bytes | None = None,
    ) -> None:
        """Record a request or reply."""
        run.recorder.record(source, kind, data | self._services.entry_part(run, kind, name, value, text))


def _encode(reply: Mapping[str, Any]) -> bytes:
    """Return a reply as JSON. Raises AgentAPIException if it is too large."""
    text = orjson.dumps(reply)
    if len(text) > MAX_REPLY_BYTES:
        raise AgentAPIException.of(
            ErrorCode.PAYLOAD_TOO_LARGE, f"the reply has {len(text)} bytes, more than {MAX_REPLY_BYTES}; ask for less"
        )
    return text


def _cancelled_by_runner() -> AgentAPIException:
    return AgentAPIException.of(ErrorCode.CANCELLED, "the runner stopped waiting for the reply")


def _stopped_decision(reason: StopReason) -> Decision:
    """Return why a call of a run that is being stopped is refused."""
    match reason:
        case StopReason.DEADLINE:
            return Decision(False, "the run's deadline has passed", ErrorCode.DEADLINE_EXCEEDED)
        case StopReason.CANCELLED:
            return Decision(False, "the run was stopped", ErrorCode.CANCELLED)
        case _:
            return Decision(False, "the run is being stopped", ErrorCode.CANCELLED)
