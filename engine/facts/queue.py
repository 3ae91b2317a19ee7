"""What waits to be said: messages for a working run or for the next free slot, in their order."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Connection, Integer, Select, and_, bindparam, func, insert, or_, select

from engine.facts.errors import AlreadyDecided, NotFound
from engine.facts.rows import driver_of, every, first, one, saving, values
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
EDITABLE: Final = frozenset({Fate.QUEUED, Fate.HELD})
"""While it stands here a person may still change it."""
SENT_AGAIN: Final = "sent_again_as"
"""In the metadata of an item: the event that says it again."""
DISMISSED: Final = "dismissed_at"
"""In the metadata of an item that was dropped: when a person had no more use for it."""
WAS_HELD: Final = "was_held"
"""In the metadata of an item that was withdrawn: it was kept back before."""
AGENT: Final = "agent_id"
"""In the metadata of an item: the agent that it was for."""
COVERED: Final = "covered"
"""In the metadata of an item that holds a secret: its input as it may be recorded."""


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
    """The run that was at work when it came; in mode steer, the one that has claimed it."""
    own_run_id: str | None = None
    host: str | None = None
    text: str | None = None
    """What will be said: the envelope's text, until a person edits it."""
    pulled_at: int | None = None
    pulled_position: int | None = None
    injected_at: int | None = None
    decided_at: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


_OPEN: Final = tuple(NEXT)
# Built once: a message goes through most of these on its way into a run, and building one takes longer than asking.
# The conversation comes first: its index leads to what is open and past all that was ever said in it.
_HERE: Final = queue.c.conversation_id.is_not_distinct_from(bindparam("conversation"))
_CLAIMED_BY: Final = and_(queue.c.run_id == bindparam("run"), queue.c.mode == Mode.STEER)
_ORDER: Final = (queue.c.place, queue.c.item_id)
_ADD: Final = insert(queue)
_GET: Final = select(queue).where(queue.c.item_id == bindparam("item_id"))
_SAVE: Final = saving(queue, "item_id")
_CLAIMED: Final = select(queue).where(_HERE, queue.c.fate.in_(_OPEN), _CLAIMED_BY).order_by(*_ORDER)
_PULLABLE: Final = (
    select(queue)
    .where(_HERE, queue.c.fate == Fate.QUEUED, _CLAIMED_BY)
    .order_by(*_ORDER)
    .limit(bindparam("most", type_=Integer))
)
_OPEN_WORDS: Final = ", ".join(f"'{fate}'" for fate in _OPEN)
_LAST_PLACE: Final = f"SELECT max(place) FROM queue WHERE conversation_id IS ? AND fate IN ({_OPEN_WORDS})"  # noqa: S608
_COUNT_CLAIMED: Final = (
    f"SELECT count(*) FROM queue WHERE conversation_id IS ? AND fate IN ({_OPEN_WORDS})"  # noqa: S608
    f" AND run_id = ? AND mode = '{Mode.STEER}'"
)


def advance(item: QueueItem, to: Fate, *, reason: str | None = None) -> QueueItem:
    """The item in its next state; what was decided once is never decided again."""
    if to not in NEXT.get(Fate(item.fate), frozenset()):
        raise AlreadyDecided(f"message {item.item_id} is {_told(item)}; it cannot become {to}.")
    return replace(item, fate=to, reason=reason)


def add(conn: Connection, item: QueueItem) -> QueueItem:
    """Put an item in the queue, behind all that wait in its conversation, or before those from its place on."""
    last = driver_of(conn).execute(_LAST_PLACE, (item.conversation_id,)).fetchone()[0] or 0
    added = replace(item, place=last + 1)
    conn.execute(_ADD, values(added))
    if not 0 < item.place <= last:
        return added
    others = waiting(conn, conversation_id=item.conversation_id)
    return move(conn, item.item_id, next(other.item_id for other in others if other.place >= item.place))


def get(conn: Connection, item_id: str) -> QueueItem:
    item = one(conn, _GET, QueueItem, {"item_id": item_id})
    if item is None:
        raise NotFound(f"no message {item_id} in the queue.")
    return item


def editable(conn: Connection, item_id: str) -> QueueItem:
    """An item that a person may still change; raises AlreadyDecided where a run or the host was first."""
    item = get(conn, item_id)
    if item.fate not in EDITABLE:
        raise AlreadyDecided(f"message {item_id} is {_told(item)}; it can no longer be changed.")
    return item


def save(conn: Connection, item: QueueItem) -> QueueItem:
    """Write an item as it stands now."""
    conn.execute(_SAVE, values(item, without="item_id") | {"its_key": item.item_id})
    return item


def decide(
    conn: Connection, item_id: str, to: Fate, *, at: int, reason: str | None = None, own_run_id: str | None = None
) -> QueueItem:
    """Move an item on; raises AlreadyDecided where it stands at its end or cannot go there."""
    item = advance(get(conn, item_id), to, reason=reason)
    if own_run_id is not None:
        item = replace(item, own_run_id=own_run_id)
    if to is Fate.INJECTED:
        item = replace(item, injected_at=at)
    if to in FINAL:
        item = replace(item, decided_at=at)
    return save(conn, item)


# For a run


def claimed(conn: Connection, run_id: str, conversation_id: str | None) -> list[QueueItem]:
    """What a run has claimed and whose fate is open, in order."""
    return every(conn, _CLAIMED, QueueItem, {"run": run_id, "conversation": conversation_id})


def count_claimed(conn: Connection, run_id: str, conversation_id: str | None) -> int:
    return driver_of(conn).execute(_COUNT_CLAIMED, (conversation_id, run_id)).fetchone()[0]


