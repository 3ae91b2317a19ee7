"""Reads a recorded call back: its request, its decision, and its reply with all frames."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from sqlalchemy import Connection

from engine.journal.kinds import CallStreamed, Data, EntryKind
from engine.store import entries, parts
from engine.store.errors import NotFound
from engine.store.parts import PartDamaged

MAX_SHOWN_BYTES: Final = 1024 * 1024
"""A larger part is not put into the entry that refers to it."""
DAMAGED: Final = "content damaged"
_REF: Final = "_ref"


@dataclass(frozen=True, slots=True)
class CallRecord:
    """The data of a call's entries. What they refer to is in its place, unless it is very large."""

    request: Data = field(default_factory=dict[str, Any])
    decision: Data = field(default_factory=dict[str, Any])
    reply: Data = field(default_factory=dict[str, Any])
    """Empty until the reply is recorded. The frames of a streamed reply are its `frames`."""


def read_call(conn: Connection, run_id: str, requested: int, replied: int | None) -> CallRecord:
    """Return a call of a run by the positions of its request and its reply."""
    last = requested + 1 if replied is None else replied  # the decision is recorded right after the request
    places = sorted({requested, requested + 1, last})
    found = {entry.type: orjson.loads(entry.data) for entry in entries.at_positions(conn, run_id, places)}
    request = with_parts(conn, run_id, found.get(EntryKind.CALL_REQUESTED, {}))
    decision = found.get(EntryKind.CALL_DECIDED, {})
    reply = with_parts(conn, run_id, found.get(EntryKind.CALL_REPLIED, {}))
    if "streamed" in reply:
        frames = [frame for _, frame in read_frames(conn, run_id, reply.get("call_id"), requested, last)]
        reply = {**reply, "frames": frames}
    return CallRecord(request, decision, reply)


def read_frames(conn: Connection, run_id: str, call_id: object, after: int, before: int) -> Iterator[tuple[int, Data]]:
    """Yield the frames of a streamed reply that were recorded between two positions.

    Each has the position of the newest entry when it was sent.
    """
    for entry in entries.of_kind(conn, run_id, EntryKind.CALL_STREAMED, after=after, before=before):
        data = orjson.loads(entry.data)
        if data.get("call_id") == call_id:
            yield from CallStreamed(with_parts(conn, run_id, data, max_bytes=None)).frames


def with_parts(
    conn: Connection, run_id: str, data: Mapping[str, Any], *, max_bytes: int | None = MAX_SHOWN_BYTES
) -> Mapping[str, Any]:
    """Return the data of an entry with the parts that it refers to in their places."""
    refs = [name for name in data if name.endswith(_REF) and parts.is_digest(data[name])]
    if not refs:
        return data
    shown = dict(data)
    for ref in refs:
        name = ref.removesuffix(_REF)
        size = data.get(f"{name}_size")
        if max_bytes is not None and isinstance(size, int) and size > max_bytes:
            continue
        try:
            if parts.is_used_by(conn, run_id, data[ref]):
                shown[name] = orjson.loads(parts.read(conn, data[ref]))
                del shown[ref]
        except (PartDamaged, NotFound, orjson.JSONDecodeError):
            shown[name] = DAMAGED
    return shown
