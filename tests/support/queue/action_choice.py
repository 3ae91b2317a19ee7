"""Chooses actions that are possible in the current state of the model."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import TypeVar

from tests.support.queue.queue_actions import OK, Action, Cancel, Change, End, Pull, Send, SendAgain
from tests.support.queue.queue_model import EDITABLE, MAX_ITEMS, Message, QueueModel, Run, Slot
from tests.support.queue.scripted_engine import CANCEL_TIMES

T = TypeVar("T")
SLOTS: tuple[Slot, ...] = (("a", None), ("a", None), ("a", "thread"), ("b", None))
RUNNERS = ("obeys", "obeys", "obeys", "deaf")
STEERABLE = frozenset({"obeys"})


class ActionChooser:
    """Makes actions for one model. A pick is any number; equal picks in equal models give equal actions."""

    def __init__(self) -> None:
        self._names: Iterator[str] = (f"event-{number}" for number in count(1))
        self._words: Iterator[str] = (f"words {number}" for number in count(1))

    def choose(self, model: QueueModel, kind: str, pick: int) -> Action:
        """Return an action of this kind. If none is possible, return one that prepares it, or send a message."""
        tried = (kind, PREPARATION.get(kind, kind), "send_to_the_run", "send")
        return next(action for each in tried if (action := KINDS[each](self, model, pick)) is not None)

    # Sending

    def send(self, model: QueueModel, pick: int) -> Action:
        return self._new(pick, runner=chosen(RUNNERS, pick // 8))

    def send_to_the_run(self, model: QueueModel, pick: int) -> Action | None:
        runs = [run for run in model.live() if run.runner in STEERABLE]
        return self._new(pick, slot=chosen(runs, pick).slot) if runs else None

    def send_for_after(self, model: QueueModel, pick: int) -> Action | None:
        runs = model.live()
        return self._new(pick, slot=chosen(runs, pick).slot, after=True) if runs else None

    def send_an_event(self, model: QueueModel, pick: int) -> Action:
        return self._new(pick, is_message=False)

    def repeat(self, model: QueueModel, pick: int) -> Action | None:
        known = list(model.messages.values())
        return Send((old := chosen(known, pick)).event, old.slot, "other words", old.runner) if known else None

    def send_again(self, model: QueueModel, pick: int) -> Action | None:
        lost = [each for each in model.messages.values() if each.fate in ("dropped", "withdrawn")]
        unsent = [each for each in lost if not each.sent_again]
        return SendAgain(chosen(unsent, pick).event) if unsent else None

    def _new(self, pick: int, slot: Slot | None = None, **given: object) -> Send:
        return Send(next(self._names), slot or chosen(SLOTS, pick), next(self._words), **given)  # type: ignore[arg-type]

    # Pulling

    def pull_all(self, model: QueueModel, pick: int) -> Action | None:
        runs = _runs_with_queued_messages(model) or [run for run in model.live() if run.runner in STEERABLE]
        return Pull(chosen(runs, pick).event) if runs else None

    def pull_one(self, model: QueueModel, pick: int) -> Action | None:
        runs = _runs_with_queued_messages(model)
        return Pull(chosen(runs, pick).event, limit=1) if runs else None

    def cancel_a_pull(self, model: QueueModel, pick: int) -> Action | None:
        runs = _runs_with_queued_messages(model)
        if not runs:
            return None
        return Pull(
            chosen(runs, pick).event, limit=(1, MAX_ITEMS)[pick // 4 % 2], cancelled=chosen(CANCEL_TIMES, pick // 8)
        )

    # Changing

    def edit(self, model: QueueModel, pick: int) -> Action | None:
        found = model.open(*EDITABLE)
        return Change("edit", chosen(found, pick).event, (next(self._words),)) if found else None

    def move(self, model: QueueModel, pick: int) -> Action | None:
        found = [each for each in model.open(*EDITABLE) if len(model.order[each.slot[0]]) > 1]
        if not found:
            return None
        moved = chosen(found, pick)
        others = [event for event in model.order[moved.slot[0]] if event != moved.event]
        return Change("move", moved.event, (chosen([*others, None], pick // 16),))

    def pause(self, model: QueueModel, pick: int) -> Action | None:
        return _change("pause", model.open("queued"), pick)

    def resume(self, model: QueueModel, pick: int) -> Action | None:
        return _change("resume", model.open("paused"), pick)

    def withdraw(self, model: QueueModel, pick: int) -> Action | None:
        return _change("withdraw", model.open(*EDITABLE), pick)

    def set_after(self, model: QueueModel, pick: int) -> Action | None:
        return _change("set_after", model.open(*EDITABLE, mode="steer"), pick)

    def set_steer(self, model: QueueModel, pick: int) -> Action | None:
        waiting = [each for each in model.open(*EDITABLE) if each.mode != "steer"]
        return _change("set_steer", [m for m in waiting if model.can_claim(model.active_run(m.slot), m)], pick)

    def change_too_late(self, model: QueueModel, pick: int) -> Action | None:
        """Change a message whose fate is decided."""
        found = [each for each in model.messages.values() if each.mode is not None and each.fate not in EDITABLE]
        how = chosen(("edit", "move", "pause", "resume", "withdraw", "set_after"), pick // 16)
        return _change(how, found, pick, *{"edit": ["too late"], "move": [None]}.get(how, []))

    # Ending

    def complete(self, model: QueueModel, pick: int) -> Action | None:
        return End(chosen(model.live(), pick).event, "completed") if model.live() else None

    def fail(self, model: QueueModel, pick: int) -> Action | None:
        return End(chosen(model.live(), pick).event, "failed") if model.live() else None

    def cancel(self, model: QueueModel, pick: int) -> Action | None:
        return Cancel(chosen(model.live(), pick).event) if model.live() else None


def _runs_with_queued_messages(model: QueueModel) -> list[Run]:
    return [run for run in model.live() if model.claimed(run.event, "queued")]


def _change(how: str, found: Sequence[Message], pick: int, *given: str | None) -> Action | None:
    return Change(how, chosen(found, pick).event, given) if found else None


def chosen(found: Sequence[T], pick: int) -> T:
    return found[pick % len(found)]


KINDS: Mapping[str, Callable[[ActionChooser, QueueModel, int], Action | None]] = {
    name: make for name, make in vars(ActionChooser).items() if not name.startswith("_") and name != "choose"
}
PREPARATION: Mapping[str, str] = {"resume": "pause", "set_steer": "set_after", "send_again": "withdraw"}
"""The kind of action that makes another kind possible."""
SEND_OUTCOMES = {"claimed": "claim", "waits": "wait for the slot", "began": "begin a run"}
CHANGES = ("edit", "move", "pause", "resume", "withdraw", "set after", "set steer")
ENDS = ("complete", "fail", "cancel a run")
OUTCOMES = (
    *SEND_OUTCOMES.values(),
    "repeat",
    "send again",
    "pull all",
    "pull one",
    "cancel a pull",
    *CHANGES,
    *ENDS,
    "change too late",
)
"""All outcomes that tests count."""
EXPECTED_OUTCOMES = {"send": "begin a run", "send_to_the_run": "claim", "cancel": "cancel a run"}
EXPECTED_OUTCOMES |= dict.fromkeys(("send_for_after", "send_an_event"), "wait for the slot")
"""The expected outcome of a kind of action, if its name differs."""


def expected_outcome(kind: str) -> str:
    return EXPECTED_OUTCOMES.get(kind, kind.replace("_", " "))


def outcome_of(action: Action, answer: object) -> str:
    """Return the outcome of an action. Only an action that took effect counts as done."""
    match action:
        case Send():
            return SEND_OUTCOMES[answer] if isinstance(answer, str) else "repeat"
        case SendAgain() if isinstance(answer, list):
            return "send again"
        case Pull() if isinstance(answer, list):
            return "pull one" if action.limit == 1 else "pull all"
        case Pull() if answer == "cancelled":
            return "cancel a pull"
        case Change() if answer == OK:
            return action.how.replace("_", " ")
        case End():
            return "fail" if action.status == "failed" else "complete"
        case Cancel() if answer == OK:
            return "cancel a run"
    return "change too late"


def without_second_ends(actions: list[Action]) -> list[Action]:
    """Remove actions that would end a run a second time."""
    ends = {action.run: action for action in actions if isinstance(action, End)}
    return [action for action in actions if not isinstance(action, End) or ends[action.run] is action]
