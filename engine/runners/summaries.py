"""Summaries of runners for lists from which the user chooses."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.protocol.manifest import RunnerPermissions
from engine.runners.descriptor import Origin, Problem, RunnerDescriptor
from engine.runners.ids import RunnerId
from engine.runners.locales import local
from engine.runners.registry import short_names


@dataclass(frozen=True, slots=True)
class RunnerSummary:
    """A runner as a list shows it."""

    id: str
    short_name: str
    """The shortest unique name."""
    label: str
    description: str
    capabilities: tuple[str, ...]
    """The capabilities that are on."""
    permissions: Mapping[str, tuple[str, ...]]
    """Requested operations by kind of resource; kinds without any are left out."""
    origin: Origin
    path: Path
    problems: tuple[Problem, ...]
    """Warnings of discovery about the runner's file."""
    last_used: int | None
    """When the runner last had a run without an agent in this database, in microseconds."""
    unfit: tuple[str, ...] = ()
    """Problems of its default config, which keep it from running."""


def facts_of(
    runners: Collection[RunnerDescriptor],
    problems: Collection[Problem],
    last_used: Mapping[tuple[str, str | None], int],
    *,
    locale: str,
    taken: Collection[str] = (),
    unfit: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[RunnerSummary, ...]:
    """Return the runners, last used first, then in order of discovery. `taken` are names with another meaning."""
    facts = [
        RunnerSummary(
            id=str(runner.id),
            short_name=_short_name(runner.id, runners, taken),
            label=local(runner.manifest.label, locale) or runner.id.name,
            description=local(runner.manifest.description, locale),
            capabilities=tuple(name for name, has in runner.manifest.capabilities if has),
            permissions=dict(_permissions(runner.manifest.permissions)),
            origin=runner.origin,
            path=runner.path,
            problems=tuple(problem for problem in problems if problem.path == runner.path),
            last_used=last_used.get((str(runner.id), None)),
            unfit=(unfit or {}).get(str(runner.id), ()),
        )
        for runner in runners
    ]
    return tuple(sorted(facts, key=lambda fact: -(fact.last_used or 0)))


def _permissions(permissions: RunnerPermissions) -> Iterator[tuple[str, tuple[str, ...]]]:
    for kind, operations in permissions:
        if operations:
            yield kind, tuple(operations)


def _short_name(runner_id: RunnerId, runners: Collection[RunnerDescriptor], taken: Collection[str]) -> str:
    name = runner_id.plugin if runner_id.name == "default" else runner_id.name
    for short in (name, f"{runner_id.plugin}/{runner_id.name}"):
        if short not in taken and sum(short in short_names(runner.id) for runner in runners) == 1:
            return short
    return str(runner_id)
