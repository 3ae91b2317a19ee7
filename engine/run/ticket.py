"""What the sender of an event holds while it waits for its run."""

import asyncio
from dataclasses import dataclass

from engine.run.order import RunOrder


@dataclass(slots=True)
class Ticket:
    """Which run an event became, or which one took it in; now, or when its turn comes."""

    event_id: str
    started: asyncio.Future[str]
    """The run id; fails if the run could not be made, and is cancelled if the event is withdrawn."""
    is_repeat: bool = False
    """The event id was seen before; the run is its first one."""
    item_id: str | None = None
    """Its item in the queue, if it did not start at once."""
    claimed_by: str | None = None
    """The run at work that took it in."""
    waits_for: str | None = None
    """The run that has the slot, while this event waits."""
    why: str | None = None
    """Why the run at work did not take it in."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """An event that may still become a run of its own."""

    order: RunOrder
    ticket: Ticket
