"""The runs that are at work, whichever of them is shown."""

from collections.abc import Iterator, Sequence

from console.model.status import RunStatus
from engine.events import Entry


class AtWork:
    """Follows every run that was heard of from its beginning to its end."""

    def __init__(self) -> None:
        self._runs: dict[str, tuple[str | None, RunStatus]] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._runs))

    def begin(self, run_id: str, session: str | None) -> None:
        """A run of a session has begun."""
        self._runs[run_id] = session, RunStatus()

    def hear(self, run_id: str, entries: Sequence[Entry]) -> None:
        """What is new of a run."""
        if run_id in self._runs:
            status = self._runs[run_id][1]
            status.apply(entries)
            if status.is_over:
                del self._runs[run_id]

    def statuses(self, run_id: str) -> Sequence[RunStatus]:
        """Where a run stands, if it is at work."""
        return [self._runs[run_id][1]] if run_id in self._runs else []

    def of(self, session: str) -> tuple[str, RunStatus] | None:
        """The run of a session that is at work."""
        found = [(run_id, status) for run_id, (where, status) in self._runs.items() if where == session]
        return found[-1] if found else None
