"""What waits to be said: messages for a working run or for the next free slot, in their order."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Connection, func, insert, select, update

from engine.facts.errors import AlreadyDecided, NotFound
from engine.facts.rows import every, first, values
from engine.facts.tables import queue


class Fate(StrEnum):
    """Where a queued item stands. The last four are final."""

    QUEUED = "queued"
    HELD = "held"
    PULLED = "pulled"
    INJECTED = "injected"
    DROPPED = "dropped"
    WITHDRAWN = "withdrawn"
    OWN_RUN = "own_run"


NEXT: Final[Mapping[Fate, frozenset[Fate]]] = {
    Fate.QUEUED: frozenset({Fate.HELD, Fate.PULLED, Fate.DROPPED, Fate.WITHDRAWN, Fate.OWN_RUN}),
    Fate.HELD: frozenset({Fate.QUEUED, Fate.DROPPED, Fate.WITHDRAWN}),
    # A pull that is cancelled before it reached the runner puts its items back in place.
    Fate.PULLED: frozenset({Fate.QUEUED, Fate.INJECTED, Fate.DROPPED}),
}
FINAL: Final = frozenset(Fate) - NEXT.keys()


class Mode(StrEnum):
    """What an item waits for."""

    STEER = "steer"
    AFTER = "after"
    SLOT = "slot"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueItem:
    """A message that waits, with the envelope it came in."""

    item_id: str
    event_id: str
    mode: str
    created_at: int
    envelope: Mapping[str, Any]
    place: int = 0
    """Its place in the conversation's queue; 0 = behind all others."""
    fate: str = Fate.QUEUED
    reason: str | None = None
    conversation_id: str | None = None
    thread_id: str | None = None
    bot_id: str | None = None
    workspace_id: str | None = None
    runner_id: str | None = None
    run_id: str | None = None
    """The run that claimed it."""
    own_run_id: str | None = None
    host: str | None = None
    text: str | None = None
    pulled_at: int | None = None
    pulled_position: int | None = None
    injected_at: int | None = None
    decided_at: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


def advance(item: QueueItem, to: Fate, *, reason: str | None = None) -> QueueItem:
    """The item in its next state; what was decided once is never decided again."""
    if to not in NEXT.get(Fate(item.fate), frozenset()):
        raise AlreadyDecided(f"message {item.item_id} is {item.fate}; it cannot become {to}.")
    return replace(item, fate=to, reason=reason)


def add(conn: Connection, item: QueueItem) -> QueueItem:
    """Put an item in the queue, behind all others of its conversation unless it has a place."""
    if not item.place:
        last = select(func.max(queue.c.place)).where(queue.c.conversation_id.is_not_distinct_from(item.conversation_id))
        item = replace(item, place=(conn.execute(last).scalar() or 0) + 1)
    conn.execute(insert(queue).values(values(item)))
    return item


def get(conn: Connection, item_id: str) -> QueueItem:
    item = first(conn, select(queue).where(queue.c.item_id == item_id), QueueItem)
    if item is None:
        raise NotFound(f"no message {item_id} in the queue.")
    return item


def pull(conn: Connection, run_id: str, *, limit: int, at: int) -> list[QueueItem]:
    """Take the first messages that a run has claimed, in their order; taken is decided."""
    query = select(queue).where(queue.c.run_id == run_id, queue.c.fate == Fate.QUEUED, queue.c.mode == Mode.STEER)
    found = every(conn, query.order_by(queue.c.place, queue.c.item_id).limit(limit), QueueItem)
    return [_pulled(conn, item, at) for item in found]


def _pulled(conn: Connection, item: QueueItem, at: int) -> QueueItem:
    item = replace(advance(item, Fate.PULLED), pulled_at=at)
    conn.execute(update(queue).where(queue.c.item_id == item.item_id).values(fate=item.fate, pulled_at=at))
    return item


def next_for(conn: Connection, conversation_id: str | None, thread_id: str | None) -> QueueItem | None:
    """The first message that waits for this slot; one that a run has claimed does not."""
    query = select(queue).where(
        queue.c.conversation_id.is_not_distinct_from(conversation_id),
        queue.c.thread_id.is_not_distinct_from(thread_id),
        queue.c.fate == Fate.QUEUED,
        queue.c.mode.in_((Mode.AFTER, Mode.SLOT)),
    )
    return first(conn, query.order_by(queue.c.place, queue.c.item_id), QueueItem)


def waiting(
    conn: Connection,
    *,
    host: str | None = None,
    conversation_id: str | None = None,
    run_id: str | None = None,
) -> list[QueueItem]:
    """Items whose fate is open, in their order."""
    query = select(queue).where(queue.c.fate.in_(tuple(NEXT)))
    for column, wanted in (
        (queue.c.host, host),
        (queue.c.conversation_id, conversation_id),
        (queue.c.run_id, run_id),
    ):
        if wanted is not None:
            query = query.where(column == wanted)
    return every(conn, query.order_by(queue.c.conversation_id, queue.c.place, queue.c.item_id), QueueItem)


def decide(
    conn: Connection, item_id: str, to: Fate, *, at: int, reason: str | None = None, own_run_id: str | None = None
) -> QueueItem:
    """Move an item on; raises AlreadyDecided where it stands at its end or cannot go there."""
    item = advance(get(conn, item_id), to, reason=reason)
    if own_run_id is not None:
        item = replace(item, own_run_id=own_run_id)
    if to in FINAL:
        item = replace(item, decided_at=at)
    conn.execute(update(queue).where(queue.c.item_id == item_id).values(values(item, without="item_id")))
    return item
