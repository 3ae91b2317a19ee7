"""The runs in progress, and the models of the run that is shown."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from console.model.queue.items import QueueRun
from console.model.run.ribbon import Ribbon
from console.model.run.status import RunStatus
from console.model.stream.timeline import Timeline
from engine.events import EXECUTED_ELSEWHERE, Entry

if TYPE_CHECKING:
    from engine.api import RunRow


class ActiveRuns:
    """The status of every run in progress that was started since the console opened."""

    def __init__(self) -> None:
        self._runs: dict[str, tuple[str | None, RunStatus]] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._runs))

    def add(self, run_id: str, session: str | None) -> None:
        """Add a run that has started."""
        self._runs[run_id] = session, RunStatus()

    def apply(self, run_id: str, entries: Sequence[Entry]) -> None:
        """Apply new entries of a run, and forget the run when it has ended."""
        if run_id in self._runs:
            status = self._runs[run_id][1]
            status.apply(entries)
            if status.is_over:
                del self._runs[run_id]

    def statuses(self, run_id: str) -> Sequence[RunStatus]:
        """Return the status of a run if it is in progress, else nothing."""
        return [self._runs[run_id][1]] if run_id in self._runs else []

    def of(self, session: str) -> tuple[str, RunStatus] | None:
        """Return the run in progress of a session, or None."""
        found = [(run_id, status) for run_id, (where, status) in self._runs.items() if where == session]
        return found[-1] if found else None


class RunView:
    """The status, ribbon and timeline of one run."""

    def __init__(self, run_id: str, *, last: int = 0, is_live: bool = True, is_here: bool = True) -> None:
        self.run_id = run_id
        self.runner_id: str | None = None
        """None until it is known."""
        self.agent_id: str | None = None
        """The agent in trackside.yaml, if any."""
        self.is_here = is_here
        """Whether this process hosts or hosted the run."""
        self.status = RunStatus()
        self.ribbon = Ribbon()
        self.timeline = Timeline(run_id, last=last, is_live=is_live)
        self._last = 0
        """The last position that status and ribbon have applied; repeated entries are skipped."""

    @classmethod
    def of_past(
        cls, run: "RunRow", outline: Sequence[Entry], last: int, *, is_live: bool, is_here: bool = True
    ) -> "RunView":
        """Return the view of a run that began earlier, from its outline and its last position."""
        view = cls(run.run_id, last=last, is_live=is_live, is_here=is_here)
        view._apply(outline)
        view.status.entries = last
        view.runner_id, view.agent_id = run.runner_id, run.agent_id
        if view.status.began_at is None:
            view.status.began_at = run.started_at or run.created_at
        return view

    def apply(self, entries: Sequence[Entry]) -> None:
        """Apply new entries of this run, in order."""
        self._apply([entry for entry in entries if entry.position > self._last])
        self.timeline.append(entries)

    def note_stop_request(self, at: int | None) -> None:
        """Note that the user asked to stop the run; None if the request failed."""
        self.status.note_stop_request(at)
        self.ribbon.is_stopping = at is not None

    def _apply(self, entries: Sequence[Entry]) -> None:
        if entries:
            self._last = entries[-1].position
            self.status.apply(entries)
            self.ribbon.apply(entries)
            self.ribbon.can_steer = self.status.can_steer is not False

    def queue_run(self, cannot_steer: str | None) -> QueueRun:
        """Return the facts of the run that the queue pane needs; `cannot_steer` is the reason of its runner."""
        status = self.status
        reason = EXECUTED_ELSEWHERE if status.is_external else cannot_steer
        return QueueRun(self.run_id, status.is_over, status.turn, status.last_pull_at, reason, status.pause is not None)
