"""What holds a run: the points that are armed, what they hold now, and how a person lets it go on."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, NamedTuple

from engine.clock import Clock
from engine.facts.errors import CannotHold
from engine.run.deadline import Deadline
from engine.run.points import NAMES_OF, PULLING, RESULTS, STEPS, Point
from engine.run.recorder import Recorder

STEP: Final = "step"
"""Stands for the point where a step, and nothing that is armed, holds the run."""
Edit = Callable[[object, str], Mapping[str, Any]]
"""Checks and notes a reply that this editor wants instead; gives it as it will go, or raises CannotHold."""


class Stage(StrEnum):
    """What waits."""

    BEFORE = "before"
    """A call that is allowed and not yet made."""
    REPLY = "reply"
    """The answer of a call that was made."""
    RESULT = "result"
    """A result, and all that came behind it."""


class How(StrEnum):
    """How a person lets a held run go on."""

    RELEASE = "release"
    STEP = "step"


@dataclass(frozen=True, slots=True)
class Armed:
    """A point that will hold the run."""

    point: Point
    once: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """What is held now."""

    point: str
    """The words of the point that was reached; `step` where a step ended."""
    stage: Stage
    call_id: str | None = None
    action: str | None = None
    arguments: Mapping[str, Any] | None = None
    """Of the call; secrets are marks."""
    type: str | None = None
    """Of the result."""
    original: Mapping[str, Any] | None = None
    """The reply, or its error, as it came; known once the call was made. Not covered: an edit begins with it."""
    edit: Mapping[str, Any] | None = None
    """What goes instead of it."""
    since: int = 0
    time_left: float | None = None
    """Seconds that the run may still work when it goes on; nothing means no deadline."""

    @property
    def is_editable(self) -> bool:
        """Whether an answer can be put in: a pull takes what waits in the queue, a result is the runner's own word."""
        return self.stage is not Stage.RESULT and self.action != PULLING

    @property
    def has_reply_ahead(self) -> bool:
        """Whether the reply of the same call is where a step ends."""
        return self.stage is Stage.BEFORE and self.is_editable and self.edit is None

    def told(self) -> dict[str, Any]:
        """What the journal says of it."""
        what = {"type": self.type} if self.stage is Stage.RESULT else {"call_id": self.call_id, "action": self.action}
        return {"when": self.point, "stage": self.stage, **what}


class LetGo(NamedTuple):
    """How a held call goes on, and the answer that was put in for its own."""

    how: How
    edit: Mapping[str, Any] | None


@dataclass(slots=True)
class _Standing:
    held: Held
    go: Callable[[How], None]
    end: Callable[[], None]
    edit: Edit | None = None


