"""Models, tools, knowledge bases, skills and files of the project."""

import asyncio

from engine.api.core import EngineCore
from engine.project.form import Choices, resource_choices
from engine.resources.files import list_file_keys


class ResourcesApi:
    """List the resources that the user can choose and grant."""

    def __init__(self, core: EngineCore) -> None:
        self._core = core

    async def choices(self) -> Choices:
        """All resources of the project, each with its id and name. Files are listed in a thread."""
        workspace = self._core.workspace
        roots = workspace.project.file_roots()
        files = await asyncio.to_thread(list_file_keys, roots)
        return resource_choices(workspace.catalog, files, has_file_roots=bool(roots))
