"""One run inside the child."""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

from engine.protocol import AgentRunContext, AgentRunResult, Message, MessageChunk, ResultType
from engine.runtimes import wire
from engine.runtimes.worker.outbox import Outbox
from engine.runtimes.worker.result_encoding import encoded
from engine.runtimes.worker.runner_driver import drive, opened
from engine.runtimes.worker.tracebacks import report, sentence

if TYPE_CHECKING:
    from engine.protocol.api import Caller

LAST: Final = frozenset({ResultType.RUN_COMPLETED, ResultType.RUN_FAILED})

SMALLEST: Final = {
    "run_id": "",
    "trigger": {"type": "message.received", "source": "system"},
    "event": {"event_id": "", "event_type": "message.received", "source": "system"},
    "input": {},
    "delivery": {"surface": ""},
    "context": {},
}


def rehearse() -> None:
    """Build pydantic's validators after `loaded` and before the first run, which would pay 15 ms for them."""
    AgentRunContext.model_validate(SMALLEST)
    import_module("engine.protocol.api")
    AgentRunResult.message_delta("", MessageChunk(role="assistant", content=""))
    AgentRunResult.message_completed("", Message(role="assistant", content=""))


class Run:
    """Performs one run, and knows afterwards how it ended."""

    def __init__(self, number: int, outbox: Outbox) -> None:
        self.number = number
        self.failure: dict[str, str] | None = {"code": "cancelled", "message": "cancelled", "traceback": ""}
        self.is_clean = False
        self._outbox = outbox
        self._head = b'{"seq_id":%d,"code":0,"message":"success","data":' % number
        self._tail = b',"chunk_status":"continue"}'

    async def perform(self, runner: Any, context: dict[str, Any], calls: "Caller") -> None:
        """Run until the runner ends, raises or is cancelled."""
        self._outbox.send_next_at_once()
        try:
            ctx = AgentRunContext.model_validate(context)
            ctx.connect(calls)
            await drive(opened(runner, ctx), self._emit, self._outbox.yield_to_loop)
        except asyncio.CancelledError as error:
            # Ours if someone asked for it; else the runner let one of its own escape.
            task = asyncio.current_task()
            if task is None or not task.cancelling():
                self._failed(error)
        except Exception as error:  # noqa: BLE001 - the author's code may raise anything
            self._failed(error)
        else:
            self.failure = None

    def _failed(self, error: BaseException) -> None:
        self.failure = {"code": "runner.exception", "message": sentence(error), "traceback": report(error)}

    def _emit(self, result: Any) -> bool:
        data = encoded(result)
        if isinstance(data, wire.Fault):
            reason = {"reason": data.reason, "size": data.size}
            frame = {"seq_id": self.number, "code": 0, "message": "unreadable", "data": reason}
            return self._outbox.put(wire.encode({**frame, "chunk_status": "unreadable"}))
        line = b"%b%b%b" % (self._head, data, self._tail)
        line = line + b"\n" if len(line) <= wire.FRAGMENT else wire.split(line)
        if _kind(result) in LAST:
            self._outbox.send(line)
            return True
        return self._outbox.put(line)


def _kind(result: Any) -> object:
    if isinstance(result, AgentRunResult):
        return result.type
    kind = cast("dict[str, object]", result).get("type") if isinstance(result, dict) else None
    return kind if isinstance(kind, str) else None
