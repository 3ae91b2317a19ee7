"""A project with its runners and resources: enough to say what a run would be, before there is any database."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.clock import Ids, SystemClock, TimeIds
from engine.config import Project, UnfitAgent, find_project, load, no_target
from engine.intake.envelope import EventEnvelope
from engine.intake.settings import SettingsKey
from engine.resources.catalog import Catalog
from engine.resources.shelf import Shelf
from engine.resources.stock import shelf_of
from engine.run.order import RunOrder
from engine.run.prepare import AllKept, Choice, prepare
from engine.runners.discovery import Source, discover
from engine.runners.errors import RunnerNotFound, RunnersError
from engine.runners.files import Files, files_of
from engine.runners.registry import Registry
from engine.runtimes.inside.stamps import Mark


@dataclass(frozen=True, slots=True)
class Given:
    """What the setting was found from; whatever is not given is the project's own."""

    target: Path | None = None
    project: Project | None = None
    shelf: Shelf | None = None
    catalog: Catalog | None = None
    folder: Path = field(default_factory=Path.cwd)
    also: tuple[Path, ...] = ()
    """Files and folders that someone named later on."""


class Setting:
    """What a run is made from. It is only read, and nothing is recorded."""

    def __init__(self, given: Given, project: Project, ids: Ids) -> None:
        self.project = project
        self.registry: Registry = project.registry(given.target, given.folder, given.also)
        self.shelf = given.shelf or shelf_of(project)
        self.catalog = given.catalog or self.shelf.catalog()
        self.ids = ids
        self.kept: Mapping[SettingsKey, Mapping[str, Any]] = {}
        """Settings that a person keeps, as they are on disk; whoever has the database puts them here."""
        self._given = given
        self._project_marks = files_of((), project.files()).marks

    @classmethod
    def find(cls, target: Path | None = None, *, given: Given | None = None, ids: Ids | None = None) -> "Setting":
        """The setting of a target, as `Engine.open` would have it; raises what is wrong with its trackside.yaml."""
        given = given or Given(target)
        project = given.project or find_project(given.target, given.folder)
        return cls(given, project, ids or TimeIds(SystemClock()))

    def anew(self) -> "Setting":
        """The same as files say it now; what raises here is not in force.

        A runner that is broken, or an agent that does not fit, is left out as it is at the start.
        """
        given = self._given
        project = find_project(given.target, given.folder) if given.project is None else load(given.project.file)
        setting = Setting(given, project, self.ids)
        setting.registry.runners()
        return setting

    def unfit_agents(self) -> tuple[UnfitAgent, ...]:
        """The agents that cannot be used as they are written."""
        return self.project.agents_by_fitness(self.registry)[1]

    def with_place(self, path: Path) -> "Setting":
        """The same, with the runners of one more file or folder; raises RunnersError where it has none to use."""
        if not path.exists():
            raise no_target(path)
        found = discover([Source(path)], self._given.folder)
        if not found.runners:
            raise RunnerNotFound("\n".join(str(problem) for problem in found.problems))
        setting = Setting(replace(self._given, also=(*self._given.also, path)), self.project, self.ids)
        for runner in found.runners:
            known = setting.registry.get(str(runner.id))
            if known.path != runner.path:
                raise RunnersError(f"{runner.path}: {runner.id} is already taken by {known.path}. Rename one of them.")
        setting.registry.runners()
        return setting

    def seen(self) -> dict[Path, Mark]:
        """The files that all this was read from, as they were then."""
        return self.registry.marks() | self._project_marks

    def look(self) -> Files:
        """The same files, and what has joined them, as they are now."""
        return files_of(self.registry.places(), self.project.files())

    def prepare(self, envelope: EventEnvelope, choice: Choice | None = None, kept: AllKept | None = None) -> RunOrder:
        """Check an event and a choice without recording anything. `kept` stands in for what is kept."""
        return prepare(self, envelope, choice or Choice(), kept)
