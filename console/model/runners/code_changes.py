"""Notices and header labels about edited files of runners and of trackside.yaml."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from console.model.commands.key_labels import key_of
from console.model.text.paths import problem_location
from console.model.text.safe import one_line
from console.model.text.sentence import as_sentence
from console.model.text.units import number, short_runner

if TYPE_CHECKING:
    from engine.api import InvalidAgent, Problem, Reloaded

CODE_CHANGED: Final = "Code changed · the next run uses it"
CODE_FIXED: Final = "Code fixed · the next run uses it"
PROJECT_CHANGED: Final = "trackside.yaml changed · the next run uses it"
OLD_CODE: Final = "the run in progress still uses the old code"
FIX_TO_RUN: Final = "fix it to run again"
MAX_NOTICE_CHARS: Final = 300


def load_error_text(error: Exception) -> str:
    """The text for files that cannot be read."""
    return f"{as_sentence(str(error)).rstrip('.')}. The previous version stays in use."


class CodeChangeNotice(NamedTuple):
    """The text of a toast and its severity."""

    words: str
    severity: str = "information"


def change_notice(
    reloaded: "Reloaded",
    before: "Collection[Problem]",
    runner_id: str,
    *,
    is_old: bool,
    can_run_again: bool,
    was_broken: bool = False,
    invalid_agents: "Sequence[InvalidAgent]" = (),
    agent_id: str | None = None,
    is_listed: bool = False,
) -> CodeChangeNotice | None:
    """The most important consequence of a reload; None if it does not matter to the user.

    `before` are the problems that were known before, `invalid_agents` the agents that became invalid. `is_listed`
    means that the list of runners is open and shows the problems.
    """
    hint = "" if is_listed else f" · {key_of('app.runners')} shows it"
    is_gone = runner_id in reloaded.gone
    new_problems = [problem for problem in reloaded.problems if problem not in before]
    if new_problems:
        first = new_problems[0]
        tail = f" · {OLD_CODE if is_old else FIX_TO_RUN}" if is_gone else hint
        words = f"{problem_location(first)} is left out: {first.reason}{_more(len(new_problems))}{tail}"
        return CodeChangeNotice(one_line(words, MAX_NOTICE_CHARS), "error")
    if invalid_agents:
        return _invalid_agent_notice(invalid_agents, agent_id, hint)
    if is_gone:
        name = one_line(short_runner(runner_id), 60)
        return CodeChangeNotice(f"{name} was removed · {key_of('app.runners')} chooses another", "warning")
    run_key = key_of("app.run_again")
    again = f" · {run_key} runs again" if can_run_again else ""
    again = f" · {OLD_CODE}; {key_of('app.stop')} stops it, then {run_key} runs again" if is_old else again
    if runner_id in reloaded.changed:
        return CodeChangeNotice(CODE_CHANGED + again)
    if was_broken or runner_id in reloaded.added:  # the chosen runner existed before
        return CodeChangeNotice(CODE_FIXED + again)
    if reloaded.is_project_changed:
        return CodeChangeNotice(PROJECT_CHANGED + again)
    if reloaded.added:
        names = ", ".join(short_runner(name) for name in reloaded.added)
        return CodeChangeNotice(one_line(f"New: {names} · {key_of('app.runners')} chooses", MAX_NOTICE_CHARS))
    return None


def _invalid_agent_notice(agents: "Sequence[InvalidAgent]", agent_id: str | None, hint: str) -> CodeChangeNotice:
    agent = next((each for each in agents if each.agent_id == agent_id), agents[0])
    tail = f" · {FIX_TO_RUN}" if agent.agent_id == agent_id else hint
    words = f"Agent {agent.agent_id} is left out: {agent.reason}{_more(len(agents))}{tail}"
    return CodeChangeNotice(one_line(words, MAX_NOTICE_CHARS), "error")


def _more(count: int) -> str:
    return f" · and {number(count - 1, 'more', 'more')}" if count > 1 else ""


class CodeStatus:
    """The state of the chosen runner's code, for the header."""

    def __init__(self) -> None:
        self.is_broken = False
        """The files of the chosen runner cannot be used."""
        self.is_project_broken = False
        """trackside.yaml cannot be read; its last valid version is in use."""
        self._last_run: str | None = None
        """The run that was shown when the code last changed."""
        self._is_changed = False
        self._runs_with_old_code: set[str] = set()

    def set_changed(self, run_id: str | None, *, is_old: bool) -> None:
        """The code has changed while a run is shown; `is_old` if that run still uses the old code."""
        self._last_run, self._is_changed = run_id, True
        if run_id is not None and is_old:
            self._runs_with_old_code.add(run_id)

    def label(self, run_id: str | None, *, is_over: bool) -> str | None:
        """The label while this run is shown."""
        if run_id != self._last_run:
            self._is_changed = False  # there was a new run, or another one is shown
        if run_id in self._runs_with_old_code and not is_over:
            return "old code · new code broken" if self.is_broken else "old code"
        if self.is_broken:
            return "code broken"
        if self.is_project_broken:
            return "trackside.yaml broken"
        return "code changed" if self._is_changed else None
