"""Calls that are paused at a breakpoint: before they are made, and at their reply, which the user may edit."""

from collections.abc import AsyncGenerator, Awaitable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from typing import Any, Final, NamedTuple, NoReturn, cast

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from engine.access.call import MAX_REPLY_BYTES, Arguments, CallType, Reply
from engine.events import ContinueMode, EntryKind, PauseStage, Source
from engine.protocol.content import Message, MessageChunk
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.protocol.faults import sentence
from engine.run.breakpoints import PULL_CALL, STEP, Pause, PauseOutcome
from engine.run.live import LiveRun
from engine.runtimes import wire
from engine.store.errors import BreakpointError

STREAM_CALL: Final = "invoke_llm_stream"


@dataclass(frozen=True, slots=True)
class AllowedCall:
    """A call that the gate has allowed."""

    call_id: str
    call_type: CallType
    arguments: Arguments


class NextStep(Enum):
    """What to do with a call after a pause before it."""

    SEND_REPLY = auto()
    """Do not make the call: send the reply that the user has set."""
    MAKE_CALL = auto()
    MAKE_CALL_AND_PAUSE = auto()
    """Make the call, and pause again at its reply."""


class PauseDecision(NamedTuple):
    """What the user decided during a pause before a call."""

    next_step: NextStep
    reply: Reply | None = None


async def pause_before_call(run: LiveRun, call: AllowedCall, location: str) -> PauseDecision:
    """Pause before a call is made, and return what the user decided.

    A pull is only paused here, before it takes anything, so that changes of the queue during the pause count.
    """
    outcome = await _pause(run, call, PauseStage.BEFORE, location)
    if outcome.edit is not None:
        return PauseDecision(NextStep.SEND_REPLY, _as_reply(call.call_type.name, outcome.edit))
    if outcome.mode is ContinueMode.CONTINUE or call.call_type.name == PULL_CALL:
        return PauseDecision(NextStep.MAKE_CALL)
    return PauseDecision(NextStep.MAKE_CALL_AND_PAUSE)


async def pause_at_reply(run: LiveRun, call: AllowedCall, original: "CollectedReply") -> Reply:
    """Pause at the reply of a call. Returns the reply to send: the original, or the one that the user has set."""
    outcome = await _pause(run, call, PauseStage.REPLY, STEP, original.as_data())
    return original.as_reply() if outcome.edit is None else _as_reply(call.call_type.name, outcome.edit)


async def _pause(
    run: LiveRun,
    call: AllowedCall,
    stage: PauseStage,
    location: str,
    original: Mapping[str, Any] | None = None,
) -> PauseOutcome:
    pause = Pause(
        location,
        stage,
        call_id=call.call_id,
        action=call.call_type.name,
        arguments=run.order.secret_mask.cover_value(call.arguments.model_dump(mode="json", exclude_unset=True)),
        original=None if original is None else _masked(run, original),
    )
    outcome = await run.pause_control.wait_while_paused(pause, partial(_edit_reply, run, call, original))
    if outcome is None:
        raise AgentAPIException.of(ErrorCode.CANCELLED, "the run ended while it was paused at this call")
    return outcome


