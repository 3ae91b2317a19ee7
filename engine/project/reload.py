"""What changed between two readings of the files."""

from dataclasses import dataclass
from typing import Final

from engine.project.workspace import Workspace
from engine.runners.descriptor import Problem
from engine.runners.source_files import changed, made_of

SECTIONS_OF_START: Final = ("database", "limits")
"""Sections of trackside.yaml that are read only when Trackside is opened."""


@dataclass(frozen=True, slots=True)
class Reloaded:
    """The changes that a reload found. Runners are named by id."""

    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """Runners whose manifest or code was edited."""
    is_project_changed: bool = False
    """Whether trackside.yaml was edited, or a script that it names."""
    problems: tuple[Problem, ...] = ()
    """All files that discovery leaves out now."""
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.gone or self.changed or self.is_project_changed)


def compare_workspaces(before: Workspace, now: Workspace) -> Reloaded:
    """The changes from one workspace to the next. Blocks, because it may read files."""
    old = {str(runner.id): runner for runner in before.registry.runners()}
    new = {str(runner.id): runner for runner in now.registry.runners()}
    written = changed(before.file_stamps(), now.file_stamps())
    edited = set(made_of(new.values(), written, old.values()))
    old_config, new_config = before.project.config, now.project.config
    return Reloaded(
        added=tuple(name for name in new if name not in old),
        gone=tuple(name for name in old if name not in new),
        changed=tuple(name for name in new if name in old and (new[name] != old[name] or name in edited)),
        is_project_changed=old_config != new_config or not set(written).isdisjoint(now.project.files()),
        problems=now.registry.problems(),
        notes=tuple(
            f"{name} in trackside.yaml has changed; open Trackside again to use it"
            for name in SECTIONS_OF_START
            if getattr(old_config, name) != getattr(new_config, name)
        ),
    )
