"""Messages of this host that something else decided: their session was deleted, or another process dropped them."""

from engine.events import DropReason, Fate
from engine.queue.ticket import PendingEvent
from engine.store import queue
from engine.store.database import Database
from engine.store.errors import AlreadyDecided, SessionDeleted, StoreError


async def fail_decided_elsewhere(pending: dict[str, PendingEvent], database: Database) -> None:
    """Remove the pending events whose items were dropped or deleted in the database, and fail their tickets.

    Costs one indexed read of the pending items, and nothing if there are none.
    """
    # Chosen before the read: an event that is queued during the read is not in its snapshot. An event without an item
    # id is not queued yet.
    waiting = [item_id for item_id, event in pending.items() if event.ticket.item_id is not None]
    if not waiting:
        return
    fates = await database.fetch(queue.fates_query(waiting))
    for item_id in waiting:
        fate, reason = fates.get(item_id, (None, None))
        # With any other fate this host has decided, and is about to tell the sender itself.
        if fate in (None, Fate.DROPPED) and (event := pending.pop(item_id, None)) is not None:
            _fail(event, _error(event, item_id, fate, reason))


def _error(event: PendingEvent, item_id: str, fate: Fate | None, reason: str | None) -> StoreError:
    if fate is None or reason == DropReason.SESSION_DELETED:
        session_id = event.order.envelope.conversation_id
        return SessionDeleted(f"Session {session_id} was deleted, so its queued message was dropped.")
    return AlreadyDecided(f"Message {item_id} was dropped by another process ({reason}).")


def _fail(event: PendingEvent, error: StoreError) -> None:
    started = event.ticket.started
    if not started.done():
        started.set_exception(error)
        started.exception()  # marks it as seen: a sender that no longer waits is no error
