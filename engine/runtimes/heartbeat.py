"""Checks whether a child's event loop still responds while a run is in it."""

import asyncio
import math
from collections.abc import Callable
from typing import Final, NamedTuple

from engine.runtimes import wire
from engine.runtimes.runtime import Sink

BLOCKED_SECONDS: Final = 5.0
"""Silence after which it is reported to the sink. A runner that awaits answers at once."""
PING_INTERVAL_SECONDS: Final = 1.0
PING: Final = wire.encode({"seq_id": 0, "action": "ping"})
"""Answered by the loop on which the runner's code runs, so not while that code blocks it."""


class HeartbeatTimeouts(NamedTuple):
    """The interval of the pings, and the silence that is reported."""

    interval_seconds: float = PING_INTERVAL_SECONDS
    blocked_seconds: float = BLOCKED_SECONDS


class Heartbeat:
    """Pings one child, one ping at a time. Only reports silence: a runner may compute for long.

    Ticks are counted, not seconds. A late tick, or one in which the host did not read from the child, does not count.
    """

    def __init__(
        self, write: Callable[[bytes], object], timeouts: HeartbeatTimeouts, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._write = write
        self._every = timeouts.interval_seconds
        self._max_missed = max(1, math.ceil(timeouts.blocked_seconds / timeouts.interval_seconds))
        self._loop = loop
        self._sink: Sink | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._awaits_answer = False
        """Whether a ping is unanswered. Outlives a run: the answer may arrive during the next one, or never."""
        self._missed = 0
        """Ticks without an answer; from `_max_missed` on the silence was reported."""
        self._is_throttled = False
        self._skips_tick = False
        self._began = 0.0

    def watch(self, sink: Sink) -> None:
        """Start pinging for a run. The first ping is sent after one tick, because most runs are over by then."""
        self._sink = sink
        self._missed = 0
        self._start_tick()

    def stop(self) -> None:
        """Stop pinging: the run or its child has ended."""
        self._sink = None
        if self._timer is not None:
            self._timer.cancel()

    def set_throttled(self, on: bool) -> None:
        """Note that the host stopped or resumed reading; an answer may be unread meanwhile."""
        self._is_throttled = on
        self._skips_tick = True

    def answered(self) -> bool:
        """Note an answer. Returns False if no ping was sent."""
        if not self._awaits_answer:
            return False
        if self._sink is not None and self._missed >= self._max_missed:
            this_turn = min(self._loop.time() - self._began, self._every)
            self._sink.answers_again(self._missed * self._every + this_turn)
        self._awaits_answer = False
        self._missed = 0
        return True

    def _start_tick(self) -> None:
        self._skips_tick = self._is_throttled
        self._began = self._loop.time()
        self._timer = self._loop.call_later(self._every, self._end_tick)

    def _end_tick(self) -> None:
        is_late = self._loop.time() - self._began > 2 * self._every
        if not self._awaits_answer:
            self._awaits_answer = True
            self._write(PING)
        elif not self._skips_tick and not is_late:
            self._missed += 1
            if self._missed == self._max_missed and self._sink is not None:
                self._sink.silent(self._missed * self._every)
        self._start_tick()