def pullable(conn: Connection, run_id: str, conversation_id: str | None, *, limit: int) -> list[QueueItem]:
    """The first messages that a run has claimed and may take, in their order."""
    given = {"run": run_id, "conversation": conversation_id, "most": limit}
    return every(conn, _PULLABLE, QueueItem, given)


def pull(conn: Connection, item: QueueItem, *, at: int, position: int) -> QueueItem:
    """Take one; taken is decided."""
    return save(conn, replace(advance(item, Fate.PULLED), pulled_at=at, pulled_position=position))


def put_back(conn: Connection, item_id: str) -> QueueItem:
    """A pull never reached the runner: its item waits again, in its old place."""
    item = advance(get(conn, item_id), Fate.QUEUED)
    return save(conn, replace(item, pulled_at=None, pulled_position=None))


def of_run(conn: Connection, run_id: str) -> list[QueueItem]:
    """All that was said while a run worked, whatever became of it, as it came."""
    query = select(queue).where(queue.c.run_id == run_id)
    return every(conn, query.order_by(queue.c.created_at, queue.c.item_id), QueueItem)


# For a slot


def in_line(conn: Connection, conversation_id: str | None, thread_id: str | None, host: str) -> list[QueueItem]:
    """A host's messages that wait for this slot, in order; one that a run has claimed does not."""
    query = select(queue).where(
        queue.c.conversation_id.is_not_distinct_from(conversation_id),
        queue.c.fate == Fate.QUEUED,
        queue.c.thread_id.is_not_distinct_from(thread_id),
        queue.c.host == host,
        queue.c.mode.in_((Mode.AFTER, Mode.SLOT)),
    )
    return every(conn, _in_order(query), QueueItem)


def of_event(conn: Connection, event_id: str, conversation_id: str | None) -> QueueItem | None:
    """What became of an event that had to wait."""
    query = select(queue).where(
        queue.c.conversation_id.is_not_distinct_from(conversation_id), queue.c.event_id == event_id
    )
    return first(conn, query, QueueItem)


# For a person


def mark_sent_again(conn: Connection, item_id: str, event_id: str) -> None:
    """Note which event says again what was dropped or withdrawn; it can be said again once."""
    item = get(conn, item_id)
    if item.fate not in (Fate.DROPPED, Fate.WITHDRAWN):
        raise AlreadyDecided(
            f"message {item_id} is {_told(item)}; only one that was dropped or withdrawn is sent again."
        )
    if SENT_AGAIN in item.metadata:
        raise AlreadyDecided(f"message {item_id} was sent again already, as event {item.metadata[SENT_AGAIN]}.")
    save(conn, replace(item, metadata={**item.metadata, SENT_AGAIN: event_id}))


def dismiss(conn: Connection, item_id: str, *, at: int) -> QueueItem:
    """Note that nobody will say again what was dropped."""
    item = get(conn, item_id)
    if item.fate != Fate.DROPPED:
        raise AlreadyDecided(f"message {item_id} is {_told(item)}; only one that was dropped is dismissed.")
    return save(conn, replace(item, metadata={DISMISSED: at, **item.metadata}))


def returnable(conn: Connection, conversation_id: str, *, withdrawn_since: int, limit: int) -> list[QueueItem]:
    """What was dropped, or withdrawn since then, and neither said again nor dismissed: the newest, as it was lost."""
    noted = (func.json_extract(queue.c.metadata, f"$.{name}") for name in (SENT_AGAIN, DISMISSED))
    query = select(queue).where(
        queue.c.conversation_id == conversation_id,
        queue.c.fate.in_((Fate.DROPPED, Fate.WITHDRAWN)),
        or_(queue.c.fate == Fate.DROPPED, queue.c.decided_at > withdrawn_since),
        *(mark.is_(None) for mark in noted),
    )
    newest = query.order_by(queue.c.decided_at.desc(), queue.c.place.desc(), queue.c.item_id.desc()).limit(limit)
    return every(conn, newest, QueueItem)[::-1]


def waiting(
    conn: Connection,
    *,
    host: str | None = None,
    conversation_id: str | None = None,
    run_id: str | None = None,
) -> list[QueueItem]:
    """Items whose fate is open, in their order."""
    query = select(queue).where(queue.c.fate.in_(_OPEN))
    for column, wanted in (
        (queue.c.host, host),
        (queue.c.conversation_id, conversation_id),
        (queue.c.run_id, run_id),
    ):
        if wanted is not None:
            query = query.where(column == wanted)
    return every(conn, query.order_by(queue.c.conversation_id, queue.c.place, queue.c.item_id), QueueItem)


def move(conn: Connection, item_id: str, before: str | None) -> QueueItem:
    """Put an item before another of its conversation, or behind all of them."""
    item = editable(conn, item_id)
    others = [other for other in waiting(conn, conversation_id=item.conversation_id) if other.item_id != item_id]
    ids = [other.item_id for other in others]
    if before is not None and before not in ids:
        raise NotFound(f"message {before} does not wait in the same conversation.")
    index = len(ids) if before is None else ids.index(before)
    order = [*others[:index], item, *others[index:]]
    for place, moved in enumerate(order, start=min(other.place for other in order)):
        if moved.place != place:
            save(conn, replace(moved, place=place))
    return get(conn, item_id)


def _in_order(query: Select[Any]) -> Select[Any]:
    return query.order_by(*_ORDER)


def _told(item: QueueItem) -> str:
    return item.fate + (f" ({item.reason})" if item.reason else "")
