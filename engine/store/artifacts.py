"""Artifacts: blobs in the database, files under a root directory, and references to content stored elsewhere."""

import hashlib
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, func, insert, or_, select, tuple_
from sqlalchemy.dialects.sqlite import insert as insert_or

from engine.events import Source
from engine.rooted_files import NotRegular, OutsideRoot, RootedFile, open_in_root
from engine.store.errors import ArtifactTaken, NotFound, PathEscapes
from engine.store.hidden_sessions import is_shown
from engine.store.json_text import encode
from engine.store.redact import redact
from engine.store.row_mapping import driver_of, every, first, teach_folding, values
from engine.store.tables import artifact_blobs, artifacts
from engine.store.tokenizer import folded

READ: Final = 1 << 20
MASKED_RANGES: Final = "masked_ranges"
"""Key in the metadata of an artifact whose bytes contain secrets: start, end and name of each. Never shown."""
_ENTRY_PART: Final = "call."
"""How the type of an artifact begins that the host stored as a part of a journal entry."""
_DELETE: Final = "DELETE FROM artifacts WHERE artifact_id IN (SELECT value FROM json_each(?))"
_DELETE_BLOBS: Final = """
    DELETE FROM artifact_blobs WHERE blob_key IN (SELECT value FROM json_each(?))
    AND NOT EXISTS (SELECT 1 FROM artifacts WHERE artifacts.blob_key = artifact_blobs.blob_key)
"""
REFERENCES: Final = "transcript JOIN json_each(transcript.artifact_refs) AS reference"
"""Lines of the transcript with each of their references to artifacts, in SQL."""
REFERENCED_ID: Final = "iif(reference.type = 'object', json_extract(reference.value, '$.artifact_id'), reference.value)"
"""The id of the artifact of one of the `REFERENCES`, which are ids, or objects that contain it."""
_HAND_OVER: Final = f"""
    UPDATE artifacts SET conversation_id = heirs.session_id FROM (
        SELECT {REFERENCED_ID} AS artifact_id, min(transcript.conversation_id) AS session_id FROM {REFERENCES}
        WHERE transcript.conversation_id IN (SELECT value FROM json_each(?)) GROUP BY 1
    ) AS heirs
    WHERE artifacts.artifact_id = heirs.artifact_id AND artifacts.conversation_id = ?
"""  # noqa: S608
MAX_READ_BYTES: Final = 10 << 20
MAX_LIFETIME_SECONDS: Final = 3.2e9
"""About a hundred years; a longer lifetime might not be a valid date."""


class Storage(StrEnum):
    """Where the content of an artifact is. The last three have no content here: reading them returns no bytes."""

    BLOB = "blob"
    FILE = "file"
    URL = "url"
    PLATFORM = "platform"
    METADATA = "metadata"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactRow:
    """The metadata of an artifact. The host never passes `location` and `root` to a runner."""

    artifact_id: str
    artifact_type: str
    storage: str
    source: str
    created_at: int
    mime_type: str | None = None
    name: str | None = None
    size_bytes: int | None = None
    sha256: str | None = None
    conversation_id: str | None = None
    thread_id: str | None = None
    bot_id: str | None = None
    workspace_id: str | None = None
    run_id: str | None = None
    runner_id: str | None = None
    expires_at: int | None = None
    blob_key: str | None = None
    location: str | None = None
    root: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def has_expired(self, now: int) -> bool:
        """Return whether the artifact has expired. An expired artifact cannot be read; it is listed only on request."""
        return self.expires_at is not None and self.expires_at <= now


def is_internal(row: ArtifactRow) -> bool:
    """Return whether an artifact is part of a journal entry, which no runner may read."""
    return row.source == Source.HOST and row.artifact_type.startswith(_ENTRY_PART)


def is_not_internal() -> ColumnElement[bool]:
    """Return the SQL condition that an artifact is not `is_internal`."""
    return or_(artifacts.c.source != Source.HOST.value, artifacts.c.artifact_type.not_like(f"{_ENTRY_PART}%"))


def expiry(created_at: int, *lifetimes: float | None) -> int | None:
    """Return when an artifact expires: after the shortest of these lifetimes, in seconds. None means no limit."""
    seconds = min((each for each in lifetimes if each is not None), default=None)
    return None if seconds is None else created_at + int(min(seconds, MAX_LIFETIME_SECONDS) * 1_000_000)


def register(conn: Connection, row: ArtifactRow, content: bytes | None = None) -> ArtifactRow:
    """Store an artifact and return its row. Raises ArtifactTaken if the id exists.

    Size and digest of a blob are computed here. A file must be inside its root; otherwise PathEscapes is raised.
    """
    if first(conn, select(artifacts).where(artifacts.c.artifact_id == row.artifact_id), ArtifactRow) is not None:
        raise ArtifactTaken(f"artifact {row.artifact_id} exists already. Use another artifact_id.")
    if row.storage == Storage.BLOB:
        content = content or b""
        digest = hashlib.sha256(content).hexdigest()
        row = replace(row, size_bytes=len(content), sha256=digest, blob_key=digest)
        conn.execute(insert_or(artifact_blobs).values(blob_key=digest, content=content).on_conflict_do_nothing())
    elif row.storage == Storage.FILE:
        opened = _open_file(row)
        os.close(opened.descriptor)
        row = replace(row, size_bytes=opened.status.st_size, location=str(opened.path))
    row = replace(row, metadata=redact(dict(row.metadata)))
    conn.execute(insert(artifacts), values(row))
    return row


