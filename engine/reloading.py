"""What another look at the files brought."""

from dataclasses import dataclass
from typing import Final

from engine.runners.descriptor import Problem
from engine.runners.files import changed, made_of
from engine.setting import Setting

NOT_YET: Final = "database in trackside.yaml has changed; that takes effect when Trackside is opened again"


@dataclass(frozen=True, slots=True)
class Reloaded:
    """Runners by id; and what a person should know."""

    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """Their manifest or their code."""
    is_project_changed: bool = False
    """Whether trackside.yaml says something else, or a script that it names."""
    problems: tuple[Problem, ...] = ()
    """All that discovery leaves out now."""
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.gone or self.changed or self.is_project_changed)


def compare(before: Setting, now: Setting) -> Reloaded:
    """What is different now. Blocks: it may have to look at files."""
    old = {str(runner.id): runner for runner in before.registry.runners()}
    new = {str(runner.id): runner for runner in now.registry.runners()}
    written = changed(before.seen(), now.seen())
    edited = set(made_of(new.values(), written, old.values()))
    was, is_now = before.project.config, now.project.config
    return Reloaded(
        added=tuple(name for name in new if name not in old),
        gone=tuple(name for name in old if name not in new),
        changed=tuple(name for name in new if name in old and (new[name] != old[name] or name in edited)),
        is_project_changed=was != is_now or not set(written).isdisjoint(now.project.files()),
        problems=now.registry.problems(),
        notes=(NOT_YET,) if was.database != is_now.database else (),
    )
