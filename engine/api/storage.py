"""Storage of plugins and workspaces as it was at an earlier time."""

from engine.api.core import EngineCore
from engine.store import storage, storage_log
from engine.store.storage_log import StorageThen


class StorageApi:
    """Read storage. Values are as the runner stored them: secrets in them are not masked."""

    def __init__(self, core: EngineCore) -> None:
        self._core = core

    async def plugin_at_start(self, name: str) -> StorageThen:
        """The storage of a run's plugin as it was when the run started; `is_known` says if all of it is known."""
        run = await self._core.find_run(name)
        plugin = (run.authorization or {}).get("plugin", "")
        return await self._at_start(storage.plugin_owner(plugin), run.run_id)

    async def workspace_at_start(self, name: str) -> StorageThen:
        """The same for the storage of the run's workspace."""
        run = await self._core.find_run(name)
        return await self._at_start(storage.workspace_owner(run.workspace_id), run.run_id)

    async def _at_start(self, owner: str, run_id: str) -> StorageThen:
        return await self._core.read(lambda conn: storage_log.at_start(conn, owner, run_id))
