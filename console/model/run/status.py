"""The state of a run, followed entry by entry, as a glyph and words."""

from collections import deque
from collections.abc import Iterable
from typing import Final

from console.model.journal.run_end import LOST, end_state, lost_words
from console.model.text.units import duration
from engine.events import (
    EndReason,
    Entry,
    EntryKind,
    PauseStarted,
    RunFinished,
    RunStarted,
    Source,
    Status,
    payload_as,
)

STARTING: Final = "starting"
RUNNING: Final = "running"
PAUSED: Final = "paused"
STOPPING: Final = "stopping"
_PULL_ACTION: Final = "steering_pull"
_TENTH_US: Final = 100_000


class RunStatus:
    """State, times and counters of one run. The cost of an entry does not grow with the run."""

    def __init__(self) -> None:
        self.state: str = STARTING
        """The name of a glyph: one of the constants above, a final status, or `LOST`."""
        self.reason = ""
        self.error = ""
        self.began_at: int | None = None
        self.ended_at: int | None = None
        self.entries = 0
        self.turn = 1
        self.can_steer: bool | None = None
        """None until the run has started."""
        self.last_pull_at: int | None = None
        self.pause: PauseStarted | None = None
        """What the run waits with while it is paused."""
        self.paused_at: int | None = None
        self.stop_asked_at: int | None = None
        """When the user asked to stop the run."""
        self._recent: deque[tuple[int, int]] = deque(maxlen=10)
        """The last tenths of a second with entries, and the number of entries in each."""

    @property
    def is_over(self) -> bool:
        return self.ended_at is not None

    @property
    def is_stopping(self) -> bool:
        return self.stop_asked_at is not None and not self.is_over

    @property
    def is_paused_at_pull(self) -> bool:
        return self.pause is not None and self.pause.action == _PULL_ACTION

    @property
    def can_edit_reply(self) -> bool:
        """Whether the run is paused at a call other than a pull: the queue answers pulls, and results have no reply."""
        return self.pause is not None and bool(self.pause.call_id) and self.pause.action != _PULL_ACTION

    def ask_to_stop(self, at: int | None) -> None:
        """Note when the user asked to stop the run; None if the request could not be made."""
        self.stop_asked_at = at
        if not self.is_over and (at is not None or self.began_at is not None):
            self._update_state()

    def apply(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self.entries = max(self.entries, entry.position)
            self.turn = max(self.turn, entry.turn)
            self._count(entry.at // _TENTH_US)
            if entry.source != Source.RUNNER:
                self._apply_host_entry(entry)

    def _apply_host_entry(self, entry: Entry) -> None:
        match entry.type:
            case EntryKind.RUN_STARTED:
                self.began_at = entry.at
                self._update_state()
                self.can_steer = payload_as(RunStarted, entry).can_steer
            case EntryKind.STEERING_PULLED:
                self.last_pull_at = entry.at
            case EntryKind.PAUSE_STARTED:
                self.pause, self.paused_at = payload_as(PauseStarted, entry), entry.at
                self._update_state()
            case EntryKind.PAUSE_ENDED:
                self.pause = self.paused_at = None
                self._update_state()
            case EntryKind.CANCEL_REQUESTED:
                self.ask_to_stop(self.stop_asked_at or entry.at)
            case EntryKind.RUN_FINISHED:
                self._finish(entry)
            case _:
                pass

    def _update_state(self) -> None:
        """Choose the state of a run in progress: stopping comes before paused."""
        self.state = STOPPING if self.stop_asked_at is not None else RUNNING if self.pause is None else PAUSED

    def _finish(self, entry: Entry) -> None:
        payload = payload_as(RunFinished, entry)
        self.state, self.reason = end_state(payload), payload.reason
        self.error, self.ended_at = payload.error, entry.at
        self.pause = self.paused_at = None

    def _count(self, tenth: int) -> None:
        before = self._recent.pop()[1] if self._recent and self._recent[-1][0] == tenth else 0
        self._recent.append((tenth, before + 1))

    def rate(self, now: int) -> int:
        """Entries of the last second, by their own times and not by when they were read."""
        return sum(count for tenth, count in self._recent if tenth > now // _TENTH_US - 10)

    def words(self, now: int) -> str:
        """`running 14.2 s`, `paused 5.0 s at pull`, `stopping… 300 ms`, `failed: tool timeout`."""
        began = self.began_at
        took = "" if began is None else duration((self.ended_at or now) - began)
        match self.state:
            case "starting":
                return STARTING
            case "running":
                return f"running {took}"
            case "paused":
                at = self.pause.when if self.pause is not None else ""
                return f"paused {duration(now - (self.paused_at or now))}" + (f" at {at}" if at else "")
            case "stopping":
                return f"stopping… {duration(now - (self.stop_asked_at or now))}"
            case Status.COMPLETED:
                return f"completed {took}" + (" · no output" if self.reason == EndReason.NO_OUTPUT else "")
            case Status.CANCELLED:
                return f"stopped after {took}"
            case Status.TIMEOUT:
                return f"timed out after {took}"
            case _ if self.state == LOST:
                return lost_words(self.error).words
            case _:
                return f"failed: {self.error or self.reason}"
