"""What the runner picker lists: agents, runners, recently opened paths, and files that discovery left out."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Final

from console.model.commands.key_labels import key_of
from console.model.text.columns import cells
from console.model.text.lists import Item, Row, heading, row
from console.model.text.paths import problem_location
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from console.model.text.units import ago, short_runner

if TYPE_CHECKING:
    from engine.api import AgentConfig, InvalidAgent, Problem, RecentPlace, RunnerSummary

UNNAMED: Final = "default"
"""The label of a runner without a name."""
MAX_NAME_COLUMNS: Final = 28


class ChoiceKind(StrEnum):
    """The groups of the list, in order."""

    AGENT = "agent"
    RUNNER = "runner"
    PLACE = "place"
    """A path that was opened recently."""
    PROBLEM = "problem"
    """A file or agent that was left out."""


_HEADINGS: Final = {
    ChoiceKind.AGENT: "Agents",
    ChoiceKind.RUNNER: "Runners",
    ChoiceKind.PLACE: "Recently opened",
    ChoiceKind.PROBLEM: "Left out",
}


@dataclass(frozen=True, slots=True)
class RunnerChoice:
    """One row of the picker: something that can run, or a problem."""

    kind: ChoiceKind
    name: str
    """The name that it is chosen by; of a place or a problem, its path."""
    label: str
    description: str
    runner_id: str = ""
    capabilities: tuple[str, ...] = ()
    permissions: Mapping[str, tuple[str, ...]] | None = None
    source: str = ""
    path: str = ""
    line: int | None = None
    location: str = ""
    """A short form of the path, with the line."""
    warnings: tuple[str, ...] = ()
    last_used: int | None = None
    config_problem: str = ""
    """What is wrong with its config; its settings form can fix it."""

    @property
    def key(self) -> str:
        return f"{self.kind} {self.name}" if self.line is None else f"{self.kind} {self.name}:{self.line}"

    @property
    def search_text(self) -> str:
        parts = (self.name, self.label, self.description, self.runner_id, self.source, self.path, *self.capabilities)
        return "\n".join((*parts, *self.warnings, self.config_problem)).lower()


def list_choices(
    agents: "Iterable[AgentConfig]",
    runners: "Sequence[RunnerSummary]",
    problems: "Iterable[Problem]",
    invalid_agents: "Iterable[InvalidAgent]" = (),
    shorten: Callable[[str], str] = str,
    recent_places: "Iterable[RecentPlace]" = (),
    agents_last_used: Mapping[str, int] | None = None,
) -> tuple[RunnerChoice, ...]:
    """Agents, last used first, then runners and places in the given order, then problems. `shorten` shortens paths.

    An invalid agent that its form can fix is listed with the agents.
    """
    by_id, used = {runner.id: runner for runner in runners}, agents_last_used or {}
    usable = [_agent(agent, by_id[agent.runner_id]) for agent in agents if agent.runner_id in by_id]
    unusable: list[RunnerChoice] = []
    for invalid in invalid_agents:
        runner = by_id.get(invalid.written.runner_id) if invalid.written is not None else None
        if invalid.written is not None and runner is not None:
            problem = f"{invalid.key} {invalid.error.message}"
            usable.append(replace(_agent(invalid.written, runner), config_problem=problem))
        else:
            unusable.append(_invalid_agent(invalid))
    usable = [replace(choice, last_used=used.get(choice.name)) for choice in usable]
    usable.sort(key=lambda choice: -(choice.last_used or 0))
    listed = {runner.path for runner in runners}  # their problems are shown with them
    left_out = [_problem(problem) for problem in problems if problem.path not in listed]
    found = (*usable, *map(_runner, runners), *map(_place, recent_places), *unusable, *left_out)
    return tuple(replace(choice, path=shorten(choice.path)) for choice in found)


def _agent(agent: "AgentConfig", runner: "RunnerSummary") -> RunnerChoice:
    disabled = "" if agent.enabled else "disabled in trackside.yaml; "
    limits = agent.event_filter.limits()
    return RunnerChoice(
        ChoiceKind.AGENT,
        str(agent.agent_id),
        f"{runner.short_name} on {', '.join(agent.event_types)}{f' ({limits})' if limits else ''}",
        f"{disabled}{runner.description}",
        runner.id,
        runner.capabilities,
        runner.permissions,
        source="trackside.yaml",
        path=str(runner.path),
        warnings=tuple(map(str, runner.problems)),
    )


def _runner(runner: "RunnerSummary") -> RunnerChoice:
    more = f" (and {len(runner.unfit) - 1} more)" if len(runner.unfit) > 1 else ""
    return RunnerChoice(
        ChoiceKind.RUNNER,
        runner.short_name,
        "" if runner.label == UNNAMED else runner.label,
        runner.description,
        runner.id,
        runner.capabilities,
        runner.permissions,
        source=runner.origin,
        path=str(runner.path),
        warnings=tuple(map(str, runner.problems)),
        last_used=runner.last_used,
        config_problem=f"{runner.unfit[0]}{more}" if runner.unfit else "",
    )


def _place(place: "RecentPlace") -> RunnerChoice:
    return RunnerChoice(ChoiceKind.PLACE, place.path, "", "", path=place.path, last_used=place.at)


def _problem(problem: "Problem") -> RunnerChoice:
    path, reason = str(problem.path), problem.reason
    return RunnerChoice(
        ChoiceKind.PROBLEM, path, reason, "", path=path, line=problem.line, location=problem_location(problem),
        warnings=(reason,),
    )  # fmt: skip


def _invalid_agent(agent: "InvalidAgent") -> RunnerChoice:
    path, line, reason = agent.error.path, agent.error.line, f"agent {agent.agent_id}: {agent.reason}"
    location = f"{path.name}:{line}" if line else path.name
    return RunnerChoice(
        ChoiceKind.PROBLEM, f"{agent.agent_id} {path}", reason, "", path=str(path), line=line, location=location,
        warnings=(reason,),
    )  # fmt: skip


# Search


def matching_choices(choices: Sequence[RunnerChoice], text: str) -> Sequence[RunnerChoice]:
    """Choices that contain every word. In each group, names that start with the text come first."""
    words = text.lower().split()
    matching = [choice for choice in choices if all(word in choice.search_text for word in words)]
    kinds = list(ChoiceKind)
    start = text.strip().lower()
    return sorted(matching, key=lambda choice: (kinds.index(choice.kind), not choice.name.lower().startswith(start)))


def best_match(choices: Sequence[RunnerChoice], text: str) -> RunnerChoice | None:
    """The choice with exactly this name, else one whose name starts so, else the first."""
    name = text.strip().lower()
    usable = [choice for choice in choices if choice.kind is not ChoiceKind.PROBLEM]
    ranked = sorted(usable, key=lambda choice: (choice.name.lower() != name, not choice.name.lower().startswith(name)))
    return next(iter(ranked or choices), None)


# Rows


def choice_items(choices: Sequence[RunnerChoice], now: int, key_in_use: str) -> Iterator[Item]:
    """The list with its headings."""
    named = [cells(choice.name) for choice in choices if choice.kind in (ChoiceKind.AGENT, ChoiceKind.RUNNER)]
    name_columns = min(MAX_NAME_COLUMNS, max(named, default=0))
    last: ChoiceKind | None = None
    for choice in choices:
        if choice.kind != last:
            last = choice.kind
            count = sum(each.kind == last for each in choices)
            yield Item(f"#{last}", partial(_heading, _HEADINGS[last], str(count)), is_heading=True)
        yield Item(choice.key, partial(_row, choice, now, name_columns, choice.key == key_in_use))


def empty_text(text: str) -> str:
    """The text of an empty list."""
    found = f"No runner matches “{one_line(text, 40)}”." if text else "No runners found."
    return f"{found}\nType a path to open one: ./my_runner.py\n`trackside new NAME` creates one."


def _heading(title: str, count: str, width: int) -> Row:  # noqa: ARG001  (the same for every width)
    return heading(title, count)


def _row(choice: RunnerChoice, now: int, name_columns: int, is_in_use: bool, width: int) -> Row:
    if choice.kind is ChoiceKind.PROBLEM:
        pieces = [Piece("✗ ", "bad"), Piece(f"{one_line(choice.location, 60)}  ", "strong")]
        return row(width, [*pieces, Piece(one_line(choice.label), "bad")])
    if choice.kind is ChoiceKind.PLACE:
        folder, slash, name = choice.path.rpartition("/")
        pieces = [Piece(f"  {one_line(name, 60)}", "strong"), Piece(f"  {one_line(folder + slash)}", "faint")]
        return row(width, pieces, ago(now - (choice.last_used or 0)))
    name = one_line(choice.name, 60)
    mark = Piece("✗ ", "bad") if choice.config_problem else Piece("◉ " if is_in_use else "  ", "good")
    pieces = [mark, Piece(name + " " * (name_columns - cells(name) + 2), "strong")]
    if choice.config_problem:
        pieces.append(Piece(one_line(choice.config_problem), "bad"))
        return row(width, pieces, "in use" if is_in_use else f"{key_of('app.settings')} fixes it")
    if choice.warnings:
        pieces.append(Piece("⚠ ", "warn"))
    pieces.append(Piece(one_line(choice.description or choice.label or ", ".join(choice.capabilities)), "faint"))
    used = "in use" if is_in_use else ago(now - choice.last_used) if choice.last_used else choice.source
    return row(width, pieces, one_line(used, 30))


# Details


def choice_details(choice: RunnerChoice, now: int) -> Iterator[Sequence[Piece]]:
    """The lines beside the list; problems come first."""
    if choice.kind is ChoiceKind.PROBLEM:
        yield [Piece("left out", "failed"), Piece(f"  {one_line(choice.location, 60)}", "faint")]
        yield [Piece(one_line(choice.label, 600), "dropped")]
        yield _fact("file", f"{choice.path}:{choice.line}" if choice.line else choice.path)
        yield [Piece("Fix the file. It is read again when you save it.", "faint")]
        return
    if choice.kind is ChoiceKind.PLACE:
        yield [Piece("recently opened", "runner"), Piece(f"  {ago(now - (choice.last_used or 0))}", "faint")]
        yield _fact("file", choice.path)
        yield [Piece("enter opens it again.", "faint")]
        return
    yield [Piece(one_line(choice.name, 60), "runner"), Piece(f"  {one_line(choice.label, 80)}", "faint")]
    if choice.config_problem:
        yield [Piece(one_line(f"✗ {choice.config_problem}", 600), "failed")]
        yield [Piece(f"{key_of('app.settings')} opens its settings to fix it.", "text")]
    for warning in choice.warnings:
        yield [Piece(one_line(f"⚠ {warning}", 600), "paused")]
    if choice.description:
        yield [Piece(one_line(choice.description, 600), "text")]
    if choice.kind is ChoiceKind.AGENT:
        yield _fact("runner", short_runner(choice.runner_id))
    yield _fact("capabilities", ", ".join(choice.capabilities) or "none")
    permissions = [f"{kind}: {', '.join(operations)}" for kind, operations in (choice.permissions or {}).items()]
    yield _fact("permissions", " · ".join(permissions) or "none")
    yield _fact("source", f"{choice.source} · {choice.path}")
    yield _fact("id", choice.runner_id)
    yield _fact("last used", ago(now - choice.last_used) if choice.last_used else "never")


def _fact(label: str, value: str) -> Sequence[Piece]:
    return [Piece(f"{label:<13}", "faint"), Piece(one_line(value, 600), "text")]
