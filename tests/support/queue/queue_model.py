"""What steering should do, in plain lists: one message after the other, nothing at the same time.

A change is a small method; several of them make an act (see acts.py). What is open is in `order`, what was said in
`lines`. Messages and runs go by the id of their event, since only the engine knows the ids that it gives.
"""

from collections import Counter
from dataclasses import dataclass, field, replace

Slot = tuple[str, str | None]
BEGAN = "began"
"""The fate of a message that never had to wait."""
OPEN = ("queued", "paused", "pulled")
EDITABLE = ("queued", "paused")
MAX_ITEMS = 100
"""Messages that may wait in one run, and that one pull gives."""


class Refused(Exception):
    """The engine has to refuse this, with an error of this name."""


@dataclass(frozen=True, slots=True)
class Message:
    """Something that came in: a message or another event."""

    event: str
    slot: Slot
    text: str
    runner: str
    is_message: bool = True
    fate: str = BEGAN
    mode: str | None = None
    reason: str | None = None
    run: str | None = None
    """The run that has claimed it."""
    sent_again: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    event: str
    slot: Slot
    runner: str
    status: str = "live"
    closing: str | None = None
    """How it will end, once that is sure: from here on it claims nothing."""


@dataclass(slots=True)
class QueueModel:
    """All conversations of one database."""

    steerable: frozenset[str] = frozenset()
    """Runners that can be steered."""
    messages: dict[str, Message] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    order: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By conversation, the messages whose fate is open, as they will be said."""
    lines: dict[Slot, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """What a person has said, with the words that count."""
    audits: Counter[str] = field(default_factory=Counter)
    """How many audits of each kind there must be."""

    def copy(self) -> "QueueModel":
        messages, runs, order = self.messages.copy(), self.runs.copy(), self.order.copy()
        return QueueModel(self.steerable, messages, runs, order, self.lines.copy(), self.audits.copy())

    # Looking

    def open(self, *fates: str, mode: str | None = None) -> list[Message]:
        """Messages whose fate is open."""
        found = (self.messages[event] for order in self.order.values() for event in order)
        return [each for each in found if each.fate in (fates or OPEN) and mode in (None, each.mode)]

    def live(self) -> list[Run]:
        return [run for run in self.runs.values() if run.status == "live"]

    def active_run(self, slot: Slot) -> Run | None:
        return next((run for run in self.live() if run.slot == slot), None)

    def waiting_for_slot(self, slot: Slot) -> list[Message]:
        """Those that wait for the slot, the next one first."""
        return [each for each in self.open("queued") if each.slot == slot and each.mode != "steer"]

    def claimed(self, run: str, *fates: str) -> list[Message]:
        return [each for each in self.open(*fates, mode="steer") if each.run == run]

    def run_of(self, event: str) -> str | None:
        """The run that an event got: its own, or the one that claimed it."""
        message = self.messages[event]
        return event if message.fate in (BEGAN, "own_run") else message.run if message.mode == "steer" else None

    def can_claim(self, run: Run | None, message: Message) -> bool:
        if run is None or run.closing is not None or not message.is_message:
            return False
        return run.runner == message.runner and run.runner in self.steerable

    def is_full(self, run: Run) -> bool:
        return len(self.claimed(run.event)) >= MAX_ITEMS

    # Coming in

    def accept(self, message: Message, *, after: bool) -> str:
        """Begin a run, go into the one at work, or wait; says which."""
        run = self.active_run(message.slot)
        if run is not None and not after and self.can_claim(run, message) and not self.is_full(run):
            self._enqueue(replace(message, mode="steer", run=run.event))
            return "claimed"
        if run is not None or self.waiting_for_slot(message.slot):
            self._enqueue(replace(message, mode="after" if after else "slot"))
            return "waits"
        self._begin(message)
        return "began"

    def start_next(self, slot: Slot) -> None:
        """A free slot goes to the first that waits for it."""
        waiting = self.waiting_for_slot(slot)
        if waiting and self.active_run(slot) is None:
            self._begin(self._close(waiting[0], "own_run"))

    def _enqueue(self, message: Message) -> None:
        self.messages[message.event] = replace(message, fate="queued")
        conversation = message.slot[0]
        self.order[conversation] = (*self.order.get(conversation, ()), message.event)

    def _begin(self, message: Message) -> None:
        self.messages[message.event] = message
        self.runs[message.event] = Run(message.event, message.slot, message.runner)
        self._add_line(message)

    def _add_line(self, message: Message) -> None:
        lines = self.lines.get(message.slot, ())
        if message.is_message and message.event not in (event for event, _ in lines):
            self.lines[message.slot] = (*lines, (message.event, message.text))

    def _close(self, message: Message, fate: str, reason: str | None = None) -> Message:
        """Its fate is decided; it waits no more."""
        conversation = message.slot[0]
        self.order[conversation] = tuple(each for each in self.order[conversation] if each != message.event)
        closed = self.messages[message.event] = replace(message, fate=fate, reason=reason)
        self.audits[fate] += 1
        return closed

    # Pulls

    def take(self, run: str, limit: int) -> list[Message]:
        taken = self.claimed(run, "queued")[:limit]
        for message in taken:
            self.messages[message.event] = replace(message, fate="pulled")
            self._add_line(message)
        return taken

    def inject(self, taken: list[Message]) -> None:
        for message in taken:
            self._close(message, "injected")

    def put_back(self, taken: list[Message]) -> None:
        """Never said after all; their places in the order are as they were."""
        for message in taken:
            self.messages[message.event] = replace(message, fate="queued")
            lines = self.lines[message.slot]
            self.lines[message.slot] = tuple(line for line in lines if line[0] != message.event)
            self.audits["returned"] += 1

    # A person's changes

    def edit(self, event: str, text: str) -> None:
        self.messages[event] = replace(self._editable(event), text=text)
        self.audits["edited"] += 1

    def move(self, event: str, before: str | None) -> None:
        conversation = self._editable(event).slot[0]
        others = [each for each in self.order[conversation] if each != event]
        if before is not None and before not in others:
            raise Refused("NotFound")
        index = len(others) if before is None else others.index(before)
        self.order[conversation] = (*others[:index], event, *others[index:])
        self.audits["moved"] += 1

    def pause(self, event: str) -> None:
        self._turn(event, "queued", "paused")
        self.audits["paused"] += 1

    def resume(self, event: str) -> None:
        self._turn(event, "paused", "queued")
        self.audits["resumed"] += 1

    def withdraw(self, event: str) -> None:
        self._close(self._editable(event), "withdrawn")

    def set_after(self, event: str) -> None:
        if self.messages[event].mode == "steer":
            self.messages[event] = replace(self._editable(event), mode="after")
            self.audits["turned"] += 1

    def set_steer(self, event: str) -> None:
        message = self.messages[event]
        if message.mode == "steer":
            return
        run = self.active_run(message.slot)
        if message.fate not in EDITABLE or run is None or not self.can_claim(run, message):
            raise Refused("CannotSteer")
        if self.is_full(run):
            raise Refused("QueueFull")
        self.messages[event] = replace(message, mode="steer", run=run.event)
        self.audits["turned"] += 1

    def mark_sent_again(self, event: str) -> Message:
        message = self.messages[event]
        if message.fate not in ("dropped", "withdrawn") or message.sent_again:
            raise Refused("AlreadyDecided")
        self.messages[event] = replace(message, sent_again=True)
        return message

    def _editable(self, event: str) -> Message:
        message = self.messages[event]
        if message.fate not in EDITABLE:
            raise Refused("AlreadyDecided")
        return message

    def _turn(self, event: str, before: str, after: str) -> None:
        message = self._editable(event)
        if message.fate != before:
            raise Refused("AlreadyDecided")
        self.messages[event] = replace(message, fate=after)

    # Ends

    def decide_end(self, run: str, status: str) -> None:
        """The first that says how a run ends is right."""
        known = self.runs[run]
        if known.closing is None:
            self.runs[run] = replace(known, closing=status)

    def finish(self, run: str, reason: str | None = None) -> None:
        """What still waits in it is dropped, in its order."""
        known = self.runs[run]
        if known.status != "live":
            return
        status = known.closing or "failed"
        for message in self.claimed(run):
            self._add_line(self._close(message, "dropped", reason or status))
        self.runs[run] = replace(known, status=status)

    def recover(self) -> None:
        """The host died: the next one closes all that it left."""
        for run in self.live():
            self.runs[run.event] = replace(run, closing="failed")
            self.finish(run.event, "host_restarted")
        self._drop_all("host_restarted")

    def close(self) -> None:
        """The host was closed as it should be."""
        for run in self.live():
            self.decide_end(run.event, "cancelled")
            self.finish(run.event)
        self._drop_all("host_closed")

    def _drop_all(self, reason: str) -> None:
        for message in self.open():
            self._add_line(self._close(message, "dropped", reason))

    # What can be seen of it

    def snapshot(self) -> "QueueSnapshot":
        queued = [each for each in self.messages.values() if each.mode is not None]
        return QueueSnapshot(
            fates={each.event: (each.fate, each.reason) for each in queued},
            texts={each.event: each.text for each in queued},
            claims={each.event: each.run if each.mode == "steer" else each.mode for each in queued},
            sent_again=frozenset(each.event for each in queued if each.sent_again),
            order={conversation: order for conversation, order in self.order.items() if order},
            lines={slot: lines for slot, lines in self.lines.items() if lines},
            runs={run.event: run.status for run in self.runs.values()},
            audits={kind: times for kind, times in self.audits.items() if kind != "own_run"},
        )


@dataclass(frozen=True, slots=True)
class QueueSnapshot:
    """The same of the world and of the database, to be compared."""

    fates: dict[str, tuple[str, str | None]]
    texts: dict[str, str]
    claims: dict[str, str | None]
    """The run that has it, or what else it waits for."""
    sent_again: frozenset[str]
    order: dict[str, tuple[str, ...]]
    lines: dict[Slot, tuple[tuple[str, str], ...]]
    runs: dict[str, str]
    audits: dict[str, int]

    def differences(self, other: "QueueSnapshot") -> str:
        """What is not the same, for a person."""
        found: list[str] = []
        for name in self.__slots__:
            one, two = getattr(self, name), getattr(other, name)
            if isinstance(one, dict):
                keys = [key for key in {**one, **two} if one.get(key) != two.get(key)]
                found += [f"{name} of {key}: {one.get(key)}, not {two.get(key)}" for key in keys]
            elif one != two:
                found.append(f"{name}: {one}, not {two}")
        return "; ".join(found)
