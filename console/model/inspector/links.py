"""Links between related entries: a call and its reply, a message and its fate."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from engine.events import STEERING_ENDS, EntryKind, Outcome


class Link(NamedTuple):
    """How to find the entries related to an entry: the field of the shared id, and the kinds before and after."""

    id_field: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    """Kinds that end the search: no related entry follows."""


LINKS: Final[Mapping[str, Link]] = {
    EntryKind.TOOL_CALL_STARTED: Link(
        "tool_call_id", after=(EntryKind.TOOL_CALL_COMPLETED,), last=(EntryKind.TOOL_CALL_COMPLETED,)
    ),
    EntryKind.TOOL_CALL_COMPLETED: Link("tool_call_id", before=(EntryKind.TOOL_CALL_STARTED,)),
    EntryKind.CALL_REQUESTED: Link(
        "call_id", after=(EntryKind.CALL_DECIDED, EntryKind.CALL_REPLIED), last=(EntryKind.CALL_REPLIED,)
    ),
    EntryKind.CALL_DECIDED: Link(
        "call_id",
        before=(EntryKind.CALL_REQUESTED,),
        after=(EntryKind.CALL_REPLIED,),
        last=(EntryKind.CALL_REPLIED,),
    ),
    EntryKind.CALL_REPLIED: Link("call_id", before=(EntryKind.CALL_REQUESTED,)),
    EntryKind.STEERING_QUEUED: Link("item_id", after=STEERING_ENDS, last=STEERING_ENDS),
    **{kind: Link("item_id", before=(EntryKind.STEERING_QUEUED,)) for kind in STEERING_ENDS},
}


def link_of(kind: str, outcome: str | None, data: Mapping[str, Any]) -> tuple[Link, str] | None:
    """Return the link of an entry and its shared id, or None if it has none."""
    link = LINKS.get(kind)
    shared = None if link is None else data.get(link.id_field)
    if link is None or not isinstance(shared, str) or not shared:
        return None
    if kind == EntryKind.CALL_DECIDED and outcome == Outcome.REFUSED:
        return link._replace(after=(), last=()), shared  # a refusal is the reply
    return link, shared
