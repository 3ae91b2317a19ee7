"""Which entries answer each other: a tool's start and end, a call's request, decision and reply, a message's way."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

_ENDS: Final = ("steering.injected", "steering.dropped", "steering.withdrawn")


class Link(NamedTuple):
    """How to find the others: what they have in common, what came before and what comes after."""

    name: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    """After one of these nothing more is expected."""


LINKS: Final[Mapping[str, Link]] = {
    "tool.call.started": Link("tool_call_id", after=("tool.call.completed",), last=("tool.call.completed",)),
    "tool.call.completed": Link("tool_call_id", before=("tool.call.started",)),
    "call.requested": Link("call_id", after=("call.decided", "call.replied"), last=("call.replied",)),
    "call.decided": Link("call_id", before=("call.requested",), after=("call.replied",), last=("call.replied",)),
    "call.replied": Link("call_id", before=("call.requested",)),
    "steering.queued": Link("item_id", after=_ENDS, last=_ENDS),
    **{kind: Link("item_id", before=("steering.queued",)) for kind in _ENDS},
}


def link_of(kind: str, outcome: str | None, data: Mapping[str, Any]) -> tuple[Link, str] | None:
    """The link of an entry and the id that it has in common with the others."""
    link = LINKS.get(kind)
    shared = None if link is None else data.get(link.name)
    if link is None or not isinstance(shared, str) or not shared:
        return None
    if kind == "call.decided" and outcome == "refused":
        return link._replace(after=(), last=()), shared  # a refusal is the reply
    return link, shared
