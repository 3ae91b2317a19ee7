"""What can be done to a queue, each as the steps in which it happens, and what may come of several at the same time.

The engine decides each step in one place, so whatever ran side by side must have left what some order of the steps
leaves: the same answers to those who asked, and the same facts.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.queue.queue_model import EDITABLE, MOST, Message, Refused, Seen, Slot, World

Steps = Generator[Any, None, Any]
"""Changes a world step by step and gives the answer; one that is given before the last step is yielded."""
OK = "ok"
REFUSALS = ("AlreadyDecided", "CannotSteer")
UNHEARD = "unheard"
"""What a pull came to whose reply was written to a runner that had just stopped waiting for it."""
UNASKED = "unasked"
"""What a pull came to that was taken back before the host began with it."""
NOT_TOLD = "not told"
"""The answer to what was still under way when its host died."""


@dataclass(frozen=True, slots=True)
class Send:
    """Someone says something, or something happens."""

    event: str
    slot: Slot
    text: str
    runner: str = "obeys"
    is_message: bool = True
    after: bool = False

    def steps(self, world: World, told: Any) -> Steps:
        if self.event in world.messages:
            return _repeated(world, self.event)
        message = Message(self.event, self.slot, self.text, self.runner, self.is_message)
        came = world.come_in(message, after=self.after)
        yield came
        world.start_next(self.slot)
        return came


@dataclass(frozen=True, slots=True)
class SendAgain:
    """Someone sends again what was dropped or withdrawn; the answer names the new event."""

    event: str

    def steps(self, world: World, told: Any) -> Steps:
        try:
            old = world.mark_sent_again(self.event)
        except Refused as refused:
            return str(refused)
        came = [world.come_in(Message(told[1], old.slot, old.text, old.runner, old.is_message), after=False), told[1]]
        yield came
        world.start_next(old.slot)
        return came


@dataclass(frozen=True, slots=True)
class Change:
    """Someone changes a message that waits: `how` is the world's method."""

    how: str
    event: str
    given: tuple[str | None, ...] = ()

    def steps(self, world: World, told: Any) -> Steps:
        found = world.messages[self.event]
        yield
        message = world.messages[self.event]
        if message.fate in EDITABLE and (message.mode, message.run) != (found.mode, found.run):
            return "AlreadyDecided"  # someone turned it meanwhile; whoever changes it should look again
        try:
            getattr(world, self.how)(self.event, *self.given)
        except Refused as refused:
            # Where it was decided between the look and the change, either has reason to refuse.
            return told if message != found and told in REFUSALS else str(refused)
        yield OK
        world.start_next(message.slot)
        return OK


@dataclass(frozen=True, slots=True)
class Pull:
    """A run asks what was said. One that is cancelled may still come through, and then it counts."""

    run: str
    limit: int = MOST
    cancelled: str | None = None
    """When."""

    def steps(self, world: World, told: Any) -> Steps:
        if told == UNASKED:
            return told
        if world.runs[self.run].closing is not None:
            return "refused"
        taken = world.take(self.run, self.limit)
        yield
        if world.runs[self.run].status != "live":
            return told if told in ("cancelled", "refused") else "refused"
        # Cancelled by its runner, or because its run is at its end: either way nothing was given.
        if told == "cancelled" or (told == "refused" and world.runs[self.run].closing is not None):
            world.put_back(taken)
            return told
        world.inject(taken)
        return told if told == UNHEARD else [[message.event, message.text] for message in taken]


@dataclass(frozen=True, slots=True)
class End:
    """A run ends by itself, or its runner is gone."""

    run: str
    status: str
    reason: str | None = None

    def steps(self, world: World, told: Any) -> Steps:
        world.decide_end(self.run, self.status)
        yield
        world.finish(self.run, self.reason)
        yield OK
        world.start_next(world.runs[self.run].slot)
        return OK


@dataclass(frozen=True, slots=True)
class Cancel:
    """Someone stops a run."""

    run: str

    def steps(self, world: World, told: Any) -> Steps:
        if world.runs[self.run].status != "live":
            return "AlreadyFinal"
        yield
        world.decide_end(self.run, "cancelled")
        yield
        world.finish(self.run)
        yield OK
        world.start_next(world.runs[self.run].slot)
        return OK


Act = Send | SendAgain | Change | Pull | End | Cancel


def explained(
    world: World, acts: Sequence[Act], told: Sequence[Any], seen: Seen, *, died: bool = False, unwritten: bool = False
) -> World:
    """The world after some order of the acts' steps that gives these answers and these facts; fails if there is none.

    A host that `died` leaves any part of the acts that were not answered yet; and where the writer was not heard of
    again (`unwritten`), also a pull whose answer the runner has, as one that was only taken.
    """
    tried: list[str] = []
    for left, answers in _endings(world, acts, told, died=died):
        is_told = all(
            expected in (answer, NOT_TOLD) or (unwritten and isinstance(act, Pull) and answer == NOT_TOLD)
            for act, answer, expected in zip(acts, answers, told, strict=True)
        )
        if is_told and left.seen() == seen:
            return left
        tried.append(f"{answers} with {left.seen().differences(seen) or 'the same facts'}")
    asked = [f"{act} was answered {answer}" for act, answer in zip(acts, told, strict=True)]
    possible = [f"possible: {each}" for each in dict.fromkeys(tried)]
    raise AssertionError("\n".join(["No order explains this:", *asked, *possible]))


def _endings(
    world: World, acts: Sequence[Act], told: Sequence[Any], *, died: bool
) -> Iterator[tuple[World, list[Any]]]:
    """Every way in which the steps can follow each other, acts in their own order first."""
    todo: list[tuple[int, ...]] = [()]
    while todo:
        path = todo.pop()
        left = world.copy()
        steps = [act.steps(left, answer) for act, answer in zip(acts, told, strict=True)]
        answers: list[Any] = [NOT_TOLD for _ in acts]
        under_way = set(range(len(acts)))
        for number in path:
            try:
                answers[number] = next(steps[number]) or NOT_TOLD
            except StopIteration as end:
                answers[number] = end.value
                under_way.remove(number)
        if died or not under_way:
            yield left, answers
        todo.extend((*path, number) for number in sorted(under_way, reverse=True))


def _repeated(world: World, event: str) -> list[Any]:
    """An event that came before is answered with its first run, if it has one."""
    message = world.messages[event]
    run = world.run_of(event)
    return ["repeat", run or ("waits" if message.fate in ("queued", "paused") else "nothing")]
