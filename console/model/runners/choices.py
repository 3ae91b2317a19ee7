"""What a runner can be chosen from: agents, runners, places opened before, and files that discovery left out."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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

AGENT: Final = "agent"
RUNNER: Final = "runner"
PLACE: Final = "place"
PROBLEM: Final = "problem"
UNNAMED: Final = "default"
"""What a runner is called that nobody has given a name."""
_TITLES: Final = {AGENT: "Agents", RUNNER: "Runners", PLACE: "Opened before", PROBLEM: "Left out"}


@dataclass(frozen=True, slots=True)
class RunnerChoice:
    """One that can be chosen, or a file that cannot."""

    kind: str
    name: str
    """What it is chosen by; of a file or a place, its path."""
    label: str
    description: str
    runner_id: str = ""
    capabilities: tuple[str, ...] = ()
    permissions: Mapping[str, tuple[str, ...]] | None = None
    source: str = ""
    path: str = ""
    line: int | None = None
    place: str = ""
    """A short name of the path, with the line."""
    problems: tuple[str, ...] = ()
    last_used: int | None = None
    unfit: str = ""
    """What of its config does not fit, which its form can mend."""

    @property
    def key(self) -> str:
        return f"{self.kind} {self.name}" if self.line is None else f"{self.kind} {self.name}:{self.line}"

    @property
    def words(self) -> str:
        """All that a search looks at."""
        said = (self.name, self.label, self.description, self.runner_id, self.source, self.path, *self.capabilities)
        return "\n".join((*said, *self.problems, self.unfit)).lower()


def offers(
    agents: "Iterable[AgentConfig]",
    facts: "Sequence[RunnerSummary]",
    problems: "Iterable[Problem]",
    unfit: "Iterable[InvalidAgent]" = (),
    said: Callable[[str], str] = str,
    before: "Iterable[RecentPlace]" = (),
    used: Mapping[str, int] | None = None,
) -> tuple[RunnerChoice, ...]:
    """Agents, runners and places, each the one used last first; then what was left out. `said` shortens paths, and
    `used` is when agents were.

    An agent whose form can mend it is among the agents.
    """
    by_id, used = {fact.id: fact for fact in facts}, used or {}
    own = [_agent(agent, by_id[agent.runner_id]) for agent in agents if agent.runner_id in by_id]
    torn: list[RunnerChoice] = []
    for one in unfit:
        fact = by_id.get(one.written.runner_id) if one.written is not None else None
        if one.written is not None and fact is not None:
            own.append(_to_mend(one, one.written, fact))
        else:
            torn.append(_unfit(one))
    own = [replace(offer, last_used=used.get(offer.name)) for offer in own]
    own.sort(key=lambda offer: -(offer.last_used or 0))
    usable = {fact.path for fact in facts}  # what is odd about one of these stands beside it
    left_out = [_left_out(problem) for problem in problems if problem.path not in usable]
    found = (*own, *map(_runner, facts), *map(_before, before), *torn, *left_out)
    return tuple(replace(offer, path=said(offer.path)) for offer in found)


def _agent(agent: "AgentConfig", fact: "RunnerSummary") -> RunnerChoice:
    takes = ", ".join(agent.event_types)
    on = "" if agent.enabled else "switched off in trackside.yaml; "
    return RunnerChoice(
        AGENT, str(agent.agent_id), f"{fact.short_name} on {takes}", f"{on}{fact.description}", fact.id,
        fact.capabilities,
        fact.permissions, "trackside.yaml", str(fact.path), None, "", tuple(map(str, fact.problems)),
    )  # fmt: skip


def _to_mend(unfit: "InvalidAgent", agent: "AgentConfig", fact: "RunnerSummary") -> RunnerChoice:
    return replace(_agent(agent, fact), unfit=f"{unfit.key} {unfit.error.message}")


def _runner(fact: "RunnerSummary") -> RunnerChoice:
    return RunnerChoice(
        RUNNER, fact.short_name, "" if fact.label == UNNAMED else fact.label, fact.description, fact.id,
        fact.capabilities, fact.permissions,
        fact.origin, str(fact.path), None, "", tuple(map(str, fact.problems)), fact.last_used, _lacks(fact.unfit),
    )  # fmt: skip


def _lacks(unfit: Sequence[str]) -> str:
    return f"{unfit[0]} (and {len(unfit) - 1} more)" if len(unfit) > 1 else "".join(unfit)


def _before(place: "RecentPlace") -> RunnerChoice:
    return RunnerChoice(PLACE, place.path, "", "", path=place.path, last_used=place.at)


def _left_out(problem: "Problem") -> RunnerChoice:
    path, reason = str(problem.path), problem.reason
    place = problem_location(problem)
    return RunnerChoice(PROBLEM, path, reason, "", path=path, line=problem.line, place=place, problems=(reason,))


def _unfit(agent: "InvalidAgent") -> RunnerChoice:
    path, line, reason = agent.error.path, agent.error.line, f"agent {agent.agent_id}: {agent.reason}"
    name, place = f"{agent.agent_id} {path}", f"{path.name}:{line}" if line else path.name
    return RunnerChoice(PROBLEM, name, reason, "", path=str(path), line=line, place=place, problems=(reason,))


# Search


def fitting(found: Sequence[RunnerChoice], text: str) -> Sequence[RunnerChoice]:
    """Those that hold every word; names that begin with the text come first, the rest stay as they were."""
    words = text.lower().split()
    held = [offer for offer in found if all(word in offer.words for word in words)]
    kinds = list(_TITLES)
    begins = text.strip().lower()
    return sorted(held, key=lambda offer: (kinds.index(offer.kind), not offer.name.lower().startswith(begins)))


def best(shown: Sequence[RunnerChoice], text: str) -> RunnerChoice | None:
    """The one that is most likely meant, whatever it is: called just so, or else beginning so, or else the first."""
    wanted = text.strip().lower()
    usable = [offer for offer in shown if offer.kind != PROBLEM]
    order = sorted(usable, key=lambda offer: (offer.name.lower() != wanted, not offer.name.lower().startswith(wanted)))
    return next(iter(order or shown), None)


# As rows


def items(shown: Sequence[RunnerChoice], now: int, chosen: str) -> Iterator[Item]:
    """The list under its headings; `chosen` is the key of the one in use."""
    room = min(28, max((cells(offer.name) for offer in shown if offer.kind in (AGENT, RUNNER)), default=0))
    last = ""
    for offer in shown:
        if offer.kind != last:
            last = offer.kind
            count = sum(one.kind == last for one in shown)
            yield Item(f"#{last}", partial(_heading, _TITLES[last], str(count)), is_heading=True)
        yield Item(offer.key, partial(_row, offer, now, room, chosen))


def nothing(text: str) -> str:
    """What is said where the list is empty."""
    found = f"Nothing is called “{one_line(text, 40)}”." if text else "No runner was found."
    return f"{found}\nType a path to open another: ./my_runner.py\n`trackside new NAME` makes one."


def _heading(words: str, count: str, width: int) -> Row:  # noqa: ARG001  (it fits any)
    return heading(words, count)


def _row(offer: RunnerChoice, now: int, room: int, chosen: str, width: int) -> Row:
    if offer.kind == PROBLEM:
        said = [Piece("✗ ", "bad"), Piece(f"{one_line(offer.place, 60)}  ", "strong")]
        said.append(Piece(one_line(offer.label), "bad"))
        return row(width, said)
    if offer.kind == PLACE:
        folder, slash, name = offer.path.rpartition("/")
        said = [Piece(f"  {one_line(name, 60)}", "strong"), Piece(f"  {one_line(folder + slash)}", "faint")]
        return row(width, said, ago(now - (offer.last_used or 0)))
    is_chosen = offer.key == chosen
    name = one_line(offer.name, 60)
    mark = Piece("✗ ", "bad") if offer.unfit else Piece("◉ " if is_chosen else "  ", "good")
    said = [mark, Piece(name + " " * (room - cells(name) + 2), "strong")]
    if offer.unfit:
        said.append(Piece(one_line(offer.unfit), "bad"))
        return row(width, said, "in use" if is_chosen else f"{key_of('app.settings')} mends it")
    if offer.problems:
        said.append(Piece("⚠ ", "warn"))
    said.append(Piece(one_line(offer.description or offer.label or ", ".join(offer.capabilities)), "faint"))
    used = "in use" if is_chosen else ago(now - offer.last_used) if offer.last_used else offer.source
    return row(width, said, one_line(used, 30))


# In full


def details(offer: RunnerChoice, now: int) -> Iterator[Sequence[Piece]]:
    """Line by line, for the side of the list; what is wrong comes before what is so."""
    if offer.kind == PROBLEM:
        yield [Piece("left out", "failed"), Piece(f"  {one_line(offer.place, 60)}", "faint")]
        yield [Piece(one_line(offer.label, 600), "dropped")]
        yield _fact("file", f"{offer.path}:{offer.line}" if offer.line else offer.path)
        yield [Piece("Mend the file: it is looked at again as soon as it is saved.", "faint")]
        return
    if offer.kind == PLACE:
        yield [Piece("opened before", "runner"), Piece(f"  {ago(now - (offer.last_used or 0))}", "faint")]
        yield _fact("file", offer.path)
        yield [Piece("enter opens it again, as if its path were typed.", "faint")]
        return
    yield [Piece(one_line(offer.name, 60), "runner"), Piece(f"  {one_line(offer.label, 80)}", "faint")]
    if offer.unfit:
        yield [Piece(one_line(f"✗ {offer.unfit}", 600), "failed")]
        yield [Piece(f"{key_of('app.settings')} opens its form there, so that it can run.", "text")]
    for problem in offer.problems:
        yield [Piece(one_line(f"⚠ {problem}", 600), "paused")]
    if offer.description:
        yield [Piece(one_line(offer.description, 600), "text")]
    if offer.kind == AGENT:
        yield _fact("runner", short_runner(offer.runner_id))
    yield _fact("can", ", ".join(offer.capabilities) or "nothing beyond answering")
    asks = [f"{kind}: {', '.join(operations)}" for kind, operations in (offer.permissions or {}).items()]
    yield _fact("may ask for", " · ".join(asks) or "nothing")
    yield _fact("source", f"{offer.source} · {offer.path}")
    yield _fact("id", offer.runner_id)
    yield _fact("last used", ago(now - offer.last_used) if offer.last_used else "never here")


def _fact(name: str, value: str) -> Sequence[Piece]:
    return [Piece(f"{name:<13}", "faint"), Piece(one_line(value, 600), "text")]
