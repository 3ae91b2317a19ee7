"""Artifacts of the run's own conversation: what is known of them, and ranges of their bytes."""

import base64
from typing import Annotated, Any, Final

from pydantic import Field

from engine.access.action import Action, Arguments, Decision, Refused
from engine.access.places import check_place
from engine.access.room import Room, is_internal, stamp
from engine.facts import artifacts
from engine.facts.artifacts import READ, ArtifactRow, Storage
from engine.facts.errors import NotFound, PathEscapes
from engine.facts.rows import Place
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.run.live import LiveRun

Offset = Annotated[int, Field(ge=0)]
RANGE: Final = 65_536


class MetadataArguments(Arguments):
    artifact_id: str


class ReadArguments(Arguments):
    artifact_id: str
    offset: Offset = 0
    limit: Annotated[int, Field(ge=1)] | None = None


class RangeArguments(Arguments):
    artifact_id: str
    offset: Offset = 0
    length: Annotated[int, Field(ge=1)] = RANGE


async def metadata(room: Room, run: LiveRun, given: MetadataArguments) -> dict[str, Any]:
    row = await _own(room, run, given.artifact_id)
    return {
        "artifact_id": row.artifact_id,
        "artifact_type": row.artifact_type,
        "mime_type": row.mime_type,
        "name": row.name,
        "size_bytes": row.size_bytes,
        "sha256": row.sha256,
        "source": row.source,
        "conversation_id": row.conversation_id,
        "run_id": row.run_id,
        "runner_id": row.runner_id,
        "created_at": stamp(row.created_at),
        "expires_at": stamp(row.expires_at),
        "metadata": dict(row.metadata),
    }


async def read(room: Room, run: LiveRun, given: ReadArguments) -> dict[str, Any]:
    return await _range(room, run, given.artifact_id, given.offset, READ if given.limit is None else given.limit)


async def read_range(room: Room, run: LiveRun, given: RangeArguments) -> dict[str, Any]:
    return await _range(room, run, given.artifact_id, given.offset, given.length)


async def _range(room: Room, run: LiveRun, artifact_id: str, offset: int, limit: int) -> dict[str, Any]:
    row = await _own(room, run, artifact_id)
    reply: dict[str, Any] = {
        "artifact_id": row.artifact_id,
        "mime_type": row.mime_type,
        "size_bytes": row.size_bytes,
        "offset": offset,
        "length": 0,
        "content_base64": None,
        "file_key": None,
        "has_more": False,
    }
    if row.storage not in (Storage.BLOB, Storage.FILE):
        return reply | {"file_key": row.location}
    try:
        content = await room.read(
            run, lambda conn: artifacts.read_range(conn, artifact_id, offset, limit, now=room.clock.now())
        )
    except PathEscapes as error:
        raise Refused(Decision(False, str(error), resource=f"artifact:{artifact_id:.80}")) from None
    except NotFound as error:
        raise AgentAPIException.of(ErrorCode.NOT_FOUND, str(error)) from None
    has_more = offset + len(content) < (row.size_bytes or 0)
    encoded = base64.b64encode(content).decode()
    return reply | {"length": len(content), "content_base64": encoded, "has_more": has_more}


async def _own(room: Room, run: LiveRun, artifact_id: str) -> ArtifactRow:
    """The artifact, if it is there, has not expired and is of this run's place. The host's own are nobody's."""
    try:
        row = await room.read(run, lambda conn: artifacts.get(conn, artifact_id, now=room.clock.now()))
    except NotFound as error:
        raise AgentAPIException.of(ErrorCode.NOT_FOUND, str(error)) from None
    if is_internal(row):
        raise AgentAPIException.of(ErrorCode.NOT_FOUND, f"no artifact {artifact_id!r:.80}")
    place = Place(row.conversation_id, row.thread_id, row.bot_id, row.workspace_id)
    check_place(run, "artifact", artifact_id, place, run_id=row.run_id)
    return row


CALLS = (
    Action("artifact_metadata", MetadataArguments, (), metadata),
    Action("artifact_read", ReadArguments, (), read),
    Action("artifact_read_range", RangeArguments, (), read_range),
)
