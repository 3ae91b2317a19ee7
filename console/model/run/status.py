"""The state, times and counters of a run, updated entry by entry."""

from collections import deque
from collections.abc import Iterable
from typing import Final

from console.model.journal.run_end import end_state, lost_words
from console.model.run.state import RunState
from console.model.text.units import duration
from engine.events import (
    EndReason,
    Entry,
    EntryKind,
    PauseStarted,
    RunFinished,
    RunStarted,
    Source,
    payload_as,
)

_PULL_ACTION: Final = "steering_pull"
_TENTH_SECOND_US: Final = 100_000


class RunStatus:
    """The state of one run and the words for it. The cost of an entry does not grow with the run."""

    def __init__(self) -> None:
        self.state = RunState.STARTING
        self.reason = ""
        self.error = ""
        self.began_at: int | None = None
        self.ended_at: int | None = None
        self.entries = 0
        self.turn = 1
        self.can_steer: bool | None = None
        """None until the run has started."""
        self.is_external = False
        """Whether the runner is executed elsewhere, and its results are only recorded here."""
        self.last_pull_at: int | None = None
        self.pause: PauseStarted | None = None
        """Where the run is paused; None if it is not."""
        self.paused_at: int | None = None
        self.stop_requested_at: int | None = None
        """When the user asked to stop the run."""
        self._recent_counts: deque[tuple[int, int]] = deque(maxlen=10)
        """The last tenths of a second that had entries, with the number of entries in each."""

    @property
    def is_over(self) -> bool:
        return self.ended_at is not None

    @property
    def is_stopping(self) -> bool:
        return self.stop_requested_at is not None and not self.is_over

    @property
    def is_paused_at_pull(self) -> bool:
        return self.pause is not None and self.pause.action == _PULL_ACTION

    @property
    def can_edit_reply(self) -> bool:
        """Whether the run is paused at a call other than a pull: the queue answers pulls, and results have no reply."""
        return self.pause is not None and bool(self.pause.call_id) and self.pause.action != _PULL_ACTION

    def note_stop_request(self, at: int | None) -> None:
        """Note when the user asked to stop the run; None if the request failed."""
        self.stop_requested_at = at
        if not self.is_over and (at is not None or self.began_at is not None):
            self._update_state()

    def apply(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self.entries = max(self.entries, entry.position)
            self.turn = max(self.turn, entry.turn)
            self._count_entry(entry.at // _TENTH_SECOND_US)
            if entry.source != Source.RUNNER:
                self._apply_host_entry(entry)

    def _apply_host_entry(self, entry: Entry) -> None:
        match entry.type:
            case EntryKind.RUN_STARTED:
                self.began_at = entry.at
                self._update_state()
                started = payload_as(RunStarted, entry)
                self.can_steer, self.is_external = started.can_steer, started.is_external
            case EntryKind.STEERING_PULLED:
                self.last_pull_at = entry.at
            case EntryKind.PAUSE_STARTED:
                self.pause, self.paused_at = payload_as(PauseStarted, entry), entry.at
                self._update_state()
            case EntryKind.PAUSE_ENDED:
                self.pause = self.paused_at = None
                self._update_state()
            case EntryKind.CANCEL_REQUESTED:
                self.note_stop_request(self.stop_requested_at or entry.at)
            case EntryKind.RUN_FINISHED:
                self._finish(entry)
            case _:
                pass

    def _update_state(self) -> None:
        """Choose the state of a run in progress: stopping comes before paused."""
        if self.stop_requested_at is not None:
            self.state = RunState.STOPPING
        else:
            self.state = RunState.RUNNING if self.pause is None else RunState.PAUSED

    def _finish(self, entry: Entry) -> None:
        payload = payload_as(RunFinished, entry)
        self.state, self.reason = end_state(payload), payload.reason
        self.error, self.ended_at = payload.error, entry.at
        self.pause = self.paused_at = None

    def _count_entry(self, tenth: int) -> None:
        before = self._recent_counts.pop()[1] if self._recent_counts and self._recent_counts[-1][0] == tenth else 0
        self._recent_counts.append((tenth, before + 1))

    def rate(self, now: int) -> int:
        """Return the number of entries of the last second, by their recorded times."""
        return sum(count for tenth, count in self._recent_counts if tenth > now // _TENTH_SECOND_US - 10)

    def words(self, now: int) -> str:
        """`running 14.2 s`, `paused 5.0 s at pull`, `stopping… 300 ms`, `failed: tool timeout`."""
        began = self.began_at
        took = "" if began is None else duration((self.ended_at or now) - began)
        match self.state:
            case RunState.STARTING:
                return "starting"
            case RunState.RUNNING:
                return f"running {took}"
            case RunState.PAUSED:
                at = self.pause.when if self.pause is not None else ""
                return f"paused {duration(now - (self.paused_at or now))}" + (f" at {at}" if at else "")
            case RunState.STOPPING:
                return f"stopping… {duration(now - (self.stop_requested_at or now))}"
            case RunState.COMPLETED:
                return f"completed {took}" + (" · no output" if self.reason == EndReason.NO_OUTPUT else "")
            case RunState.CANCELLED:
                return f"stopped after {took}"
            case RunState.TIMEOUT:
                return f"timed out after {took}"
            case RunState.LOST:
                return lost_words(self.error).words
            case RunState.FAILED:
                return f"failed: {self.error or self.reason}"
