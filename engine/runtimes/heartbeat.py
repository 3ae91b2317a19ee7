"""Checks whether a child's event loop still responds while a run is in it."""

import asyncio
import math
from collections.abc import Callable
from typing import Final, NamedTuple

from engine.runtimes import wire
from engine.runtimes.runtime import Sink

BLOCKED: Final = 5.0
"""Seconds without an answer after which the sink is told. A runner that awaits answers at once."""
ASK_EVERY: Final = 1.0
QUESTION: Final = wire.encode({"seq_id": 0, "action": "ping"})
"""Answered by the loop on which the runner's code runs, so not while that code blocks it."""


class HeartbeatTimeouts(NamedTuple):
    """How often a child is asked, and how long it may take to answer."""

    ask_every: float = ASK_EVERY
    blocked: float = BLOCKED


class Heartbeat:
    """Asks one child, one question at a time. Only reports: a runner may compute for long.

    Ticks are counted, not seconds. A late tick, or one in which the host held the child back, does not count.
    """

    def __init__(
        self, write: Callable[[bytes], object], patience: HeartbeatTimeouts, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._write = write
        self._every = patience.ask_every
        self._enough = max(1, math.ceil(patience.blocked / patience.ask_every))
        self._loop = loop
        self._sink: Sink | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._owes_answer = False
        """Outlives a run: the answer may arrive during the next one, or never."""
        self._missed = 0
        """Ticks without an answer; from `enough` on the sink was told."""
        self._is_braked = False
        self._is_excused = False
        self._began = 0.0

    def watch(self, sink: Sink) -> None:
        """Start asking for a run. The first question comes after one tick, because most runs are over by then."""
        self._sink = sink
        self._missed = 0
        self._begin_turn()

    def stop(self) -> None:
        """Stop asking: the run or its child has ended."""
        self._sink = None
        if self._timer is not None:
            self._timer.cancel()

    def braked(self, on: bool) -> None:
        """Note that the host stopped or resumed reading; an answer may be unread meanwhile."""
        self._is_braked = on
        self._is_excused = True

    def answered(self) -> bool:
        """Note an answer. Returns False if nothing was asked."""
        if not self._owes_answer:
            return False
        if self._sink is not None and self._missed >= self._enough:
            this_turn = min(self._loop.time() - self._began, self._every)
            self._sink.answers_again(self._missed * self._every + this_turn)
        self._owes_answer = False
        self._missed = 0
        return True

    def _begin_turn(self) -> None:
        self._is_excused = self._is_braked
        self._began = self._loop.time()
        self._timer = self._loop.call_later(self._every, self._end_turn)

    def _end_turn(self) -> None:
        is_late = self._loop.time() - self._began > 2 * self._every
        if not self._owes_answer:
            self._owes_answer = True
            self._write(QUESTION)
        elif not self._is_excused and not is_late:
            self._missed += 1
            if self._missed == self._enough and self._sink is not None:
                self._sink.silent(self._missed * self._every)
        self._begin_turn()
