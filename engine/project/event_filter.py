"""Which events an agent handles: by their type, their bot or workspace, and patterns for their fields."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast

from pydantic import BaseModel

from engine.intake.envelope import EventEnvelope
from engine.protocol.event import EventType

ScopeType = Literal["agent", "bot", "workspace", "global"]
MATCHED_FIELDS: Final = (
    "source",
    "source_event_type",
    "conversation_id",
    "thread_id",
    "bot_id",
    "workspace_id",
    "actor.actor_type",
    "actor.actor_id",
    "actor.actor_name",
    "subject.subject_type",
    "subject.subject_id",
    "input.text",
)
"""Fields of an event that a pattern can be given for, besides those under `data`."""
DATA_PREFIX: Final = "data."


@dataclass(frozen=True, slots=True)
class EventFilter:
    """The rules of one agent. All of them must hold; none of them is weaker or stronger than another."""

    event_types: tuple[EventType, ...]
    scope_type: ScopeType
    scope_id: str | None
    match: Mapping[str, str]

    def accepts(self, envelope: EventEnvelope, *, is_named: bool = False) -> bool:
        """Whether the agent handles this event. One that the sender names handles any event of its types."""
        if envelope.event_type not in self.event_types:
            return False
        return is_named or (self._is_in_scope(envelope) and self._matches(envelope))

    def limits(self) -> str:
        """The scope and the patterns in words: `bot b1, thread_id t*`; empty if there are none."""
        scope = {"global": "", "agent": "senders that name it"}.get(
            self.scope_type, f"{self.scope_type} {self.scope_id}"
        )
        return ", ".join(filter(None, (scope, *(f"{name} {pattern}" for name, pattern in self.match.items()))))

    def _is_in_scope(self, envelope: EventEnvelope) -> bool:
        match self.scope_type:
            case "global":
                return True
            case "agent":
                return False
            case "bot":
                return envelope.bot_id == self.scope_id
            case "workspace":
                return envelope.workspace_id == self.scope_id

    def _matches(self, envelope: EventEnvelope) -> bool:
        return all(_matches_field(envelope, name, pattern) for name, pattern in self.match.items())


def is_matched_field(name: str) -> bool:
    """Whether a pattern can be given for this field."""
    return name in MATCHED_FIELDS or (name.startswith(DATA_PREFIX) and all(name.split(".")))


def matches_pattern(text: str, pattern: str) -> bool:
    """Whether the whole text fits a pattern, in which `*` stands for any characters. Linear in the text."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    if not text.startswith(first):
        return False
    *middle, last = rest
    place = len(first)
    for part in middle:
        found = text.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    return len(text) - len(last) >= place and text.endswith(last)


def _matches_field(envelope: EventEnvelope, name: str, pattern: str) -> bool:
    value: object = envelope
    for part in name.split("."):
        if isinstance(value, BaseModel):
            value = getattr(value, part, None)
        else:
            value = cast("dict[str, object]", value).get(part) if isinstance(value, dict) else None
    text = _as_text(value)
    return text is not None and matches_pattern(text, pattern)


def _as_text(value: object) -> str | None:
    """A value as a pattern sees it; None if the event does not have it, or if it is a list or an object."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else None
