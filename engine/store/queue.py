"""The queue: messages for the run in progress or for the next free slot, in their order."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

from sqlalchemy import Connection, Integer, Select, and_, bindparam, func, insert, literal_column, or_, select

from engine.events import FINAL_FATES, Fate, Mode
from engine.store.async_reader import PreparedSelect, Query, Row, run_query
from engine.store.errors import AlreadyDecided, NotFound
from engine.store.hidden_sessions import is_shown
from engine.store.json_text import encode
from engine.store.row_mapping import driver_of, every, first, one, saving, values
from engine.store.tables import queue

NEXT: Final[Mapping[Fate, frozenset[Fate]]] = {
    Fate.QUEUED: frozenset({Fate.PAUSED, Fate.PULLED, Fate.DROPPED, Fate.WITHDRAWN, Fate.OWN_RUN}),
    Fate.PAUSED: frozenset({Fate.QUEUED, Fate.DROPPED, Fate.WITHDRAWN}),
    # If a pull is cancelled before it reaches the runner, its items go back to the queue.
    Fate.PULLED: frozenset({Fate.QUEUED, Fate.INJECTED, Fate.DROPPED}),
}
EDITABLE: Final = frozenset({Fate.QUEUED, Fate.PAUSED})
"""Fates in which the user can still change an item."""
SENT_AGAIN: Final = "sent_again_as"
"""Key in an item's metadata: the event that sent its message again."""
DISMISSED: Final = "dismissed_at"
"""Key in the metadata of a dropped item: when the user dismissed it."""
WAS_PAUSED: Final = "was_paused"
"""Key in the metadata of a withdrawn item: the item was paused before."""
AGENT: Final = "agent_id"
"""Key in an item's metadata: the agent that the message is for."""
COVERED: Final = "covered"
"""Key in the metadata of an open item with a secret: its text and envelope with the secrets masked.

A process that drops the item after its host has died does not know the secrets.
"""
IS_MASKED: Final = "is_masked"
"""Key in the metadata of an item whose text and envelope are masked for good, because its fate is decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueItem:
    """A queued message with the envelope that it came in."""

    item_id: str
    event_id: str
    mode: str
    created_at: int
    envelope: Mapping[str, Any]
    place: int = 0
    """Position in the conversation's queue; 0 appends the item at the end."""
    fate: str = Fate.QUEUED
    reason: str | None = None
    conversation_id: str | None = None
    thread_id: str | None = None
    bot_id: str | None = None
    workspace_id: str | None = None
    runner_id: str | None = None
    run_id: str | None = None
    """The run that was in progress when the message came; in mode steer, the run that has claimed it."""
    own_run_id: str | None = None
    host: str | None = None
    text: str | None = None
    """The text to deliver: that of the envelope until the user edits it."""
    pulled_at: int | None = None
    pulled_position: int | None = None
    injected_at: int | None = None
    decided_at: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


_OPEN: Final = tuple(NEXT)
# Built once: a message goes through most of these on its way into a run, and building a statement takes longer than
# running it. The condition on the conversation comes first, because its index skips the items that are decided.
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

_FATES: Final = "SELECT item_id, fate, reason FROM queue WHERE item_id IN (SELECT value FROM json_each(?))"


def advance(item: QueueItem, to: Fate, *, reason: str | None = None) -> QueueItem:
    """Return the item with its next fate. Raises AlreadyDecided if the transition is not allowed."""
    if to not in NEXT.get(Fate(item.fate), frozenset()):
        raise AlreadyDecided(f"message {item.item_id} is {_told(item)}; it cannot become {to}.")
    return replace(item, fate=to, reason=reason)


def add(conn: Connection, item: QueueItem) -> QueueItem:
    """Add an item at the end of its conversation's queue, or before the items from its `place` on. Returns the item."""
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
    """Return an item that the user can still change. Raises AlreadyDecided if it was pulled, or its fate is final."""
    item = get(conn, item_id)
    if item.fate not in EDITABLE:
        raise AlreadyDecided(f"message {item_id} is {_told(item)}; it can no longer be changed.")
    return item


