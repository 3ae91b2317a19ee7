"""A call that a hold fits: it waits before it is made, its reply waits before it goes, and a person may answer it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NoReturn, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from engine.access.action import LARGEST, Action, Arguments, Reply
from engine.access.room import Room
from engine.facts.errors import CannotHold
from engine.protocol.content import Message, MessageChunk
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.protocol.faults import sentence
from engine.run.holds import STEP, Held, How, LetGo, Stage
from engine.run.live import LiveRun
from engine.run.points import PULLING
from engine.runtimes import wire

STREAM: Final = "invoke_llm_stream"


@dataclass(frozen=True, slots=True)
class Call:
    """One call that the gate has allowed."""

    call_id: str
    action: Action
    arguments: Arguments


async def answered(room: Room, run: LiveRun, call: Call, make: Callable[[], Awaitable[Reply]]) -> Reply:
    """What the runner gets: the reply of the call, or what a person puts in for it.

    An answer that is put in before the call is made takes its place. A pull is only ever held before it takes
    anything, so what is said or changed meanwhile is in it.
    """
    point = run.holds.meet_call(call.action.name)
    if point is None:
        return await make()
    gone = await _held(room, run, call, Stage.BEFORE, point)
    if gone.edit is not None:
        return _as_reply(call.action.name, gone.edit)
    if gone.how is How.RELEASE or call.action.name == PULLING:
        return await make()
    try:
        original = await _whole(call.action, make)
    except asyncio.CancelledError:
        run.holds.step_on()  # there is no reply to stop at
        raise
    gone = await _held(room, run, call, Stage.REPLY, STEP, original)
    return original.go() if gone.edit is None else _as_reply(call.action.name, gone.edit)


async def _held(
    room: Room, run: LiveRun, call: Call, stage: Stage, point: str, original: "_Original | None" = None
) -> LetGo:
    told = None if original is None else original.told()
    held = Held(
        point,
        stage,
        call_id=call.call_id,
        action=call.action.name,
        arguments=run.order.marks.cover_value(call.arguments.model_dump(mode="json", exclude_unset=True)),
        original=told,
    )
    gone = await run.holds.keep(held, partial(_edit, room, run, call, told))
    if gone is None:
        raise AgentAPIException.of(ErrorCode.CANCELLED, "the run ended while this call was held")
    return gone


def _edit(
    room: Room, run: LiveRun, call: Call, original: Mapping[str, Any] | None, reply: object, editor: str
) -> Mapping[str, Any]:
    """Check an answer that a person puts in, and note it with what it takes the place of."""
    edit = checked(call.action.name, reply)
    kind = "call.edited"
    told = room.part(run, kind, "original", original) | room.part(run, kind, "edit", edit)
    run.recorder.record("person", "hold.edited", {"call_id": call.call_id, **told, "editor": editor})
    return edit


# What a call came to


@dataclass(frozen=True, slots=True)
class _Original:
    """The answer of a call, kept while someone looks at it."""

    reply: Mapping[str, Any] | None = None
    frames: list[Mapping[str, Any]] | None = None
    error: AgentAPIException | None = None

    def told(self) -> Mapping[str, Any]:
        told: Mapping[str, Any] = self.reply or {} if self.frames is None else {"frames": self.frames}
        return told if self.error is None else {**told, "error": self.error.error.model_dump(mode="json")}

    def go(self) -> Reply:
        if self.frames is not None:
            return _flow(self.frames, self.error)
        if self.error is not None:
            raise self.error
        return self.reply or {}


async def _whole(action: Action, make: Callable[[], Awaitable[Reply]]) -> _Original:
    """Make the call and hear its answer out, a streamed one too."""
    frames: list[Mapping[str, Any]] | None = None
    try:
        reply = await make()
        if not isinstance(reply, AsyncGenerator):
            return _Original(cast("Mapping[str, Any]", reply))  # only a pull's is receipted
        frames = []
        async with aclosing(reply):
            async for frame in reply:
                frames.append(frame)
    except Exception as error:  # noqa: BLE001  (whatever it was, it is what the call came to)
        return _Original(frames=frames, error=action.failure(error))
    return _Original(frames=frames)


async def _flow(
    frames: Iterable[Mapping[str, Any]], error: AgentAPIException | None = None
) -> AsyncGenerator[Mapping[str, Any], None]:
    for frame in frames:
        yield frame
    if error is not None:
        raise error


# What a person puts in


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _ToolAnswer(_Answer):
    result: Any


class _ModelAnswer(_Answer):
    message: Message
    usage: dict[str, Any] | None = None


class _Frame(_Answer):
    chunk: MessageChunk | None = None
    usage: dict[str, Any] | None = None


class _StreamedAnswer(_Answer):
    message: Message | None = None
    usage: dict[str, Any] | None = None
    frames: list[_Frame] | None = None


_SHAPES: Final[Mapping[str, type[_Answer]]] = {
    "call_tool": _ToolAnswer,
    "invoke_llm": _ModelAnswer,
    STREAM: _StreamedAnswer,
}


def checked(action: str, reply: object) -> dict[str, Any]:
    """A reply as it can go to a runner, apart from the object that was given; raises CannotHold."""
    if not isinstance(reply, dict):
        _refuse(action, f"must be a JSON object, not {type(reply).__name__}")
    try:
        line = wire.dumps(cast("dict[str, Any]", reply))
    except wire.Unencodable as error:
        _refuse(action, f"cannot be sent: {error}")
    if len(line) > LARGEST:
        _refuse(action, f"has {len(line)} bytes, more than {LARGEST}")
    edit = cast("dict[str, Any]", wire.parse(line, wire.MAX_DEPTH))
    shape = _SHAPES.get(action)
    if shape is not None:
        try:
            shape.model_validate(edit)
        except ValidationError as error:
            _refuse(action, f"has {', '.join(shape.model_fields)}, and in this one {sentence(error, 'reply')}")
    if action == STREAM and (edit.get("message") is None) == (edit.get("frames") is None):
        _refuse(action, "is either a message or frames")
    return edit


def _refuse(action: str, why: str) -> NoReturn:
    raise CannotHold(f"the answer of {action} {why}. The call is still held.")


def _as_reply(action: str, edit: Mapping[str, Any]) -> Reply:
    """A model's whole answer goes as one chunk where a stream is due."""
    if action != STREAM:
        return edit
    if edit.get("frames") is not None:
        return _flow(edit["frames"])
    usage = {"usage": edit["usage"]} if edit.get("usage") is not None else {}
    return _flow([{"chunk": {**edit["message"], "is_final": True}, **usage}])