class Holds:
    """The holds of one run, all on the loop's thread. What is held stands in line: the first is let go first."""

    def __init__(self, recorder: Recorder, clock: Clock, deadline: Deadline) -> None:
        self._recorder = recorder
        self._clock = clock
        self._deadline = deadline
        self._armed: dict[Point, Armed] = {}
        self._counts: dict[str, int] = {}
        self._line: list[_Standing] = []
        self._is_stepping = False
        self._is_over = False

    # What a person does

    @property
    def armed(self) -> tuple[Armed, ...]:
        return tuple(self._armed.values())

    @property
    def held(self) -> Held | None:
        """What a release or a step would let go."""
        return self._line[0].held if self._line else None

    def arm(self, point: Point, *, once: bool = False) -> None:
        """Hold the run at this point: each time, or once. One with a number is used up when it is reached."""
        if self._is_over:
            raise CannotHold("the run has ended or is being stopped; it reaches no point any more.")
        came = self._counts.get(point.name, 0)
        if point.number is not None and point.number <= came:
            raise CannotHold(f"{point} has passed: {came} came so far. Name a later one, or {point.name} for each.")
        self._armed[point] = Armed(point, once)
        self._recorder.record("person", "hold.armed", {"when": str(point), "once": once})

    def disarm(self, point: Point) -> None:
        """Hold the run there no more. What is held stays held."""
        if point not in self._armed:
            armed = ", ".join(map(str, self._armed)) or "none"
            raise CannotHold(f"{point} is not armed. Armed points: {armed}.")
        once = self._armed.pop(point).once
        self._recorder.record("person", "hold.disarmed", {"when": str(point), "once": once})

    def edit(self, reply: object, editor: str) -> Held:
        """Put in an answer for the held call; it goes when the call does. A later edit replaces it."""
        standing = self._first()
        if standing.edit is None:
            why = "is the runner's own word" if standing.held.stage is Stage.RESULT else "takes what waits in the queue"
            what = standing.held.type if standing.held.stage is Stage.RESULT else "a pull"
            raise CannotHold(f"{what} {why}; only the answer of a call can be edited.")
        standing.held = replace(standing.held, edit=standing.edit(reply, editor))
        return standing.held

    def release(self) -> None:
        """Let go what is held."""
        self._let_go(self._first(), How.RELEASE)

    def step(self) -> None:
        """Let go what is held, up to its reply or else to whatever boundary comes next."""
        self._let_go(self._first(), How.STEP)

    # What the run comes to

    def meet_call(self, action: str) -> str | None:
        """An allowed call is about to be made: the words of the point that holds it, if one does."""
        return self._meet(NAMES_OF.get(action, ()))

    def meet_result(self, kind: object) -> str | None:
        """A result came. On every result's way, so that an unarmed run pays two look-ups."""
        return self._meet((kind,)) if isinstance(kind, str) and kind in RESULTS else None

    def stand(self, held: Held, go: Callable[[How], None], end: Callable[[], None], edit: Edit | None = None) -> None:
        """Held from here on: `go` is called when a person lets it go, `end` when the run ends."""
        self._reach(_Standing(held, go, end, edit))

    async def keep(self, held: Held, edit: Edit | None = None) -> LetGo | None:
        """Wait until a held call is let go; nothing is given where the run ends first."""
        going: asyncio.Future[How | None] = asyncio.get_running_loop().create_future()

        def go(how: How | None = None) -> None:
            if not going.done():
                going.set_result(how)

        standing = _Standing(held, go, go, edit if held.is_editable else None)
        self._reach(standing)
        try:
            how = await going
        finally:
            self._leave(standing)
        return None if how is None else LetGo(how, standing.held.edit)

    def step_on(self) -> None:
        """Hold the run at the next boundary, unless something else of it is held already."""
        self._is_stepping = not self._line and not self._is_over

    def end(self) -> None:
        """The run ends or is being stopped: nothing is held any more."""
        self._is_over = True
        self._is_stepping = False
        self._armed.clear()
        line, self._line = self._line, []
        if line:
            self._deadline.go_on()
        for standing in line:
            standing.end()

    # Inside

    def _meet(self, names: Iterable[str]) -> str | None:
        fitting: list[Armed] = []
        stops_a_step = False
        for name in names:
            count = self._counts[name] = self._counts.get(name, 0) + 1
            if self._armed:
                fitting += (one for one in self._armed.values() if _is_met(one.point, name, count))
            stops_a_step = stops_a_step or (self._is_stepping and name in STEPS)
        if not (fitting or stops_a_step):
            return None
        for one in fitting:
            if one.once or one.point.number is not None:
                del self._armed[one.point]
        return str(fitting[0].point) if fitting else STEP

    def _first(self) -> _Standing:
        if not self._line:
            raise CannotHold("nothing is held in this run.")
        return self._line[0]

    def _reach(self, standing: _Standing) -> None:
        self._is_stepping = False
        self._deadline.stand()
        standing.held = replace(standing.held, since=self._clock.now(), time_left=self._deadline.left)
        self._line.append(standing)
        self._recorder.record("host", "hold.reached", standing.held.told())

    def _let_go(self, standing: _Standing, how: How) -> None:
        seconds = (self._clock.now() - standing.held.since) / 1_000_000
        self._leave(standing)
        if how is How.STEP and not standing.held.has_reply_ahead:
            self.step_on()
        self._recorder.record("person", "hold.released", {**standing.held.told(), "seconds": seconds, "how": how})
        standing.go(how)

    def _leave(self, standing: _Standing) -> None:
        """Also of a call that its runner has taken back."""
        if standing in self._line:
            self._line.remove(standing)
            if not self._line:
                self._deadline.go_on()


def _is_met(point: Point, name: str, count: int) -> bool:
    return point.name == name and point.number in (None, count)
