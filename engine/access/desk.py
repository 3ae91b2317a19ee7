"""Takes every call of every run: reads it, has the gate decide, records call, decision and reply, and answers."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any, Final
from weakref import WeakKeyDictionary

import orjson
from pydantic import ValidationError

from engine.access import (
    artifact,
    event,
    files,
    history,
    knowledge,
    model,
    state,
    steering,
    storage,
    tool,
)
from engine.access import (
    run as run_calls,
)
from engine.access.action import LARGEST, Action, Arguments, Decision, Refused, Reply
from engine.access.gate import decide
from engine.access.holding import Call, answered
from engine.access.room import Room
from engine.access.traffic import Traffic
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.protocol.faults import sentence
from engine.run.live import LiveRun, Stop
from engine.runtimes.runtime import Receipted

ACTIONS: Final[Mapping[str, Action]] = {
    action.name: action
    for group in (model, tool, knowledge, history, event, steering, artifact, state, storage, files, run_calls)
    for action in group.CALLS
}
IDENTITY: Final = ("plugin_identity", "caller_plugin_identity")
"""What LangBot's own wire may carry; the connection says who calls, so it can only be repeated, never claimed."""
STILL_ANSWERED: Final = "run_get"
"""How a runner learns that it is being stopped, so it is answered until the run has ended."""
ENDED: Final = Decision(False, "the run has ended; its id opens nothing any more")


