"""Actions on a queue, each as a sequence of steps, and a search for an order of steps that explains a result.

The engine decides each step in one place. So the answers and the database after concurrent actions must be those of
some sequential order of their steps.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.queue.queue_model import EDITABLE, MAX_ITEMS, Message, QueueModel, QueueSnapshot, Refused, Slot

Steps = Generator[Any, None, Any]
"""Changes a model step by step and returns the answer. An answer that is given before the last step is yielded."""
OK = "ok"
REFUSALS = ("AlreadyDecided", "CannotSteer")
REPLY_UNREAD = "unheard"
"""The outcome of a pull whose reply was written to a runner that had just stopped waiting for it."""
PULL_NOT_STARTED = "unasked"
"""The outcome of a pull that was cancelled before the host started it."""
NO_ANSWER = "no answer"
"""The answer to an action that was in progress when its host died."""


@dataclass(frozen=True, slots=True)
class Send:
    """The user sends a message, or another event occurs."""

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
    """The user resends a dropped or withdrawn message. The answer has the id of the new event."""

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
    """The user changes a queued message. `how` is the name of the model's method."""

    how: str
    event: str
    given: tuple[str | None, ...] = ()

    def steps(self, model: QueueModel, observed: Any) -> Steps:
        found = model.messages[self.event]
        yield
        message = model.messages[self.event]
        if message.fate in EDITABLE and (message.mode, message.run) != (found.mode, found.run):
            return "AlreadyDecided"  # its mode was changed meanwhile, so the change is refused
        try:
            getattr(model, self.how)(self.event, *self.given)
        except Refused as refused:
            # If its fate was decided between the read and the change, either refusal is correct.
            return observed if message != found and observed in REFUSALS else str(refused)
        yield OK
        model.start_next(message.slot)
        return OK


@dataclass(frozen=True, slots=True)
class Pull:
    """A run pulls its messages. A pull that is cancelled too late still takes effect."""

    run: str
    limit: int = MAX_ITEMS
    cancelled: str | None = None
    """When the pull is cancelled."""

    def steps(self, model: QueueModel, observed: Any) -> Steps:
        if observed == PULL_NOT_STARTED:
            return observed
        if model.runs[self.run].closing is not None:
            return "refused"
        taken = model.take(self.run, self.limit)
        yield
        if model.runs[self.run].status != "live":
            return observed if observed in ("cancelled", "refused") else "refused"
        # Cancelled by its runner or by the end of its run: in both cases nothing was delivered.
        if observed == "cancelled" or (observed == "refused" and model.runs[self.run].closing is not None):
            model.put_back(taken)
            return observed
        model.inject(taken)
        return observed if observed == REPLY_UNREAD else [[message.event, message.text] for message in taken]


@dataclass(frozen=True, slots=True)
class End:
    """A run ends by itself, or its runner is lost."""

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
    """The user stops a run."""

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
    """Return the model after an order of steps that gives these answers and this snapshot. Fails if there is none.

    If the host `died`, actions without an answer may have been done in part. If the last writes of the host were not
    confirmed (`unwritten`), this also applies to a pull whose reply the runner has received.
    """
    tried: list[str] = []
    for left, answers in _outcomes(model, actions, observed, died=died):
        has_answers = all(
            expected in (answer, NO_ANSWER) or (unwritten and isinstance(action, Pull) and answer == NO_ANSWER)
            for action, answer, expected in zip(actions, answers, observed, strict=True)
        )
        if has_answers and left.snapshot() == snapshot:
            return left
        tried.append(f"{answers} with {left.snapshot().differences(snapshot) or 'the same snapshot'}")
    given = [f"{action} was answered {answer}" for action, answer in zip(actions, observed, strict=True)]
    possible = [f"possible: {each}" for each in dict.fromkeys(tried)]
    raise AssertionError("\n".join(["No order explains this:", *given, *possible]))


def _outcomes(
    model: QueueModel, actions: Sequence[Action], observed: Sequence[Any], *, died: bool
) -> Iterator[tuple[QueueModel, list[Any]]]:
    """Yield the model and the answers after each order of the steps, the order of the actions first."""
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
    """Return the answer to a repeated event: its first run, if it has one."""
    message = model.messages[event]
    run = model.run_of(event)
    return ["repeat", run or ("waits" if message.fate in ("queued", "paused") else "nothing")]
