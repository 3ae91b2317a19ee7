"""A project with its runners and resources: everything that is needed to prepare a run, without a database."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.clock import Ids, SystemClock, TimeIds
from engine.project.config import Project, find_project, load_project, target_not_found
from engine.project.kept_settings import AllKept
from engine.project.resource_loader import load_resources
from engine.resources.catalog import Catalog
from engine.resources.resource_set import ResourceSet
from engine.runners.discovery import Source, discover
from engine.runners.errors import RunnerNotFound, RunnersError
from engine.runners.registry import Registry
from engine.runners.source_files import Mark, SourceFiles, files_of


@dataclass(frozen=True, slots=True)
class WorkspaceOptions:
    """Where a workspace comes from. Values that are not set come from the project."""

    target: Path | None = None
    project: Project | None = None
    resources: ResourceSet | None = None
    catalog: Catalog | None = None
    folder: Path = field(default_factory=Path.cwd)
    added_places: tuple[Path, ...] = ()
    """Files and folders of runners that the user opened later."""


class Workspace:
    """The project, runners and resources that runs are made from. Reads files and records nothing."""

    def __init__(self, options: WorkspaceOptions, project: Project, ids: Ids) -> None:
        self.project = project
        self.registry: Registry = project.registry(options.target, options.folder, options.added_places)
        self.resources = options.resources or load_resources(project)
        self.catalog = options.catalog or self.resources.catalog()
        self.ids = ids
        self.kept: AllKept = {}
        """The settings that the user saved; the owner of the database sets them."""
        self.secrets: dict[str, str] = {}
        """The secrets of the runs that were prepared, with their names."""
        self._options = options
        self._project_stamps = files_of((), project.files()).marks

    @classmethod
    def find(
        cls, target: Path | None = None, *, options: WorkspaceOptions | None = None, ids: Ids | None = None
    ) -> "Workspace":
        """The workspace of a target; raises ConfigError if its trackside.yaml is invalid."""
        options = options or WorkspaceOptions(target)
        project = options.project or find_project(options.target, options.folder)
        return cls(options, project, ids or TimeIds(SystemClock()))

    def reread(self) -> "Workspace":
        """A new workspace from the same files as they are now; raises ConfigError if trackside.yaml is invalid.

        Invalid runners and agents are left out, as at the start.
        """
        options = self._options
        if options.project is None:
            project = find_project(options.target, options.folder)
        else:
            project = load_project(options.project.file)
        workspace = Workspace(options, project, self.ids)
        workspace.secrets = self.secrets
        workspace.registry.runners()
        return workspace

    def with_place(self, path: Path) -> "Workspace":
        """A new workspace with the runners of one more file or folder; raises RunnersError if it has none to use."""
        if not path.exists():
            raise target_not_found(path)
        found = discover([Source(path)], self._options.folder)
        if not found.runners:
            raise RunnerNotFound("\n".join(str(problem) for problem in found.problems))
        options = replace(self._options, added_places=(*self._options.added_places, path))
        workspace = Workspace(options, self.project, self.ids)
        workspace.secrets = self.secrets
        for runner in found.runners:
            known = workspace.registry.get(str(runner.id))
            if known.path != runner.path:
                raise RunnersError(f"{runner.path}: {runner.id} is already taken by {known.path}. Rename one of them.")
        workspace.registry.runners()
        return workspace

    def file_stamps(self) -> dict[Path, Mark]:
        """The files that this workspace was read from, as they were then."""
        return self.registry.marks() | self._project_stamps

    def scan_files(self) -> SourceFiles:
        """The same files, and any added since, as they are now. Blocks."""
        return files_of(self.registry.places(), self.project.files())
