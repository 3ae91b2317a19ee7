"""Records a streamed reply while it is sent, so that a killed host loses only its last few milliseconds."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import orjson

from engine.access.call import MAX_REPLY_BYTES
from engine.clock import Clock
from engine.events import EntryKind, Source
from engine.journal.frame_mask import FrameMask
from engine.journal.recorder import MAX_ENTRY_PART_BYTES
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.run.live import LiveRun
from engine.runtimes import wire

GROUP_SECONDS: Final = 0.004
"""Frames of one call that are sent within this time are one entry. The writer groups its commits by the same time."""


class StreamedReply:
    """The frames of one call. They are recorded in groups, each frame with the newest position when it was sent."""

    def __init__(self, run: LiveRun, call_id: str, clock: Clock) -> None:
        self._run = run
        self._call_id = call_id
        self._clock = clock
        self._started_at = clock.monotonic()
        self._first_frame_at: int | None = None
        self._frames = 0
        self._usage: Mapping[str, Any] | None = None
        self._mask = FrameMask(run.order.secret_mask)
        self._group: list[bytes] = []
        """The frames that are not recorded yet, as JSON with their positions."""
        self._group_bytes = 0
        self._timer: asyncio.TimerHandle | None = None

    def add(self, frame: Mapping[str, Any]) -> None:
        """Note a frame that is sent now. Raises AgentAPIException if it cannot be sent."""
        self._add(self._mask.cover(frame))
        if self._first_frame_at is None:
            self._first_frame_at = self._clock.monotonic()
        self._frames += 1
        self._usage = frame.get("usage") or self._usage
        if self._group_bytes > MAX_ENTRY_PART_BYTES // 2:
            self._record_group()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GROUP_SECONDS, self._record_group)

    def close(self) -> dict[str, Any]:
        """Record the rest. Returns the facts about the stream, for the entry of the reply."""
        for frame in self._mask.take_held():
            self._add(frame)
        self._record_group()
        facts: dict[str, Any] = {"frames": self._frames, "first_frame_ms": self._first_frame_ms}
        return facts if self._usage is None else {**facts, "usage": self._usage}

    @property
    def _first_frame_ms(self) -> float | None:
        """Milliseconds from the call to its first frame; None if there was none."""
        return None if self._first_frame_at is None else (self._first_frame_at - self._started_at) / 1_000

    def _add(self, frame: Mapping[str, Any]) -> None:
        text = b"[%d,%b]" % (self._run.recorder.position, _encode(frame))
        self._group.append(text)
        self._group_bytes += len(text)

    def _record_group(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        group, self._group, self._group_bytes = self._group, [], 0
        if group and not self._run.has_ended:  # run.finished is the last entry of a run
            frames = b"[" + b",".join(group) + b"]"
            self._run.recorder.record_call(
                Source.HOST, EntryKind.CALL_STREAMED, {"call_id": self._call_id}, {"frames": frames}
            )
            self._run.check_journal_limit()


def _encode(frame: Mapping[str, Any]) -> bytes:
    """Return a frame as JSON, as the runner gets it. Raises AgentAPIException if the wire cannot carry it."""
    try:
        text = orjson.dumps(frame)
    except TypeError:  # half of a surrogate pair, which the wire replaces, or something that is not JSON
        try:
            text = wire.dumps(frame)
        except wire.Unencodable as error:
            raise AgentAPIException.of(ErrorCode.RUNTIME_ERROR, f"a frame of the reply is {error}") from None
    if len(text) > MAX_REPLY_BYTES:
        raise AgentAPIException.of(
            ErrorCode.PAYLOAD_TOO_LARGE, f"a frame of the reply has {len(text)} bytes, more than {MAX_REPLY_BYTES}"
        )
    return text
