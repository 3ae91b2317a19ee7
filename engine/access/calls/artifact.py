"""Calls for artifacts of the run's own conversation: their metadata, and ranges of their bytes."""

import base64
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field

from engine.access.call import Arguments, CallRefused, CallType, Decision
from engine.access.ownership import check_ownership, not_found
from engine.access.services import Services
from engine.clock import epoch_seconds
from engine.journal.secret_mask import SecretMask
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.run.live import LiveRun
from engine.store import artifacts
from engine.store.artifacts import MASKED_RANGES, READ, ArtifactRow, Storage, is_internal
from engine.store.errors import NotFound, PathEscapes
from engine.store.row_mapping import ConversationKey

Offset = Annotated[int, Field(ge=0)]
DEFAULT_RANGE_BYTES: Final = 65_536


class MetadataArguments(Arguments):
    artifact_id: str


class ReadArguments(Arguments):
    artifact_id: str
    offset: Offset = 0
    limit: Annotated[int, Field(ge=1)] | None = None


class RangeArguments(Arguments):
    artifact_id: str
    offset: Offset = 0
    length: Annotated[int, Field(ge=1)] = DEFAULT_RANGE_BYTES


async def metadata(services: Services, run: LiveRun, arguments: MetadataArguments) -> dict[str, Any]:
    row = await _get_own(services, run, arguments.artifact_id)
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
        "created_at": epoch_seconds(row.created_at),
        "expires_at": epoch_seconds(row.expires_at),
        "metadata": dict(row.metadata),
    }


async def read(services: Services, run: LiveRun, arguments: ReadArguments) -> dict[str, Any]:
    return await _read_range(
        services, run, arguments.artifact_id, arguments.offset, READ if arguments.limit is None else arguments.limit
    )


async def read_range(services: Services, run: LiveRun, arguments: RangeArguments) -> dict[str, Any]:
    return await _read_range(services, run, arguments.artifact_id, arguments.offset, arguments.length)


async def _read_range(services: Services, run: LiveRun, artifact_id: str, offset: int, limit: int) -> dict[str, Any]:
    row = await _get_own(services, run, artifact_id)
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
        content = await services.read(
            run, lambda conn: artifacts.read_range(conn, artifact_id, offset, limit, now=services.clock.now())
        )
    except PathEscapes as error:
        raise CallRefused(Decision(False, str(error), resource=f"artifact:{artifact_id:.80}")) from None
    except NotFound as error:
        raise AgentAPIException.of(ErrorCode.NOT_FOUND, str(error)) from None
    has_more = offset + len(content) < (row.size_bytes or 0)
    encoded = base64.b64encode(content).decode()
    return reply | {"length": len(content), "content_base64": encoded, "has_more": has_more}


async def _get_own(services: Services, run: LiveRun, artifact_id: str) -> ArtifactRow:
    """Return an artifact that exists, has not expired and belongs to the run's conversation; not one of the host."""
    try:
        row = await services.read(run, lambda conn: artifacts.get(conn, artifact_id, now=services.clock.now()))
    except NotFound:
        raise not_found("artifact", artifact_id) from None
    if is_internal(row):
        raise not_found("artifact", artifact_id)
    place = ConversationKey(row.conversation_id, row.thread_id, row.bot_id, row.workspace_id)
    check_ownership(run, "artifact", artifact_id, place, run_id=row.run_id)
    return _with_secrets(row, run.order.secret_mask)


def _with_secrets(row: ArtifactRow, mask: SecretMask) -> ArtifactRow:
    """Return the row as its runner wrote it: the stored one has the secrets masked."""
    texts = ("artifact_type", "mime_type", "name", "sha256", "location")
    restored = {name: mask.put_back(getattr(row, name)) for name in texts}
    metadata = {name: value for name, value in row.metadata.items() if name != MASKED_RANGES}
    return replace(row, **restored, metadata=mask.put_back(metadata))


CALLS = (
    CallType("artifact_metadata", MetadataArguments, (), metadata),
    CallType("artifact_read", ReadArguments, (), read, reads_much=True),
    CallType("artifact_read_range", RangeArguments, (), read_range, reads_much=True),
)
