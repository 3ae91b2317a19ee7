"""Artifacts of runs."""

from engine.api.core import EngineCore
from engine.store import artifacts
from engine.store.artifacts import READ as ARTIFACT_READ
from engine.store.artifacts import ArtifactRow


class ArtifactsApi:
    """List and read artifacts. Expired artifacts are left out unless `expired` is set."""

    def __init__(self, core: EngineCore) -> None:
        self._core = core

    async def get(self, artifact_id: str, *, expired: bool = False) -> ArtifactRow:
        now = self._core.now()
        return await self._core.read(lambda conn: artifacts.get(conn, artifact_id, now=now, expired=expired))

    async def read_bytes(self, artifact_id: str, *, offset: int = 0, limit: int = ARTIFACT_READ) -> bytes:
        """A range of an artifact's content."""
        now = self._core.now()
        return await self._core.read(lambda conn: artifacts.read_range(conn, artifact_id, offset, limit, now=now))

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
        return await self._core.read(
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
