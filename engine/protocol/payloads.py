"""The host's checks of result data. Runners do not need this module."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, StrictBool, StrictInt, ValidationError

from engine.protocol.base import LARGEST_INTEGER, StrictModel
from engine.protocol.content import Message, MessageChunk
from engine.protocol.faults import sentence
from engine.protocol.results import FailureCode, ResultType, StateScope


class MessageDelta(StrictModel):
    """Live text."""

    chunk: MessageChunk


class MessageCompleted(StrictModel):
    """A complete message, delivered and stored."""

    message: Message


class ArtifactCreated(StrictModel):
    """An artifact to store; the next assistant line refers to it."""

    artifact_type: str = Field(min_length=1)
    artifact_id: Annotated[str, Field(min_length=1)] | None = None
    mime_type: str | None = None
    name: str | None = None
    size_bytes: Annotated[StrictInt, Field(ge=0, le=LARGEST_INTEGER)] | None = None
    sha256: str | None = None
    metadata: dict[str, Any] | None = None
    content_base64: str | None = None


class StateUpdated(StrictModel):
    """A state value to store."""

    scope: StateScope
    key: str = Field(min_length=1, max_length=255)
    value: Any


class ActionRequested(StrictModel):
    """An action outside that the runner requests; recorded, never executed."""

    action: str = Field(min_length=1)
    target: dict[str, Any] | None = None
    payload: dict[str, Any] | None = None


class RunCompleted(StrictModel):
    """The end of the run; a message here is delivered like any other."""

    finish_reason: str = "stop"
    message: Message | None = None


class RunFailed(StrictModel):
    """The end of the run with its error."""

    error: str
    code: str = FailureCode.ERROR.value
    retryable: StrictBool = False


PAYLOADS: Final[Mapping[str, type[BaseModel]]] = {
    ResultType.MESSAGE_DELTA.value: MessageDelta,
    ResultType.MESSAGE_COMPLETED.value: MessageCompleted,
    ResultType.ARTIFACT_CREATED.value: ArtifactCreated,
    ResultType.STATE_UPDATED.value: StateUpdated,
    ResultType.ACTION_REQUESTED.value: ActionRequested,
    ResultType.RUN_COMPLETED.value: RunCompleted,
    ResultType.RUN_FAILED.value: RunFailed,
}
"""Validators of the types that have an effect. Tool calls are telemetry and not checked."""

_checks: dict[str, Callable[[object], object]] = {}


def validate_payload(type: str, data: object) -> str | None:  # noqa: A002 - the envelope's own name for it
    """Return the problem of a result's data in one sentence, or None.

    Called for every result, so it uses the compiled validator directly.
    """
    check = _checks.get(type)
    if check is None:
        model = PAYLOADS.get(type)
        if model is None:
            return None
        model.model_rebuild()
        check = _checks[type] = model.__pydantic_validator__.validate_python
    try:
        check(data)
    except ValidationError as error:
        return sentence(error, "data")
    return None