def save(conn: Connection, item: QueueItem) -> QueueItem:
    """Write all columns of an item, and return it."""
    conn.execute(_SAVE, values(item, without="item_id") | {"its_key": item.item_id})
    return item


def decide(
    conn: Connection, item_id: str, to: Fate, *, at: int, reason: str | None = None, own_run_id: str | None = None
) -> QueueItem:
    """Change the fate of an item and return the item. Raises AlreadyDecided if the transition is not allowed."""
    item = advance(get(conn, item_id), to, reason=reason)
    if own_run_id is not None:
        item = replace(item, own_run_id=own_run_id)
    if to is Fate.INJECTED:
        item = replace(item, injected_at=at)
    if to in FINAL_FATES:
        item = as_shown(replace(item, decided_at=at))
    return save(conn, item)


def as_shown(item: QueueItem) -> QueueItem:
    """Return the item with the secrets in its text and envelope masked."""
    masked = item.metadata.get(COVERED)
    if masked is None:
        return item
    metadata = {name: value for name, value in item.metadata.items() if name != COVERED}
    return replace(item, **masked, metadata={**metadata, IS_MASKED: True})


# For a run


def claimed(conn: Connection, run_id: str, conversation_id: str | None) -> list[QueueItem]:
    """Return the items that a run has claimed and whose fate is not final, in order."""
    return every(conn, _CLAIMED, QueueItem, {"run": run_id, "conversation": conversation_id})


def count_claimed(conn: Connection, run_id: str, conversation_id: str | None) -> int:
    return driver_of(conn).execute(_COUNT_CLAIMED, (conversation_id, run_id)).fetchone()[0]


def pullable(conn: Connection, run_id: str, conversation_id: str | None, *, limit: int) -> list[QueueItem]:
    """Return the first queued items that a run has claimed, in order."""
    given = {"run": run_id, "conversation": conversation_id, "most": limit}
    return every(conn, _PULLABLE, QueueItem, given)


def pull(conn: Connection, item: QueueItem, *, at: int, position: int) -> QueueItem:
    """Set the fate of an item to pulled, and return the item."""
    return save(conn, replace(advance(item, Fate.PULLED), pulled_at=at, pulled_position=position))


def put_back(conn: Connection, item_id: str) -> QueueItem:
    """Put a pulled item that did not reach the runner back in its old place in the queue, and return the item."""
    item = advance(get(conn, item_id), Fate.QUEUED)
    return save(conn, replace(item, pulled_at=None, pulled_position=None))


def of_run(conn: Connection, run_id: str) -> list[QueueItem]:
    """Return all messages that came while a run was in progress, whatever their fate, in the order of arrival."""
    query = select(queue).where(queue.c.run_id == run_id)
    return every(conn, query.order_by(queue.c.created_at, queue.c.item_id), QueueItem)


# For a slot


def in_line(conn: Connection, conversation_id: str | None, thread_id: str | None, host: str) -> list[QueueItem]:
    """Return the messages of a host that wait for this slot, in order, without those that a run has claimed."""
    query = select(queue).where(
        queue.c.conversation_id.is_not_distinct_from(conversation_id),
        queue.c.fate == Fate.QUEUED,
        queue.c.thread_id.is_not_distinct_from(thread_id),
        queue.c.host == host,
        queue.c.mode.in_((Mode.AFTER, Mode.SLOT)),
    )
    return every(conn, _in_order(query), QueueItem)


def of_event(conn: Connection, event_id: str, conversation_id: str | None) -> QueueItem | None:
    """Return the item of an event that had to wait; None if it did not."""
    query = select(queue).where(
        queue.c.conversation_id.is_not_distinct_from(conversation_id), queue.c.event_id == event_id
    )
    return first(conn, query, QueueItem)


