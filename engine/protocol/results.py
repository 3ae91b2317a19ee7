"""The results that a runner yields: one envelope with a type; `payloads` checks its data."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import BaseModel, Field

from engine.protocol.base import Moment, StrictModel
from engine.protocol.content import Message, MessageChunk


class ResultType(StrEnum):
    """The result types that this host knows; others are recorded and have no effect."""

    MESSAGE_DELTA = "message.delta"
    MESSAGE_COMPLETED = "message.completed"
    TOOL_CALL_STARTED = "tool.call.started"
    TOOL_CALL_COMPLETED = "tool.call.completed"
    ARTIFACT_CREATED = "artifact.created"
    STATE_UPDATED = "state.updated"
    ACTION_REQUESTED = "action.requested"
    RUN_COMPLETED = "run.completed"
    RUN_FAILED = "run.failed"


class FailureCode(StrEnum):
    """Why a run failed."""

    TIMEOUT = "runner.timeout"
    CANCELLED = "cancelled"
    ERROR = "runner.error"
    EXCEPTION = "runner.exception"
    LOST = "runner.lost"
    HOST_RESTARTED = "host_restarted"


StateScope = Literal["conversation", "actor", "subject", "runner"]


def _as_data(said: BaseModel | Mapping[str, Any]) -> dict[str, Any]:
    """Only fields that the author set: the wire carries no dozen nulls per delta."""
    return said.model_dump(exclude_unset=True) if isinstance(said, BaseModel) else dict(said)


class AgentRunResult(StrictModel):
    """One result. The constructors below make every type that the host knows."""

    run_id: str | None = None
    """May be left out: the host knows whose stream it reads."""
    type: str
    data: dict[str, Any] = Field(default_factory=dict)
    sequence: int | None = None
    """The runner's own count, from 1, rising by 1."""
    timestamp: Moment | None = None
    usage: dict[str, Any] | None = None

    @classmethod
    def message_delta(cls, run_id: str, chunk: MessageChunk | Mapping[str, Any]) -> Self:
        """A part of a message that is being streamed."""
        return cls(run_id=run_id, type="message.delta", data={"chunk": _as_data(chunk)})

    @classmethod
    def message_completed(cls, run_id: str, message: Message | Mapping[str, Any]) -> Self:
        """A complete message; it replaces the deltas before it."""
        return cls(run_id=run_id, type="message.completed", data={"message": _as_data(message)})

    @classmethod
    def tool_call_started(cls, run_id: str, tool_call_id: str, tool_name: str, parameters: Mapping[str, Any]) -> Self:
        """Report that a tool call started."""
        data = {"tool_call_id": tool_call_id, "tool_name": tool_name, "parameters": dict(parameters)}
        return cls(run_id=run_id, type="tool.call.started", data=data)

    @classmethod
    def tool_call_completed(
        cls, run_id: str, tool_call_id: str, tool_name: str, result: Any = None, error: str | None = None
    ) -> Self:
        """Report that a tool call completed or failed."""
        data = {"tool_call_id": tool_call_id, "tool_name": tool_name, "result": result, "error": error}
        return cls(run_id=run_id, type="tool.call.completed", data=data)

    @classmethod
    def artifact_created(
        cls,
        run_id: str,
        artifact_type: str,
        artifact_id: str | None = None,
        mime_type: str | None = None,
        name: str | None = None,
        size_bytes: int | None = None,
        sha256: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        content_base64: str | None = None,
    ) -> Self:
        """Store an artifact; the host makes an id if none is given."""
        given = {
            "artifact_type": artifact_type,
            "artifact_id": artifact_id,
            "mime_type": mime_type,
            "name": name,
            "size_bytes": size_bytes,
            "sha256": sha256,
            "metadata": None if metadata is None else dict(metadata),
            "content_base64": content_base64,
        }
        data = {key: value for key, value in given.items() if value is not None}
        return cls(run_id=run_id, type="artifact.created", data=data)

    @classmethod
    def state_updated(cls, run_id: str, key: str, value: Any, scope: StateScope) -> Self:
        """Store one value in a scope of the state."""
        return cls(run_id=run_id, type="state.updated", data={"scope": scope, "key": key, "value": value})

    @classmethod
    def action_requested(
        cls,
        run_id: str,
        action: str,
        target: Mapping[str, Any] | None = None,
        payload: Mapping[str, Any] | None = None,
    ) -> Self:
        """Request an action, which is recorded and not executed."""
        data: dict[str, Any] = {"action": action}
        if target is not None:
            data["target"] = dict(target)
        if payload is not None:
            data["payload"] = dict(payload)
        return cls(run_id=run_id, type="action.requested", data=data)

    @classmethod
    def run_completed(
        cls,
        run_id: str,
        message: Message | Mapping[str, Any] | None = None,
        finish_reason: str = "stop",
        *,
        usage: Mapping[str, Any] | None = None,
    ) -> Self:
        """End the run."""
        data: dict[str, Any] = {"finish_reason": finish_reason}
        if message is not None:
            data["message"] = _as_data(message)
        return cls(run_id=run_id, type="run.completed", data=data, usage=None if usage is None else dict(usage))

    @classmethod
    def run_failed(
        cls,
        run_id: str,
        error: str,
        code: str = FailureCode.ERROR.value,
        retryable: bool = False,
        *,
        usage: Mapping[str, Any] | None = None,
    ) -> Self:
        """End the run as failed. `retryable` informs; the host never retries."""
        data = {"code": code, "error": error, "retryable": retryable}
        return cls(run_id=run_id, type="run.failed", data=data, usage=None if usage is None else dict(usage))
