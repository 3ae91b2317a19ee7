"""One run as the screen shows it, live or long over."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from console.model.prompt.waiting import RunSeen
from console.model.ribbon import Ribbon
from console.model.status import RunStatus
from console.model.stream.timeline import Timeline
from engine.events import Entry

if TYPE_CHECKING:
    from engine.api import RunRow


class RunView:
    """Follows a run entry by entry."""

    def __init__(self, run_id: str, *, last: int = 0, is_live: bool = True, is_here: bool = True) -> None:
        self.run_id = run_id
        self.runner_id: str | None = None
        """Where it is known from the run itself."""
        self.agent_id: str | None = None
        """The agent of trackside.yaml that it was of."""
        self.is_here = is_here
        """It works, or worked, in this process."""
        self.status = RunStatus()
        self.ribbon = Ribbon()
        self.timeline = Timeline(run_id, last=last, is_live=is_live)
        self._last = 0
        """Of the entries that status and ribbon have heard of; what is told twice counts once."""

    @classmethod
    def of_past(
        cls, run: "RunRow", outline: Sequence[Entry], last: int, *, is_live: bool, is_here: bool = True
    ) -> "RunView":
        """A run that began before it was looked at."""
        view = cls(run.run_id, last=last, is_live=is_live, is_here=is_here)
        view._follow(outline)
        view.status.entries = last
        view.runner_id, view.agent_id = run.runner_id, run.agent_id
        if view.status.began_at is None:
            view.status.began_at = run.started_at or run.created_at
        return view

    def apply(self, entries: Sequence[Entry]) -> None:
        """What is new of this run, in order."""
        self._follow([entry for entry in entries if entry.position > self._last])
        self.timeline.append(entries)

    def ask_to_stop(self, at: int | None) -> None:
        """Someone wants it stopped, before that is recorded; none: it could not be."""
        self.status.ask_to_stop(at)
        self.ribbon.is_stopping = at is not None

    def _follow(self, entries: Sequence[Entry]) -> None:
        if entries:
            self._last = entries[-1].position
            self.status.apply(entries)
            self.ribbon.apply(entries)
            self.ribbon.can_steer = self.status.can_steer is not False

    def seen(self, cannot_steer: str | None) -> RunSeen:
        """As the queue needs to know it."""
        status = self.status
        return RunSeen(
            self.run_id, status.is_over, status.turn, status.last_pull_at, cannot_steer, status.held is not None
        )
