"""The call server: validates every call of every run, asks the gate, answers, and records all of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from weakref import WeakKeyDictionary

import orjson
from pydantic import ValidationError

from engine.access.call import Arguments, CallType, Decision
from engine.access.calls import artifact, event, files, history, knowledge, model, state, steering, storage, tool
from engine.access.calls import run as run_calls
from engine.access.gate import decide_call
from engine.access.held_calls import AllowedCall
from engine.access.rate_limit import RateLimit
from engine.access.reply_slots import ReplySlots
from engine.access.served_call import ServedCall, record_decision, stopped_decision
from engine.access.services import Services
from engine.events import EntryKind, Source
from engine.journal.turns import MODEL_CALLS
from engine.log import get_log
from engine.protocol.errors import ErrorCode
from engine.protocol.faults import sentence
from engine.run.live import LiveRun
from engine.runtimes.runtime import RunnerCall

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
LOG: Final = get_log("calls")


@dataclass(slots=True)
class _RunCalls:
    """What the server knows about the calls of one run."""

    count: int = 0
    rate_limit: RateLimit = field(default_factory=RateLimit)
    reply_slots: ReplySlots = field(default_factory=ReplySlots)


@dataclass(frozen=True, slots=True)
class _RefusedCall:
    """A call that the gate refused."""

    decision: Decision

    async def answer(self) -> Any:
        raise self.decision.refusal()

    def cancel(self) -> None:
        pass

    def close(self) -> None:
        pass


class CallServer:
    """Answers the calls that runners make through `ctx.api`, in any runtime."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._runs: WeakKeyDictionary[LiveRun, _RunCalls] = WeakKeyDictionary()

    def open(self, run: LiveRun, action: str, data: dict[str, Any]) -> RunnerCall:
        """Record a call and the decision about it, and return it to be answered."""
        if run.has_ended:
            return _RefusedCall(RUN_ENDED)
        calls = self._runs.get(run)
        if calls is None:
            calls = self._runs[run] = _RunCalls()
        calls.count += 1
        call_id = f"c{calls.count}"
        call_type, arguments, decision = self._decide(run, action, data, calls.rate_limit)
        if decision.allowed and action in MODEL_CALLS:
            run.recorder.turns.note_model_call(data["messages"])
        run.recorder.record_call(
            Source.RUNNER,
            EntryKind.CALL_REQUESTED,
            {"call_id": call_id, "action": run.order.secret_mask.cover_words(action)[:100]},
            {"arguments": orjson.dumps(data)},
        )
        record_decision(run, call_id, decision)
        if call_type is None or arguments is None or not decision.allowed:
            return _RefusedCall(decision)
        slot = calls.reply_slots.new() if call_type.reads_much or call_type.leaves_host else None
        return ServedCall(self._services, run, AllowedCall(call_id, call_type, arguments), calls.rate_limit, slot)

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
            return call_type, arguments, decide_call(call_type, run.order.grants, arguments)
        except ValidationError as error:
            return None, None, Decision(False, sentence(error, name), ErrorCode.INVALID_ARGUMENT)
        except Exception as error:  # a bug of ours must not stop the wire
            LOG.exception("the decision about %s failed", name)
            return None, None, Decision(False, f"{name} failed: {error!r:.300}", ErrorCode.RUNTIME_ERROR)

    def _check_caller(self, run: LiveRun, name: str, data: dict[str, Any], rate_limit: RateLimit) -> Decision | None:
        """Return why a call is refused whatever it asks: the run is ending, the caller is wrong, or the rate is."""
        if run.stop_reason is not None and name != ALLOWED_WHILE_STOPPING:
            return stopped_decision(run.stop_reason)
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
