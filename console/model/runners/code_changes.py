"""What is said when files of runners were edited."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from console.model.commands.key_labels import key_of
from console.model.text.paths import problem_location
from console.model.text.safe import one_line
from console.model.text.units import number, short_runner

if TYPE_CHECKING:
    from engine.api import InvalidAgent, Problem, Reloaded

FRESH = "code changed · next run uses it"
MENDED = "mended · next run uses it"
OLD = "the run in flight still has the old code"
STAYS = "What was read before stays in force."


def unread(error: Exception) -> str:
    """What is said where the files cannot be used, whether the error ends with a stop or not."""
    return f"{str(error).rstrip('.')}. {STAYS}"


class CodeChangeNotice(NamedTuple):
    """Words for a toast, and how bad it is."""

    words: str
    severity: str = "information"


def news_of(
    reloaded: "Reloaded",
    before: "Collection[Problem]",
    runner_id: str,
    *,
    is_old: bool,
    can_run_again: bool,
    was_broken: bool = False,
    unfit: "Sequence[InvalidAgent]" = (),
    agent_id: str | None = None,
    is_listed: bool = False,
) -> CodeChangeNotice | None:
    """The one thing that matters most of it; nothing where nobody here is concerned.

    `before` was wrong already; `unfit` are the agents that did fit before. What stands in an open list need not be
    looked up there.
    """
    shows = "" if is_listed else f" · {key_of('app.runners')} shows it"
    is_gone = runner_id in reloaded.gone
    fresh = [problem for problem in reloaded.problems if problem not in before]
    if fresh:
        more = f" · and {number(len(fresh) - 1, 'more', 'more')}" if len(fresh) > 1 else ""
        tail = f" · {OLD if is_old else 'no run begins until it is mended'}" if is_gone else shows
        return CodeChangeNotice(
            one_line(f"{problem_location(fresh[0])} is left out: {fresh[0].reason}{more}{tail}", 300), "error"
        )
    if unfit:
        return _unfit(unfit, agent_id, shows)
    if is_gone:
        return CodeChangeNotice(
            f"{one_line(short_runner(runner_id), 60)} is gone · {key_of('app.runners')} chooses another", "warning"
        )
    go = key_of("app.run_again")
    again = f" · {go} runs again" if can_run_again else ""
    again = f" · {OLD}; {key_of('app.stop')} stops it, then {go} runs again" if is_old else again
    if runner_id in reloaded.changed:
        return CodeChangeNotice(FRESH + again)
    if was_broken or runner_id in reloaded.added:  # whoever is chosen was there before
        return CodeChangeNotice(MENDED + again)
    if reloaded.is_project_changed:
        return CodeChangeNotice("trackside.yaml changed · next run uses it" + again)
    if reloaded.added:
        names = ", ".join(short_runner(name) for name in reloaded.added)
        return CodeChangeNotice(one_line(f"new: {names} · {key_of('app.runners')} chooses", 300))
    return None


def _unfit(unfit: "Sequence[InvalidAgent]", agent_id: str | None, shows: str) -> CodeChangeNotice:
    one = next((agent for agent in unfit if agent.agent_id == agent_id), unfit[0])
    more = f" · and {number(len(unfit) - 1, 'more', 'more')}" if len(unfit) > 1 else ""
    tail = " · no run begins until it is mended" if one.agent_id == agent_id else shows
    return CodeChangeNotice(one_line(f"agent {one.agent_id} is left out: {one.reason}{more}{tail}", 300), "error")


class CodeNote:
    """What the header says of the code, until it is no longer so."""

    def __init__(self) -> None:
        self.is_broken = False
        """The chosen runner's files as they are now cannot be used."""
        self.is_unread = False
        """The project's own file cannot be, and what was read before is in force."""
        self._last: str | None = None
        """The run that was shown when code changed last."""
        self._is_fresh = False
        self._old: set[str] = set()

    def changed(self, run_id: str | None, *, is_old: bool) -> None:
        """The code of the chosen runner is another now; a run that is at work may still have the old."""
        self._last, self._is_fresh = run_id, True
        if run_id is not None and is_old:
            self._old.add(run_id)

    def words(self, run_id: str | None, *, is_over: bool) -> str | None:
        """What to say while this run is shown."""
        if run_id != self._last:
            self._is_fresh = False  # it ran since, or something else is looked at
        if run_id in self._old and not is_over:
            return "old code · the new one is broken" if self.is_broken else "old code"
        if self.is_broken:
            return "code broken"
        if self.is_unread:
            return "trackside.yaml broken"
        return "code changed" if self._is_fresh else None
