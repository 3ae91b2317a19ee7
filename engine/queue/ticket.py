"""What the sender of an event gets back, and what the queue keeps of an event that has no run yet."""

import asyncio
from dataclasses import dataclass

from engine.run.run_order import RunOrder


@dataclass(slots=True)
class Ticket:
    """Tells the sender of an event which run the event started or joined, now or when its turn comes."""

    event_id: str
    started: asyncio.Future[str]
    """The run id. Fails if the run cannot be created or the session is deleted; cancelled if the event is withdrawn."""
    is_repeat: bool = False
    """The event id was seen before; the run is that of the first event."""
    item_id: str | None = None
    """The item in the queue, if no run started at once."""
    claimed_by: str | None = None
    """The run in progress that claimed the message."""
    waits_for: str | None = None
    """The run that occupies the slot while this event waits."""
    not_claimed_reason: str | None = None
    """Why the run in progress did not claim the message."""


@dataclass(frozen=True, slots=True)
class PendingEvent:
    """An event that may still become a run of its own."""

    order: RunOrder
    ticket: Ticket
