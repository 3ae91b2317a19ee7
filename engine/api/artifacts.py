"""Artifacts of runs."""

from dataclasses import replace

from sqlalchemy import Connection

from engine.api.core import EngineCore
from engine.journal.secret_mask import mask_ranges
from engine.store import artifacts
from engine.store.artifacts import READ as ARTIFACT_READ
from engine.store.artifacts import ArtifactRow


class ArtifactsApi:
    """List and read artifacts. Expired artifacts are left out unless `expired` is set."""

    def __init__(self, core: EngineCore) -> None:
        self._core = core

    async def get(self, artifact_id: str, *, expired: bool = False) -> ArtifactRow:
        now = self._core.now()
        return _shown(await self._core.read(lambda conn: artifacts.get(conn, artifact_id, now=now, expired=expired)))

    async def read_bytes(self, artifact_id: str, *, offset: int = 0, limit: int = ARTIFACT_READ) -> bytes:
        """A range of an artifact's content."""
        now = self._core.now()
        return await self._core.read(lambda conn: artifacts.read_range(conn, artifact_id, offset, limit, now=now))

    async def preview(self, artifact_id: str, *, limit: int) -> bytes:
        """The beginning of an artifact's content, to be shown: with the secrets in it masked."""
        now, mask = self._core.now(), await self._core.secret_mask()

        def read(conn: Connection) -> bytes:
            content = artifacts.read_range(conn, artifact_id, 0, limit, now=now)
            noted = artifacts.get(conn, artifact_id, now=now).metadata.get(artifacts.MASKED_RANGES, [])
            return mask_ranges(content, [*noted, *mask.ranges_in(content)])

        return await self._core.read(read)

    async def list(
        self,
        *,
        run_id: str | None = None,
        conversation_id: str | None = None,
        before: str | None = None,
        limit: int = 100,
        expired: bool = False,
        text: str = "",
    ) -> list[ArtifactRow]:
        """Artifacts before an artifact id, newest first; `text` must be in the name, type or id."""
        now = self._core.now()
        found = await self._core.read(
            lambda conn: artifacts.page(
                conn,
                run_id=run_id,
                conversation_id=conversation_id,
                now=now,
                before=before,
                limit=limit,
                expired=expired,
                text=text,
            )
        )
        return [_shown(row) for row in found]


def _shown(row: ArtifactRow) -> ArtifactRow:
    if artifacts.MASKED_RANGES not in row.metadata:
        return row
    metadata = {name: value for name, value in row.metadata.items() if name != artifacts.MASKED_RANGES}
    return replace(row, metadata=metadata)