class AccessDesk:
    """The answer to `ctx.api`, whoever runs the runner."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._traffic: WeakKeyDictionary[LiveRun, Traffic] = WeakKeyDictionary()
        self._numbers: WeakKeyDictionary[LiveRun, int] = WeakKeyDictionary()

    async def answer(self, run: LiveRun, action: str, data: dict[str, Any]) -> Any:
        """The reply's data, or an iterator of them; raises AgentAPIException."""
        if run.is_over:
            raise ENDED.refusal()
        number = self._numbers[run] = self._numbers.get(run, 0) + 1
        call_id = f"c{number}"
        self._record(run, "runner", "call.requested", {"call_id": call_id, "action": action[:100]}, "arguments", data)
        traffic = self._traffic.setdefault(run, Traffic())
        known, arguments, decision = self._decide(run, action, data, traffic)
        self._tell(run, call_id, decision)
        if known is None or arguments is None or not decision.allowed:
            raise decision.refusal()
        traffic.in_flight += 1
        try:
            reply = await self._perform(run, Call(call_id, known, arguments))
            if isinstance(reply, AsyncGenerator):
                return self._streamed(run, call_id, reply, traffic)
            told = reply.data if isinstance(reply, Receipted) else reply
            _check_size(told)
            self._replied(run, call_id, reply=told)
        except Refused as refusal:
            self._tell(run, call_id, refusal.decision)
            raise
        except AgentAPIException as refusal:
            self._replied(run, call_id, error=refusal)
            raise
        except asyncio.CancelledError:
            self._replied(run, call_id, error=_taken_back())
            raise
        finally:
            traffic.in_flight -= 1
        return reply

    def _decide(
        self, run: LiveRun, name: str, data: dict[str, Any], traffic: Traffic
    ) -> tuple[Action | None, Arguments | None, Decision]:
        refused = self._refused_at_the_door(run, name, data, traffic)
        if refused is not None:
            return None, None, refused
        action = ACTIONS.get(name)
        if action is None:
            return None, None, Decision(False, f"{name!r:.80} is no call of this host", ErrorCode.NOT_FOUND)
        given = {key: value for key, value in data.items() if key != "run_id" and key not in IDENTITY}
        try:
            arguments = action.arguments.model_validate(given)
        except ValidationError as error:
            return None, None, Decision(False, sentence(error, name), ErrorCode.INVALID_ARGUMENT)
        return action, arguments, decide(action, run.order.grants, arguments)

    def _refused_at_the_door(self, run: LiveRun, name: str, data: dict[str, Any], traffic: Traffic) -> Decision | None:
        """What is wrong with a call whatever it asks: the run is over, the caller is another, there are too many."""
        if run.stop is not None and name != STILL_ANSWERED:
            return _over(run.stop)
        if run.end is not None:
            return ENDED
        if data.get("run_id") != run.order.run_id:
            named = "names no run" if data.get("run_id") is None else "names another run than its own"
            return Decision(False, f"the call {named}")
        if any(data.get(key, run.order.grants.plugin) != run.order.grants.plugin for key in IDENTITY):
            return Decision(False, "the call claims to come from another plugin")
        if (problem := traffic.problem()) is not None:
            return Decision(False, problem, ErrorCode.RATE_LIMITED)
        return None

    async def _perform(self, run: LiveRun, call: Call) -> Reply:
        """Do it. A run that is stopped meanwhile interrupts the call, and the runner hears why."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  (a coroutine that runs has one)
        run.calls.add(task)
        try:
            return await answered(self._room, run, call, partial(self._make, run, call))
        except asyncio.CancelledError:
            if run.stop is None:
                raise
            raise _over(run.stop).refusal() from None
        except AgentAPIException:
            raise
        except Exception as error:
            raise call.action.failure(error) from error
        finally:
            run.calls.discard(task)

    async def _make(self, run: LiveRun, call: Call) -> Reply:
        if call.action.leaves_the_host:
            await self._room.writer.flush()
        return await call.action.answer(self._room, run, call.arguments)

    async def _streamed(
        self, run: LiveRun, call_id: str, frames: AsyncGenerator[Mapping[str, Any], None], traffic: Traffic
    ) -> AsyncGenerator[Mapping[str, Any], None]:
        told: list[Mapping[str, Any]] = []
        task = asyncio.current_task()
        traffic.in_flight += 1
        if task is not None:
            run.calls.add(task)
        error: AgentAPIException | None = None
        try:
            async with aclosing(frames):
                async for frame in frames:
                    told.append(frame)
                    yield frame
        except GeneratorExit:
            error = _taken_back() if run.stop is None else _over(run.stop).refusal()
            raise
        except asyncio.CancelledError:
            if run.stop is None:
                error = _taken_back()
                raise
            error = _over(run.stop).refusal()
            raise error from None
        except AgentAPIException as refusal:
            error = refusal
            raise
        finally:
            traffic.in_flight -= 1
            if task is not None:
                run.calls.discard(task)
            self._replied(run, call_id, reply={"frames": told}, error=error)

    def _tell(self, run: LiveRun, call_id: str, decision: Decision) -> None:
        if run.is_over:
            return
        data: dict[str, Any] = {"call_id": call_id, "allowed": decision.allowed, "clause": decision.clause}
        if decision.resource is not None:
            data["resource"] = decision.resource
        if decision.allowed:
            run.recorder.record("host", "call.decided", data)
        else:
            data["code"] = decision.code
            run.recorder.record("host", "call.decided", data, outcome="refused", reason=decision.clause)

    def _replied(
        self,
        run: LiveRun,
        call_id: str,
        *,
        reply: Mapping[str, Any] | None = None,
        error: AgentAPIException | None = None,
    ) -> None:
        if run.is_over:
            return  # run.finished is a run's last entry
        if error is not None:
            told = {"call_id": call_id, "error": error.error.model_dump(mode="json")}
            if reply is None:
                run.recorder.record("host", "call.replied", told, outcome="failed", reason=error.error.message)
            else:
                self._record(run, "host", "call.replied", told, "reply", reply)
        else:
            self._record(run, "host", "call.replied", {"call_id": call_id}, "reply", reply)

    def _record(self, run: LiveRun, source: str, kind: str, data: dict[str, Any], name: str, value: object) -> None:
        """Record a request or reply."""
        run.recorder.record(source, kind, data | self._room.part(run, kind, name, value))


def _check_size(reply: Mapping[str, Any]) -> None:
    size = len(orjson.dumps(reply))
    if size > LARGEST:
        raise AgentAPIException.of(
            ErrorCode.PAYLOAD_TOO_LARGE, f"the reply has {size} bytes, more than {LARGEST}; ask for less"
        )


def _taken_back() -> AgentAPIException:
    return AgentAPIException.of(ErrorCode.CANCELLED, "the runner stopped waiting for the answer")


def _over(stop: Stop) -> Decision:
    """Why a call of a run that is being stopped is not answered."""
    match stop:
        case Stop.DEADLINE:
            return Decision(False, "the run's deadline has passed", ErrorCode.DEADLINE_EXCEEDED)
        case Stop.CANCELLED:
            return Decision(False, "the run was cancelled", ErrorCode.CANCELLED)
        case _:
            return Decision(False, "the run is being stopped", ErrorCode.CANCELLED)
