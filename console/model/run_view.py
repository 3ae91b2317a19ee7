"""One run as the screen shows it, live or long over."""

from collections.abc import Sequence

from console.model.prompt.waiting import RunSeen
from console.model.ribbon import Ribbon
from console.model.status import RunStatus
from console.model.stream.timeline import Timeline
from engine.api import Entry, RunRow


class RunView:
    """Follows a run entry by entry."""

    def __init__(self, run_id: str, *, last: int = 0, is_live: bool = True) -> None:
        self.run_id = run_id
        self.is_live = is_live
        """It works, or worked, in this process."""
        self.status = RunStatus()
        self.ribbon = Ribbon()
        self.timeline = Timeline(run_id, last=last, is_live=is_live)

    @classmethod
    def of_past(cls, run: RunRow, outline: Sequence[Entry], last: int, *, is_live: bool) -> "RunView":
        """A run that began before it was looked at."""
        view = cls(run.run_id, last=last, is_live=is_live)
        view.status.apply(outline)
        view.status.entries = last
        view.ribbon.apply(outline)
        if view.status.began_at is None:
            view.status.began_at = run.started_at or run.created_at
        return view

    def apply(self, entries: Sequence[Entry]) -> None:
        """What is new of this run, in order."""
        self.status.apply(entries)
        self.ribbon.apply(entries)
        self.timeline.append(entries)

    def seen(self, cannot_steer: str | None) -> RunSeen:
        """As the queue needs to know it."""
        status = self.status
        return RunSeen(
            self.run_id, status.is_over, status.turn, status.last_pull_at, cannot_steer, status.held is not None
        )
