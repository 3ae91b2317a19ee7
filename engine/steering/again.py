"""What was dropped or withdrawn is said again as a new message: behind the others, or as it waited before."""

from dataclasses import dataclass

from engine.facts import queue
from engine.facts.errors import AlreadyDecided
from engine.facts.queue import Fate, QueueItem


@dataclass(frozen=True, slots=True)
class Again:
    """The item that a message says again, and how that message begins to wait, if it has to."""

    item_id: str
    place: int = 0
    """Where it stands among those that wait; 0 = behind them."""
    fate: Fate = Fate.QUEUED


def as_it_waited(item: QueueItem) -> Again:
    """A withdrawal is undone: in its old place, and kept back if it was."""
    if item.fate != Fate.WITHDRAWN:
        raise AlreadyDecided(f"message {item.item_id} is {item.fate}; only one that was withdrawn is restored.")
    return Again(item.item_id, item.place, Fate.HELD if queue.WAS_HELD in item.metadata else Fate.QUEUED)
