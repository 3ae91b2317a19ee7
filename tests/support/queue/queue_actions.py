"""What can be done to a queue, each as the steps in which it happens, and what may come of several at the same time.

The engine decides each step in one place, so whatever ran side by side must have left what some order of the steps
leaves: the same answers to those who asked, and the same facts.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.queue.queue_model import EDITABLE, MAX_ITEMS, Message, QueueModel, QueueSnapshot, Refused, Slot

Steps = Generator[Any, None, Any]
"""Changes a world step by step and gives the answer; one that is given before the last step is yielded."""
OK = "ok"
REFUSALS = ("AlreadyDecided", "CannotSteer")
REPLY_UNREAD = "unheard"
"""What a pull came to whose reply was written to a runner that had just stopped waiting for it."""
PULL_NOT_STARTED = "unasked"
"""What a pull came to that was taken back before the host began with it."""
NO_ANSWER = "no answer"
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

    def steps(self, model: QueueModel, observed: Any) -> Steps:
        if self.event in model.messages:
            return _answer_to_repeat(model, self.event)
        message = Message(self.event, self.slot, self.text, self.runner, self.is_message)
        came = model.accept(message, after=self.after)
        yield came
        model.start_next(self.slot)
        return came


@dataclass(frozen=True, slots=True)
class SendAgain:
    """Someone sends again what was dropped or withdrawn; the answer names the new event."""

    event: str

    def steps(self, model: QueueModel, observed: Any) -> Steps:
        try:
            old = model.mark_sent_again(self.event)
        except Refused as refused:
            return str(refused)
        came = [
            model.accept(Message(observed[1], old.slot, old.text, old.runner, old.is_message), after=False),
            observed[1],
        ]
        yield came
        model.start_next(old.slot)
        return came


@dataclass(frozen=True, slots=True)
class Change:
    """Someone changes a message that waits: `how` is the world's method."""

    how: str
    event: str
    given: tuple[str | None, ...] = ()

    def steps(self, model: QueueModel, observed: Any) -> Steps:
        found = model.messages[self.event]
        yield
        message = model.messages[self.event]
        if message.fate in EDITABLE and (message.mode, message.run) != (found.mode, found.run):
            return "AlreadyDecided"  # someone turned it meanwhile; whoever changes it should look again
        try:
            getattr(model, self.how)(self.event, *self.given)
        except Refused as refused:
            # Where it was decided between the look and the change, either has reason to refuse.
            return observed if message != found and observed in REFUSALS else str(refused)
        yield OK
        model.start_next(message.slot)
        return OK


@dataclass(frozen=True, slots=True)
class Pull:
    """A run asks what was said. One that is cancelled may still come through, and then it counts."""

    run: str
    limit: int = MAX_ITEMS
    cancelled: str | None = None
    """When."""

    def steps(self, model: QueueModel, observed: Any) -> Steps:
        if observed == PULL_NOT_STARTED:
            return observed
        if model.runs[self.run].closing is not None:
            return "refused"
        taken = model.take(self.run, self.limit)
        yield
        if model.runs[self.run].status != "live":
            return observed if observed in ("cancelled", "refused") else "refused"
        # Cancelled by its runner, or because its run is at its end: either way nothing was given.
        if observed == "cancelled" or (observed == "refused" and model.runs[self.run].closing is not None):
            model.put_back(taken)
            return observed
        model.inject(taken)
        return observed if observed == REPLY_UNREAD else [[message.event, message.text] for message in taken]


@dataclass(frozen=True, slots=True)
class End:
    """A run ends by itself, or its runner is gone."""

    run: str
    status: str
    reason: str | None = None

    def steps(self, model: QueueModel, observed: Any) -> Steps:
        model.decide_end(self.run, self.status)
        yield
        model.finish(self.run, self.reason)
        yield OK
        model.start_next(model.runs[self.run].slot)
        return OK


@dataclass(frozen=True, slots=True)
class Cancel:
    """Someone stops a run."""

    run: str

    def steps(self, model: QueueModel, observed: Any) -> Steps:
        if model.runs[self.run].status != "live":
            return "AlreadyFinal"
        yield
        model.decide_end(self.run, "cancelled")
        yield
        model.finish(self.run)
        yield OK
        model.start_next(model.runs[self.run].slot)
        return OK


Action = Send | SendAgain | Change | Pull | End | Cancel


def find_explanation(
    model: QueueModel,
    actions: Sequence[Action],
    observed: Sequence[Any],
    snapshot: QueueSnapshot,
    *,
    died: bool = False,
    unwritten: bool = False,
) -> QueueModel:
    """The world after some order of the acts' steps that gives these answers and these facts; fails if there is none.

    A host that `died` leaves any part of the acts that were not answered yet; and where the writer was not heard of
    again (`unwritten`), also a pull whose answer the runner has, as one that was only taken.
    """
    tried: list[str] = []
    for left, answers in _outcomes(model, actions, observed, died=died):
        is_told = all(
            expected in (answer, NO_ANSWER) or (unwritten and isinstance(action, Pull) and answer == NO_ANSWER)
            for action, answer, expected in zip(actions, answers, observed, strict=True)
        )
        if is_told and left.snapshot() == snapshot:
            return left
        tried.append(f"{answers} with {left.snapshot().differences(snapshot) or 'the same facts'}")
    asked = [f"{action} was answered {answer}" for action, answer in zip(actions, observed, strict=True)]
    possible = [f"possible: {each}" for each in dict.fromkeys(tried)]
    raise AssertionError("\n".join(["No order explains this:", *asked, *possible]))


def _outcomes(
    model: QueueModel, actions: Sequence[Action], observed: Sequence[Any], *, died: bool
) -> Iterator[tuple[QueueModel, list[Any]]]:
    """Every way in which the steps can follow each other, acts in their own order first."""
    todo: list[tuple[int, ...]] = [()]
    while todo:
        path = todo.pop()
        left = model.copy()
        steps = [action.steps(left, answer) for action, answer in zip(actions, observed, strict=True)]
        answers: list[Any] = [NO_ANSWER for _ in actions]
        unfinished = set(range(len(actions)))
        for number in path:
            try:
                answers[number] = next(steps[number]) or NO_ANSWER
            except StopIteration as end:
                answers[number] = end.value
                unfinished.remove(number)
        if died or not unfinished:
            yield left, answers
        todo.extend((*path, number) for number in sorted(unfinished, reverse=True))


def _answer_to_repeat(model: QueueModel, event: str) -> list[Any]:
    """An event that came before is answered with its first run, if it has one."""
    message = model.messages[event]
    run = model.run_of(event)
    return ["repeat", run or ("waits" if message.fate in ("queued", "paused") else "nothing")]
