"""A model of the queue in plain lists, without concurrency. Tests compare it with the engine.

Each method is one change; an action makes several of them (see queue_actions.py). `order` has the messages without a
final fate, `lines` those in the transcript. Messages and runs are named by their event id, because only the engine
knows the other ids.
"""

from collections import Counter
from dataclasses import dataclass, field, replace

Slot = tuple[str, str | None]
BEGAN = "began"
"""The fate of a message that started its run at once."""
OPEN = ("queued", "paused", "pulled")
EDITABLE = ("queued", "paused")
MAX_ITEMS = 100
"""The maximum number of messages that are queued for one run, and that one pull returns."""


class Refused(Exception):
    """The engine must refuse the action with an error of this name."""


@dataclass(frozen=True, slots=True)
class Message:
    """An accepted event, usually a message."""

    event: str
    slot: Slot
    text: str
    runner: str
    is_message: bool = True
    fate: str = BEGAN
    mode: str | None = None
    reason: str | None = None
    run: str | None = None
    """The run that claimed the message."""
    sent_again: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    event: str
    slot: Slot
    runner: str
    status: str = "live"
    closing: str | None = None
    """The final status once it is decided; from then on the run claims nothing."""


@dataclass(slots=True)
class QueueModel:
    """The queue and the runs of all conversations in one database."""

    steerable: frozenset[str] = frozenset()
    """Runners that can be steered."""
    messages: dict[str, Message] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    order: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The messages without a final fate by conversation, in the order of their delivery."""
    lines: dict[Slot, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """Event id and final text of each user line in the transcript."""
    audits: Counter[str] = field(default_factory=Counter)
    """The expected number of rows of each kind in the event log."""

    def copy(self) -> "QueueModel":
        messages, runs, order = self.messages.copy(), self.runs.copy(), self.order.copy()
        return QueueModel(self.steerable, messages, runs, order, self.lines.copy(), self.audits.copy())

    # Queries

    def open(self, *fates: str, mode: str | None = None) -> list[Message]:
        """Return the messages without a final fate."""
        found = (self.messages[event] for order in self.order.values() for event in order)
        return [each for each in found if each.fate in (fates or OPEN) and mode in (None, each.mode)]

    def live(self) -> list[Run]:
        return [run for run in self.runs.values() if run.status == "live"]

    def active_run(self, slot: Slot) -> Run | None:
        return next((run for run in self.live() if run.slot == slot), None)

    def waiting_for_slot(self, slot: Slot) -> list[Message]:
        """Return the messages that wait for the slot, the next one first."""
        return [each for each in self.open("queued") if each.slot == slot and each.mode != "steer"]

    def claimed(self, run: str, *fates: str) -> list[Message]:
        return [each for each in self.open(*fates, mode="steer") if each.run == run]

    def run_of(self, event: str) -> str | None:
        """Return the run of an event: its own, or the one that claimed it."""
        message = self.messages[event]
        return event if message.fate in (BEGAN, "own_run") else message.run if message.mode == "steer" else None

    def can_claim(self, run: Run | None, message: Message) -> bool:
        if run is None or run.closing is not None or not message.is_message:
            return False
        return run.runner == message.runner and run.runner in self.steerable

    def is_full(self, run: Run) -> bool:
        return len(self.claimed(run.event)) >= MAX_ITEMS

    # New events

    def accept(self, message: Message, *, after: bool) -> str:
        """Start a run, queue the event for the active run, or queue it for the slot. Returns which of them."""
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
        """Start the first queued event if the slot is free."""
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
        """Set the final fate of a message and remove it from the order."""
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
        """Return messages of a cancelled pull to the queue; they keep their places in the order."""
        for message in taken:
            self.messages[message.event] = replace(message, fate="queued")
            lines = self.lines[message.slot]
            self.lines[message.slot] = tuple(line for line in lines if line[0] != message.event)
            self.audits["returned"] += 1

    # Changes by the user

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
        """Set the final status of a run. The first one stands."""
        known = self.runs[run]
        if known.closing is None:
            self.runs[run] = replace(known, closing=status)

    def finish(self, run: str, reason: str | None = None) -> None:
        """End a run and drop the messages that are still queued for it, in order."""
        known = self.runs[run]
        if known.status != "live":
            return
        status = known.closing or "failed"
        for message in self.claimed(run):
            self._add_line(self._close(message, "dropped", reason or status))
        self.runs[run] = replace(known, status=status)

    def recover(self) -> None:
        """Close the runs and drop the messages of a host that died, as the next host does."""
        for run in self.live():
            self.runs[run.event] = replace(run, closing="failed")
            self.finish(run.event, "host_restarted")
        self._drop_all("host_restarted")

    def close(self) -> None:
        """Cancel all runs and drop all messages, as a host does when it is closed."""
        for run in self.live():
            self.decide_end(run.event, "cancelled")
            self.finish(run.event)
        self._drop_all("host_closed")

    def _drop_all(self, reason: str) -> None:
        for message in self.open():
            self._add_line(self._close(message, "dropped", reason))

    # Comparison

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
    """The state of the queue in a form that the model and the database have in common."""

    fates: dict[str, tuple[str, str | None]]
    texts: dict[str, str]
    claims: dict[str, str | None]
    """The run that claimed the message, or the mode in which it waits."""
    sent_again: frozenset[str]
    order: dict[str, tuple[str, ...]]
    lines: dict[Slot, tuple[tuple[str, str], ...]]
    runs: dict[str, str]
    audits: dict[str, int]

    def differences(self, other: "QueueSnapshot") -> str:
        """Describe the differences for the error message of a test."""
        found: list[str] = []
        for name in self.__slots__:
            one, two = getattr(self, name), getattr(other, name)
            if isinstance(one, dict):
                keys = [key for key in {**one, **two} if one.get(key) != two.get(key)]
                found += [f"{name} of {key}: {one.get(key)}, not {two.get(key)}" for key in keys]
            elif one != two:
                found.append(f"{name}: {one}, not {two}")
        return "; ".join(found)
