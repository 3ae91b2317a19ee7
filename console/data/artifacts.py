"""Reader of the artifacts browser: newest first, page by page; and saving an artifact to a file."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from console.data.paged import PAGE_ROWS, PagedReader

if TYPE_CHECKING:
    from engine.api import ArtifactRow, Engine

Progress = Callable[["ArtifactRow", int], None]
"""Called with the number of bytes that are written."""


class ArtifactReader(PagedReader["ArtifactRow"]):
    """Reads the artifacts of a session, of a run or of all, that contain a text."""

    def __init__(
        self, engine: "Engine", *, session: str | None = None, run_id: str | None = None, text: str = ""
    ) -> None:
        super().__init__(engine)
        self._session, self._run_id = session, run_id
        self.text = text
        self.rows: dict[str, ArtifactRow] = {}

    async def read_page(self) -> "list[ArtifactRow]":
        return await self._page(next(reversed(self.rows), None))

    def add_page(self, page: "list[ArtifactRow]") -> None:
        self.rows |= {row.artifact_id: row for row in page}

    async def refresh(self) -> bool:
        """If something was written, load new artifacts. Returns whether there are any."""
        if not await self.has_changed():
            return False
        page = {row.artifact_id: row for row in await self._page(None)}
        if len(page) == PAGE_ROWS and not page.keys() & self.rows.keys():
            self.rows, self.is_complete = page, False  # more is new than one page: start over
            return True
        is_new = bool(page.keys() - self.rows.keys())
        self.rows = page | self.rows
        return is_new

    async def _page(self, before: str | None) -> "list[ArtifactRow]":
        return await self._engine.artifacts.list(
            conversation_id=self._session,
            run_id=self._run_id,
            before=before,
            limit=PAGE_ROWS,
            expired=True,
            text=self.text,
        )


class TargetExists(Exception):
    """There already is a file at the target path."""


async def save_artifact(
    engine: "Engine", artifact: "ArtifactRow", path: Path, *, overwrite: bool, progress: Progress
) -> int:
    """Write an artifact to a file atomically: first beside it, then renamed. Returns the size in bytes.

    Raises TargetExists, and writes nothing, if there is a file and `overwrite` is not set.
    """
    if not overwrite and await asyncio.to_thread(os.path.lexists, path):
        raise TargetExists
    descriptor, temporary = await asyncio.to_thread(tempfile.mkstemp, prefix=".trackside-", dir=path.parent)
    written = 0
    try:
        with os.fdopen(descriptor, "wb") as file:
            async for piece in _read_pieces(engine, artifact):
                written += await asyncio.to_thread(file.write, piece)
                progress(artifact, written)
        await asyncio.to_thread(_move, temporary, path, overwrite=overwrite)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)  # noqa: PTH108  (it was renamed, or must be removed)
    return written


def _move(temporary: str, path: Path, *, overwrite: bool) -> None:
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(temporary, 0o666 & ~mask)  # noqa: PTH101  (the mode of an ordinary new file, not of a temporary one)
    if not overwrite:
        try:
            path.touch(exist_ok=False)  # a file that was created meanwhile is kept
        except FileExistsError:
            raise TargetExists from None
    os.replace(temporary, path)  # noqa: PTH105


async def _read_pieces(engine: "Engine", artifact: "ArtifactRow") -> AsyncIterator[bytes]:
    offset = 0
    while piece := await engine.artifacts.read_bytes(artifact.artifact_id, offset=offset):
        yield piece
        offset += len(piece)
