"""Where a run stands: followed entry by entry, told in a glyph and words."""

from collections import deque
from collections.abc import Iterable
from typing import Any, Final

import orjson

from console.model.talk.ends import lost
from console.model.words import duration
from engine.events import Entry

_ENDED = {"completed", "failed", "cancelled", "timeout"}
_LOST = "runner.lost"
_PULLING = "steering_pull"
_TENTH: Final = 100_000
"""Microseconds by which recent entries are counted together."""


class RunStatus:
    """One run's state, time and counters. An entry costs the same however many there were."""

    def __init__(self) -> None:
        self.state = "starting"
        """A glyph's name: starting, running, held, stopping, completed, failed, cancelled, timeout, lost."""
        self.reason = ""
        self.error = ""
        self.began_at: int | None = None
        self.ended_at: int | None = None
        self.entries = 0
        self.turn = 1
        self.can_steer: bool | None = None
        """None until the run has begun."""
        self.last_pull_at: int | None = None
        self.held: dict[str, Any] | None = None
        """What `hold.reached` said, while it holds."""
        self.held_since: int | None = None
        self.stop_asked_at: int | None = None
        """When someone wanted it stopped."""
        self._recent: deque[tuple[int, int]] = deque(maxlen=10)
        """The last tenths of a second in which there were entries, and how many."""

    @property
    def is_over(self) -> bool:
        return self.ended_at is not None

    @property
    def is_stopping(self) -> bool:
        """Someone wants it stopped, and it has not ended yet."""
        return self.stop_asked_at is not None and not self.is_over

    @property
    def is_held_at_pull(self) -> bool:
        return (self.held or {}).get("action") == _PULLING

    @property
    def can_edit_held(self) -> bool:
        """What is held is a call with an answer of its own: a pull is answered by the queue, a result is no answer."""
        held = self.held or {}
        return bool(held.get("call_id")) and held.get("action") != _PULLING

    def ask_to_stop(self, at: int | None) -> None:
        """Someone wants it stopped, or that could not be told to anyone: none."""
        self.stop_asked_at = at
        if not self.is_over and (at is not None or self.began_at is not None):
            self._go_on()

    def apply(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self.entries = max(self.entries, entry.position)
            self.turn = max(self.turn, entry.turn)
            self._count(entry.at // _TENTH)
            if entry.source != "runner":
                self._note(entry)

    def _note(self, entry: Entry) -> None:
        match entry.type:
            case "run.started":
                self.began_at = entry.at
                self._go_on()
                apis: dict[str, Any] = orjson.loads(entry.data)["context"]["context"]["available_apis"]
                self.can_steer = bool(apis.get("steering_pull"))
            case "steering.pulled":
                self.last_pull_at = entry.at
            case "hold.reached":
                self.held, self.held_since = orjson.loads(entry.data), entry.at
                self._go_on()
            case "hold.released":
                self.held = self.held_since = None
                self._go_on()
            case "cancel.requested":
                self.ask_to_stop(self.stop_asked_at or entry.at)
            case "run.finished":
                self._finish(entry)
            case _:
                pass

    def _go_on(self) -> None:
        """It is at work: the weightiest of what holds is its state."""
        self.state = "stopping" if self.stop_asked_at is not None else "running" if self.held is None else "held"

    def _finish(self, entry: Entry) -> None:
        data: dict[str, Any] = orjson.loads(entry.data)
        status, self.reason = str(data.get("status")), str(data.get("reason") or "")
        self.state = "lost" if self.reason == _LOST else status if status in _ENDED else "failed"
        self.error, self.ended_at = str(data.get("error") or ""), entry.at
        self.held = self.held_since = None

    def _count(self, tenth: int) -> None:
        before = self._recent.pop()[1] if self._recent and self._recent[-1][0] == tenth else 0
        self._recent.append((tenth, before + 1))

    def rate(self, now: int) -> int:
        """Entries of the last second. It goes by their own stamps, and not by when someone looked."""
        return sum(count for tenth, count in self._recent if tenth > now // _TENTH - 10)

    def words(self, now: int) -> str:
        """`running 14.2 s`, `held 5.0 s at pull`, `stopping… 300 ms`, `failed: tool timeout`."""
        began = self.began_at
        took = "" if began is None else duration((self.ended_at or now) - began)
        match self.state:
            case "starting":
                return "starting"
            case "running":
                return f"running {took}"
            case "held":
                at = str((self.held or {}).get("when") or "")
                return f"held {duration(now - (self.held_since or now))}" + (f" at {at}" if at else "")
            case "stopping":
                return f"stopping… {duration(now - (self.stop_asked_at or now))}"
            case "completed":
                return f"completed {took}" + (" · no output" if self.reason == "no output" else "")
            case "cancelled":
                return f"stopped after {took}"
            case "timeout":
                return f"timed out after {took}"
            case "lost":
                return lost(self.error).words
            case _:
                return f"failed: {self.error or self.reason}"
