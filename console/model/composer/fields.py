"""The fields of an event, as a form asks for them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

Values = Mapping[str, str]
"""What each field says, by its name; empty is nothing."""


class Kind(StrEnum):
    """How a field is filled in."""

    CHOICE = "choice"
    LINE = "line"
    TEXT = "text"
    """Over several lines."""


class EventField(NamedTuple):
    """One of them. Its name is the engine's."""

    name: str
    label: str
    hint: str = ""
    kind: Kind = Kind.LINE


OBJECT: Final = 'an object, as in {"name": "value"}'

GROUPS: Final[Mapping[str, tuple[EventField, ...]]] = {
    "What happened": (
        EventField("event_type", "event", kind=Kind.CHOICE),
        EventField("text", "says", kind=Kind.TEXT),
        EventField("data", "data", OBJECT, Kind.TEXT),
        EventField("event_time", "when", "now; or as in 2026-01-02T03:04:05Z"),
    ),
    "Who did it": (
        EventField("actor_type", "actor", "user, system, api_client …"),
        EventField("actor_id", "actor id", "as the platform knows them"),
        EventField("actor_name", "actor name", "as people know them"),
    ),
    "To what": (
        EventField("subject_type", "subject", "message, membership, schedule …"),
        EventField("subject_id", "subject id", "which one"),
        EventField("subject_data", "subject data", OBJECT, Kind.TEXT),
    ),
    "Where": (
        EventField("conversation_id", "session", "none: an event of no conversation"),
        EventField("thread_id", "thread", "none"),
        EventField("bot_id", "bot", "none"),
        EventField("workspace_id", "workspace", "none"),
        EventField("source", "source", kind=Kind.CHOICE),
        EventField("source_event_type", "native name", "what the platform calls it"),
    ),
}
ABOUT: Final[Mapping[str, tuple[str, str]]] = {
    "message.received": ("someone says something", "what is said; a file alone will do, too"),
    "message.recalled": ("someone takes back what they said", "nothing, usually"),
    "group.member_joined": ("someone joins a group", "nothing, usually"),
    "friend.request_received": ("someone asks to be a contact", "the reason that they give"),
    "schedule.triggered": ("a time has come", "what is to be done then"),
    "api.invoked": ("a program asks for something", "what it asks for"),
}
"""By its type what an event is, and what it says."""
NAMES: Final = tuple(field.name for fields in GROUPS.values() for field in fields)
_PLACE: Final = ("conversation_id", "thread_id", "bot_id", "workspace_id")
"""Where it happens does not follow from what it is."""


def retyped(values: Values, before: Values, after: Values) -> dict[str, str]:
    """The same fields for another type: what nobody changed becomes what is usual there, the rest stays."""
    return {
        name: after[name] if name not in _PLACE and value == before[name] else value for name, value in values.items()
    }


def filled(values: Values, usual: Values, example: Values) -> dict[str, str]:
    """The fields with an example wherever nobody has said anything; what was typed is left alone."""
    return {
        name: example[name] or value if name not in _PLACE and value in ("", usual[name]) else value
        for name, value in values.items()
    }


def is_touched(values: Values, usual: Values) -> bool:
    """Whether a person has put anything of their own into it."""
    return any(value != usual[name] for name, value in values.items() if name not in _PLACE)
