"""The calls that every run may make, whatever it was granted: its own status, and who its host is."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from engine.clock import rfc3339
from engine.facts import runs
from engine.facts.database import Database
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.run.live import LiveRun
from engine.version import VERSION

Answer = Callable[[LiveRun], Awaitable[dict[str, Any]]]


class HostCalls:
    """Records each call and its reply in the run's journal, and refuses what it does not know."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._asked = 0
        self._answers: Final[Mapping[str, Answer]] = {"run_get": self._run_get, "get_langbot_version": self._version}

    async def answer(self, run: LiveRun, action: str, data: dict[str, Any]) -> Any:
        self._asked += 1
        call_id = f"call_{self._asked}"
        run.recorder.record("runner", "call.requested", {"call_id": call_id, "action": action, "arguments": data})
        answer = self._answers.get(action)
        if answer is None:
            problem = AgentAPIException.of(ErrorCode.UNAUTHORIZED, f"{action} is not among the calls this host answers")
            told = problem.error.model_dump(mode="json")
            run.recorder.record("host", "call.replied", {"call_id": call_id, "error": told}, outcome="refused")
            raise problem
        reply = await answer(run)
        run.recorder.record("host", "call.replied", {"call_id": call_id, "reply": reply})
        return reply

    async def _run_get(self, run: LiveRun) -> dict[str, Any]:
        row = await self._database.read(lambda conn: runs.get(conn, run.order.run_id))
        asked = row.cancel_requested_at
        return {
            "run_id": row.run_id,
            "status": row.status,
            "cancel_requested_at": None if asked is None else rfc3339(asked),
        }

    async def _version(self, run: LiveRun) -> dict[str, Any]:  # noqa: ARG002  (every answer gets its run)
        return {"version": f"trackside {VERSION}"}