def _edit_reply(
    run: LiveRun,
    call: AllowedCall,
    original: Mapping[str, Any] | None,
    reply: object,
    editor: str,
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Check a reply that the user has set, and record it with the original that it replaces.

    The user has seen the original with its secrets masked. The marks that are still in the reply become secrets again.
    Returns the reply to send, and the reply as it is shown.
    """
    edit = check_edited_reply(call.call_type.name, run.order.secret_mask.put_back(reply, original))
    parts = {"original": orjson.dumps(original), "edit": orjson.dumps(edit)}
    data = {"call_id": call.call_id, "editor": editor}
    run.recorder.record_call(Source.USER, EntryKind.PAUSE_EDITED, data, parts)
    return edit, _masked(run, edit)


def _masked(run: LiveRun, reply: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a reply as the user may see it; the same object if it contains no secret."""
    if not run.order.secret_mask.secrets:
        return reply
    text = orjson.dumps(reply).decode()
    masked = run.recorder.cover(text)
    return reply if masked is text else orjson.loads(masked)


# The reply of a call that was made


@dataclass(frozen=True, slots=True)
class CollectedReply:
    """The complete reply of a call, kept while the run is paused at it."""

    reply: Mapping[str, Any] | None = None
    frames: list[Mapping[str, Any]] | None = None
    error: AgentAPIException | None = None

    def as_data(self) -> Mapping[str, Any]:
        """Return the reply, and its error, as JSON data."""
        data: Mapping[str, Any] = self.reply or {} if self.frames is None else {"frames": self.frames}
        return data if self.error is None else {**data, "error": self.error.error.model_dump(mode="json")}

    def as_reply(self) -> Reply:
        """Return the reply as the call gave it; raises its error."""
        if self.frames is not None:
            return _stream(self.frames, self.error)
        if self.error is not None:
            raise self.error
        return self.reply or {}


async def collect_reply(call_type: CallType, reply: Awaitable[Reply]) -> CollectedReply:
    """Await a reply until it is complete, also a streamed one. An error of the call is part of the result."""
    frames: list[Mapping[str, Any]] | None = None
    try:
        made = await reply
        if not isinstance(made, AsyncGenerator):
            return CollectedReply(cast("Mapping[str, Any]", made))  # only a pull has a ConfirmedReply
        frames = []
        async with aclosing(made):
            async for frame in made:
                frames.append(frame)
    except Exception as error:  # noqa: BLE001  (whatever it was, it is the outcome of the call)
        return CollectedReply(frames=frames, error=call_type.as_api_error(error))
    return CollectedReply(frames=frames)


async def _stream(
    frames: Iterable[Mapping[str, Any]], error: AgentAPIException | None = None
) -> AsyncGenerator[Mapping[str, Any], None]:
    for frame in frames:
        yield frame
    if error is not None:
        raise error


# The reply that the user sets


class _EditedReply(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _ToolReply(_EditedReply):
    result: Any


class _ModelReply(_EditedReply):
    message: Message
    usage: dict[str, Any] | None = None


class _Frame(_EditedReply):
    chunk: MessageChunk | None = None
    usage: dict[str, Any] | None = None


class _StreamedReply(_EditedReply):
    message: Message | None = None
    usage: dict[str, Any] | None = None
    frames: list[_Frame] | None = None


_SHAPES: Final[Mapping[str, type[_EditedReply]]] = {
    "call_tool": _ToolReply,
    "invoke_llm": _ModelReply,
    STREAM_CALL: _StreamedReply,
}


def check_edited_reply(action: str, reply: object) -> dict[str, Any]:
    """Return a copy of a reply as it can be sent to a runner. Raises BreakpointError if it cannot be sent."""
    if not isinstance(reply, dict):
        _refuse(action, f"must be a JSON object, not {type(reply).__name__}")
    try:
        line = wire.dumps(cast("dict[str, Any]", reply))
    except wire.Unencodable as error:
        _refuse(action, f"cannot be sent: {error}")
    if len(line) > MAX_REPLY_BYTES:
        _refuse(action, f"has {len(line)} bytes; the limit is {MAX_REPLY_BYTES}")
    edit = cast("dict[str, Any]", wire.parse(line, wire.MAX_DEPTH))
    shape = _SHAPES.get(action)
    if shape is not None:
        try:
            shape.model_validate(edit)
        except ValidationError as error:
            _refuse(action, f"needs {', '.join(shape.model_fields)}: {sentence(error, 'reply')}")
    if action == STREAM_CALL and (edit.get("message") is None) == (edit.get("frames") is None):
        _refuse(action, "must have either message or frames")
    return edit


def _refuse(action: str, problem: str) -> NoReturn:
    raise BreakpointError(f"The reply of {action} {problem}. The run is still paused.")


def _as_reply(action: str, edit: Mapping[str, Any]) -> Reply:
    """Return an edited reply in the form of the call: a whole message becomes one chunk of a stream."""
    if action != STREAM_CALL:
        return edit
    if edit.get("frames") is not None:
        return _stream(edit["frames"])
    usage = {"usage": edit["usage"]} if edit.get("usage") is not None else {}
    return _stream([{"chunk": {**edit["message"], "is_final": True}, **usage}])
