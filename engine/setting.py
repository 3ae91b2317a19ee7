"""A project with its runners and resources: enough to say what a run would be, before there is any database."""

from pathlib import Path

from engine.clock import Ids, SystemClock, TimeIds
from engine.config import Project, find_project
from engine.intake.envelope import EventEnvelope
from engine.resources.catalog import Catalog
from engine.resources.stock import shelf_of
from engine.run.order import RunOrder
from engine.run.prepare import Choice, prepare
from engine.runners.registry import Registry


class Setting:
    """What a run is made from. It is only read, and nothing is recorded."""

    def __init__(self, project: Project, registry: Registry, catalog: Catalog, ids: Ids) -> None:
        self.project = project
        self.registry = registry
        self.ids = ids
        self._catalog = catalog

    @classmethod
    def find(cls, target: Path | None = None) -> "Setting":
        """The setting of a target, as `Engine.open` would have it."""
        folder = Path.cwd()
        project = find_project(target, folder)
        return cls(project, project.registry(target, folder), shelf_of(project).catalog(), TimeIds(SystemClock()))

    def prepare(self, envelope: EventEnvelope, choice: Choice | None = None) -> RunOrder:
        """Check an event and a choice without recording anything."""
        return prepare(self.project, self.registry, self._catalog, envelope, choice or Choice(), self.ids)