def get(conn: Connection, artifact_id: str, *, now: int, expired: bool = False) -> ArtifactRow:
    """Return the artifact. Raises NotFound if it does not exist, or has expired and `expired` is false."""
    query = select(artifacts).where(artifacts.c.artifact_id == artifact_id, is_shown(artifacts.c.conversation_id))
    row = first(conn, query, ArtifactRow)
    if row is None or (row.has_expired(now) and not expired):
        raise NotFound(f"no artifact {artifact_id}. It does not exist or has expired.")
    return row


def read_range(conn: Connection, artifact_id: str, offset: int = 0, limit: int = READ, *, now: int) -> bytes:
    """Return at most 10 MiB of the content, without loading the rest. An offset past the end returns no bytes."""
    if offset < 0 or limit < 0:
        raise ValueError("offset and limit must not be negative")
    row = get(conn, artifact_id, now=now)
    limit = min(limit, MAX_READ_BYTES)
    if row.storage == Storage.BLOB:
        return _read_blob(conn, row, offset, limit)
    if row.storage == Storage.FILE:
        return _read_file(row, offset, limit)
    return b""


def page(
    conn: Connection,
    *,
    conversation_id: str | None = None,
    run_id: str | None = None,
    now: int,
    before: str | None = None,
    limit: int = 100,
    expired: bool = False,
    text: str = "",
) -> list[ArtifactRow]:
    """Return artifacts of a conversation, of a run or of all, newest first; `before` is an artifact id.

    Expired artifacts are omitted unless `expired` is true. `text` is searched for in name, types and id.
    """
    order = tuple_(artifacts.c.created_at, artifacts.c.artifact_id)
    query = select(artifacts).where(is_shown(artifacts.c.conversation_id))
    if text:
        teach_folding(conn)
        named = (artifacts.c.name, artifacts.c.artifact_type, artifacts.c.mime_type, artifacts.c.artifact_id)
        query = query.where(or_(*(func.instr(func.folded(each), folded(text)) > 0 for each in named)))
    if not expired:
        query = query.where(or_(artifacts.c.expires_at.is_(None), artifacts.c.expires_at > now))
    if conversation_id is not None:
        query = query.where(artifacts.c.conversation_id == conversation_id)
    if run_id is not None:
        query = query.where(artifacts.c.run_id == run_id)
    if before is not None:
        edge = select(artifacts.c.created_at, artifacts.c.artifact_id).where(artifacts.c.artifact_id == before)
        query = query.where(order < edge.scalar_subquery())
    query = query.order_by(artifacts.c.created_at.desc(), artifacts.c.artifact_id.desc()).limit(limit)
    return every(conn, query, ArtifactRow)


def delete_where(conn: Connection, *conditions: ColumnElement[bool], limit: int = -1) -> tuple[int, int]:
    """Delete artifacts that match, and their blobs that no other artifact refers to. Returns the numbers of both."""
    chosen = select(artifacts.c.artifact_id, artifacts.c.blob_key).where(*conditions).limit(limit)
    found = [(row.artifact_id, row.blob_key) for row in conn.execute(chosen)]
    # As one JSON value: SQLite limits the number of parameters.
    ids, keys = ([row[part] for row in found if row[part] is not None] for part in (0, 1))
    driver = driver_of(conn)
    driver.execute(_DELETE, (encode(ids),))
    return len(found), driver.execute(_DELETE_BLOBS, (encode(keys),)).rowcount


def hand_over(conn: Connection, session_id: str, heirs: Collection[str]) -> int:
    """Give those artifacts of a session that lines of other sessions refer to, to one of these. Returns their number.

    Costs the lines of these sessions.
    """
    return driver_of(conn).execute(_HAND_OVER, (encode(list(heirs)), session_id)).rowcount if heirs else 0


def _read_blob(conn: Connection, row: ArtifactRow, offset: int, limit: int) -> bytes:
    rowid = conn.exec_driver_sql("SELECT rowid FROM artifact_blobs WHERE blob_key = ?", (row.blob_key,)).scalar()
    if rowid is None:
        raise NotFound(f"the content of artifact {row.artifact_id} is gone.")
    # substr() would read the whole value first; incremental reading does not.
    with driver_of(conn).blobopen("artifact_blobs", "content", rowid, readonly=True) as blob:
        if offset >= len(blob):
            return b""
        blob.seek(offset)
        return blob.read(limit)


def _read_file(row: ArtifactRow, offset: int, limit: int) -> bytes:
    opened = _open_file(row)
    with os.fdopen(opened.descriptor, "rb") as file:
        if offset >= opened.status.st_size:
            return b""
        file.seek(offset)
        return file.read(limit)


def _open_file(row: ArtifactRow) -> RootedFile:
    """Open the file of an artifact. Raises PathEscapes if the file is not inside its root, or not a regular file."""
    if row.location is None or row.root is None:
        raise PathEscapes(f"artifact {row.artifact_id} has no file path.")
    try:
        return open_in_root(Path(row.root), row.location)
    except (OutsideRoot, NotRegular) as error:
        raise PathEscapes(f"the file of artifact {row.artifact_id} is outside its root.") from error
    except OSError as error:
        raise NotFound(f"the file of artifact {row.artifact_id} is gone or cannot be read.") from error
