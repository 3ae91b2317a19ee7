"""What a person chooses a runner by."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.protocol.manifest import RunnerPermissions
from engine.runners.descriptor import Origin, Problem, RunnerDescriptor
from engine.runners.ids import RunnerId
from engine.runners.locales import local
from engine.runners.registry import short_names


@dataclass(frozen=True, slots=True)
class RunnerFact:
    """A runner in words."""

    id: str
    short_name: str
    """The shortest name that means this one and no other."""
    label: str
    description: str
    capabilities: tuple[str, ...]
    """Those that it has."""
    permissions: Mapping[str, tuple[str, ...]]
    """By kind of resource, what it may ask for; kinds without any are left out."""
    origin: Origin
    path: Path
    problems: tuple[Problem, ...]
    """What discovery found odd in its own file."""
    last_used: int | None
    """When it last got a run in this database that was for no agent, in microseconds."""
    unfit: tuple[str, ...] = ()
    """What of its config does not fit as long as nothing else is set: it cannot run so."""


def facts_of(
    runners: Collection[RunnerDescriptor],
    problems: Collection[Problem],
    last_used: Mapping[tuple[str, str | None], int],
    *,
    locale: str,
    taken: Collection[str] = (),
    unfit: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[RunnerFact, ...]:
    """The runners, the one used last first, then as they were found. `taken` are names that mean something else."""
    facts = [
        RunnerFact(
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
