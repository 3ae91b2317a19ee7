"""Acts that make sense now: each kind picks something that is there to be acted on, or finds nothing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import TypeVar

from tests.support.queue.queue_actions import OK, Act, Cancel, Change, End, Pull, Send, SendAgain
from tests.support.queue.queue_model import EDITABLE, MOST, Message, Run, Slot, World
from tests.support.queue.scripted_engine import WHEN

T = TypeVar("T")
SLOTS: tuple[Slot, ...] = (("a", None), ("a", None), ("a", "thread"), ("b", None))
RUNNERS = ("obeys", "obeys", "obeys", "deaf")
STEERS = frozenset({"obeys"})


class Choosing:
    """Makes acts for one world. A pick is any number; the same pick chooses the same in the same world."""

    def __init__(self) -> None:
        self._names: Iterator[str] = (f"event-{number}" for number in count(1))
        self._words: Iterator[str] = (f"words {number}" for number in count(1))

    def act(self, world: World, kind: str, pick: int) -> Act:
        """Of this kind; where there is nothing to act on, what leads there, or something is said."""
        tried = (kind, PREPARES.get(kind, kind), "send_to_the_run", "send")
        return next(act for each in tried if (act := KINDS[each](self, world, pick)) is not None)

    # Saying

    def send(self, world: World, pick: int) -> Act:
        return self._new(pick, runner=chosen(RUNNERS, pick // 8))

    def send_to_the_run(self, world: World, pick: int) -> Act | None:
        runs = [run for run in world.live() if run.runner in STEERS]
        return self._new(pick, slot=chosen(runs, pick).slot) if runs else None

    def send_for_after(self, world: World, pick: int) -> Act | None:
        runs = world.live()
        return self._new(pick, slot=chosen(runs, pick).slot, after=True) if runs else None

    def send_an_event(self, world: World, pick: int) -> Act:
        return self._new(pick, is_message=False)

    def repeat(self, world: World, pick: int) -> Act | None:
        known = list(world.messages.values())
        return Send((old := chosen(known, pick)).event, old.slot, "other words", old.runner) if known else None

    def send_again(self, world: World, pick: int) -> Act | None:
        lost = [each for each in world.messages.values() if each.fate in ("dropped", "withdrawn")]
        unsent = [each for each in lost if not each.sent_again]
        return SendAgain(chosen(unsent, pick).event) if unsent else None

    def _new(self, pick: int, slot: Slot | None = None, **given: object) -> Send:
        return Send(next(self._names), slot or chosen(SLOTS, pick), next(self._words), **given)  # type: ignore[arg-type]

    # Pulling

    def pull_all(self, world: World, pick: int) -> Act | None:
        runs = _spoken_to(world) or [run for run in world.live() if run.runner in STEERS]
        return Pull(chosen(runs, pick).event) if runs else None

    def pull_one(self, world: World, pick: int) -> Act | None:
        runs = _spoken_to(world)
        return Pull(chosen(runs, pick).event, limit=1) if runs else None

    def cancel_a_pull(self, world: World, pick: int) -> Act | None:
        runs = _spoken_to(world)
        if not runs:
            return None
        return Pull(chosen(runs, pick).event, limit=(1, MOST)[pick // 4 % 2], cancelled=chosen(WHEN, pick // 8))

    # Changing

    def edit(self, world: World, pick: int) -> Act | None:
        found = world.open(*EDITABLE)
        return Change("edit", chosen(found, pick).event, (next(self._words),)) if found else None

    def move(self, world: World, pick: int) -> Act | None:
        found = [each for each in world.open(*EDITABLE) if len(world.order[each.slot[0]]) > 1]
        if not found:
            return None
        moved = chosen(found, pick)
        others = [event for event in world.order[moved.slot[0]] if event != moved.event]
        return Change("move", moved.event, (chosen([*others, None], pick // 16),))

    def hold(self, world: World, pick: int) -> Act | None:
        return _change("hold", world.open("queued"), pick)

    def release(self, world: World, pick: int) -> Act | None:
        return _change("release", world.open("paused"), pick)

    def withdraw(self, world: World, pick: int) -> Act | None:
        return _change("withdraw", world.open(*EDITABLE), pick)

    def keep_for_after(self, world: World, pick: int) -> Act | None:
        return _change("keep_for_after", world.open(*EDITABLE, mode="steer"), pick)

    def offer_to_the_run(self, world: World, pick: int) -> Act | None:
        waiting = [each for each in world.open(*EDITABLE) if each.mode != "steer"]
        return _change("offer_to_the_run", [m for m in waiting if world.can_claim(world.at_work(m.slot), m)], pick)

    def come_too_late(self, world: World, pick: int) -> Act | None:
        """Change what is decided."""
        found = [each for each in world.messages.values() if each.mode is not None and each.fate not in EDITABLE]
        how = chosen(("edit", "move", "hold", "release", "withdraw", "keep_for_after"), pick // 16)
        return _change(how, found, pick, *{"edit": ["too late"], "move": [None]}.get(how, []))

    # Ending

    def complete(self, world: World, pick: int) -> Act | None:
        return End(chosen(world.live(), pick).event, "completed") if world.live() else None

    def fail(self, world: World, pick: int) -> Act | None:
        return End(chosen(world.live(), pick).event, "failed") if world.live() else None

    def cancel(self, world: World, pick: int) -> Act | None:
        return Cancel(chosen(world.live(), pick).event) if world.live() else None


def _spoken_to(world: World) -> list[Run]:
    return [run for run in world.live() if world.claimed(run.event, "queued")]


def _change(how: str, found: Sequence[Message], pick: int, *given: str | None) -> Act | None:
    return Change(how, chosen(found, pick).event, given) if found else None


def chosen(found: Sequence[T], pick: int) -> T:
    return found[pick % len(found)]


KINDS: Mapping[str, Callable[[Choosing, World, int], Act | None]] = {
    name: make for name, make in vars(Choosing).items() if not name.startswith("_") and name != "act"
}
PREPARES: Mapping[str, str] = {"release": "hold", "offer_to_the_run": "keep_for_after", "send_again": "withdraw"}
"""What is done first where there is nothing of the kind."""
SAID = {"claimed": "claim", "waits": "wait for the slot", "began": "begin a run"}
CHANGES = ("edit", "move", "hold", "release", "withdraw", "keep for after", "offer to the run")
ENDS = ("complete", "fail", "cancel a run")
COUNTED = (
    *SAID.values(),
    "repeat",
    "send again",
    "pull all",
    "pull one",
    "cancel a pull",
    *CHANGES,
    *ENDS,
    "come too late",
)
"""What an act can come to."""
MEANT = {"send": "begin a run", "send_to_the_run": "claim", "cancel": "cancel a run"}
MEANT |= dict.fromkeys(("send_for_after", "send_an_event"), "wait for the slot")
"""What a kind of act should come to, where it is not what it is called."""


def meant(kind: str) -> str:
    return MEANT.get(kind, kind.replace("_", " "))


def kind_of(act: Act, answer: object) -> str:
    """What an act came to: only what took effect counts as done."""
    match act:
        case Send():
            return SAID[answer] if isinstance(answer, str) else "repeat"
        case SendAgain() if isinstance(answer, list):
            return "send again"
        case Pull() if isinstance(answer, list):
            return "pull one" if act.limit == 1 else "pull all"
        case Pull() if answer == "cancelled":
            return "cancel a pull"
        case Change() if answer == OK:
            return act.how.replace("_", " ")
        case End():
            return "fail" if act.status == "failed" else "complete"
        case Cancel() if answer == OK:
            return "cancel a run"
    return "come too late"


def without_second_ends(acts: list[Act]) -> list[Act]:
    """A run ends once."""
    ends = {act.run: act for act in acts if isinstance(act, End)}
    return [act for act in acts if not isinstance(act, End) or ends[act.run] is act]