# For the user


def mark_sent_again(conn: Connection, item_id: str, event_id: str) -> None:
    """Record the event that sends a dropped or withdrawn message again. Raises AlreadyDecided the second time."""
    item = check_resendable(conn, item_id)
    save(conn, replace(item, metadata={**item.metadata, SENT_AGAIN: event_id}))


def check_resendable(conn: Connection, item_id: str) -> QueueItem:
    """Return an item that can be sent again. Raises AlreadyDecided if it cannot."""
    item = get(conn, item_id)
    if item.fate not in (Fate.DROPPED, Fate.WITHDRAWN):
        raise AlreadyDecided(
            f"message {item_id} is {_told(item)}; only a dropped or withdrawn message can be sent again."
        )
    if SENT_AGAIN in item.metadata:
        raise AlreadyDecided(f"message {item_id} was sent again already, as event {item.metadata[SENT_AGAIN]}.")
    return item


def dismiss(conn: Connection, item_id: str, *, at: int) -> QueueItem:
    """Record that the user dismissed a dropped message."""
    item = get(conn, item_id)
    if item.fate != Fate.DROPPED:
        raise AlreadyDecided(f"message {item_id} is {_told(item)}; only a dropped message can be dismissed.")
    return save(conn, replace(item, metadata={DISMISSED: at, **item.metadata}))


def returnable(conn: Connection, conversation_id: str, *, withdrawn_since: int, limit: int) -> list[QueueItem]:
    """Return the newest messages that can be sent again, oldest first.

    These were dropped, or withdrawn after `withdrawn_since`, and were neither sent again nor dismissed.
    """
    noted = (func.json_extract(queue.c.metadata, f"$.{name}") for name in (SENT_AGAIN, DISMISSED))
    query = select(queue).where(
        queue.c.conversation_id == conversation_id,
        is_shown(queue.c.conversation_id),
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
    """Return the items whose fate is not final, in order."""
    return run_query(conn, waiting_query(host=host, conversation_id=conversation_id, run_id=run_id))


def waiting_query(**filters: str | None) -> Query[list[QueueItem]]:
    """Return the query of `waiting`."""
    given = {name: value for name, value in filters.items() if value is not None}
    return _waiting(tuple(given)).query(**given)


@cache
def _waiting(filters: tuple[str, ...]) -> PreparedSelect[QueueItem]:
    # Literals: a list of bound values would be expanded at each execution.
    is_open = queue.c.fate.in_([literal_column(f"'{fate}'") for fate in _OPEN])
    query = select(queue).where(is_open, *(queue.c[name] == bindparam(name) for name in filters))
    return PreparedSelect(query.order_by(queue.c.conversation_id, queue.c.place, queue.c.item_id), QueueItem)


def find_query(item_id: str) -> Query[list[QueueItem]]:
    """Return the query for the item with this id."""
    return _find().query(item_id=item_id)


@cache
def _find() -> PreparedSelect[QueueItem]:
    return PreparedSelect(_GET, QueueItem)


def fates_query(item_ids: Iterable[str]) -> Query[dict[str, tuple[Fate, str | None]]]:
    """Return the query for the fate and reason of these items; an item that is no longer stored is missing."""

    def fates_of(rows: Sequence[Row]) -> dict[str, tuple[Fate, str | None]]:
        return {item_id: (Fate(fate), reason) for item_id, fate, reason in rows}

    return Query(_FATES, (encode(list(item_ids)),), fates_of)


def move(conn: Connection, item_id: str, before: str | None) -> QueueItem:
    """Move an item before another one of its conversation, or to the end if `before` is None."""
    item = editable(conn, item_id)
    others = [other for other in waiting(conn, conversation_id=item.conversation_id) if other.item_id != item_id]
    ids = [other.item_id for other in others]
    if before is not None and before not in ids:
        raise NotFound(f"message {before} is not queued in the same session.")
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
