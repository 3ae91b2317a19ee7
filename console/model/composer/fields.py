"""The fields of the composer in their groups, their hints, and their defaults by event type."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

Values = Mapping[str, str]
"""The text of each field by its name; empty if it is not set."""


class InputKind(StrEnum):
    """The widget of a field."""

    CHOICE = "choice"
    LINE = "line"
    TEXT = "text"
    """Several lines."""


class EventField(NamedTuple):
    """A field of the composer. Its name is the engine's."""

    name: str
    label: str
    hint: str = ""
    kind: InputKind = InputKind.LINE


OBJECT_HINT: Final = 'a JSON object, as in {"name": "value"}'

GROUPS: Final[Mapping[str, tuple[EventField, ...]]] = {
    "Event": (
        EventField("event_type", "event", kind=InputKind.CHOICE),
        EventField("text", "text", kind=InputKind.TEXT),
        EventField("data", "data", OBJECT_HINT, InputKind.TEXT),
        EventField("event_time", "when", "now, or as in 2026-01-02T03:04:05Z"),
    ),
    "Actor": (
        EventField("actor_type", "actor", "user, system, api_client …"),
        EventField("actor_id", "actor id", "the id on the platform"),
        EventField("actor_name", "actor name", "the display name"),
    ),
    "Subject": (
        EventField("subject_type", "subject", "message, membership, schedule …"),
        EventField("subject_id", "subject id", "the id of the subject"),
        EventField("subject_data", "subject data", OBJECT_HINT, InputKind.TEXT),
    ),
    "Location": (
        EventField("conversation_id", "session", "none: an event without a session"),
        EventField("thread_id", "thread", "none"),
        EventField("bot_id", "bot", "none"),
        EventField("workspace_id", "workspace", "none"),
        EventField("source", "source", kind=InputKind.CHOICE),
        EventField("source_event_type", "native name", "the platform's name of the event"),
    ),
}
TYPE_HINTS: Final[Mapping[str, tuple[str, str]]] = {
    "message.received": ("a user sends a message", "the message; not needed with a file"),
    "message.recalled": ("a user recalls a message", "usually empty"),
    "group.member_joined": ("a user joins a group", "usually empty"),
    "friend.request_received": ("a user sends a contact request", "the reason of the request"),
    "schedule.triggered": ("a scheduled time is reached", "what to do"),
    "api.invoked": ("a program calls the API", "the request"),
}
"""By type: what the event is, and what its text contains."""
NAMES: Final = tuple(field.name for fields in GROUPS.values() for field in fields)
_LOCATION: Final = ("conversation_id", "thread_id", "bot_id", "workspace_id")
"""Fields that do not depend on the type."""


def change_defaults(values: Values, before: Values, after: Values) -> dict[str, str]:
    """The fields for another type: a value that equals its old default becomes the new default."""
    return {
        name: after[name] if name not in _LOCATION and value == before[name] else value
        for name, value in values.items()
    }


def fill_example(values: Values, defaults: Values, example: Values) -> dict[str, str]:
    """The fields with an example in place of empty and default values."""
    return {
        name: example[name] or value if name not in _LOCATION and value in ("", defaults[name]) else value
        for name, value in values.items()
    }


def has_changes(values: Values, defaults: Values) -> bool:
    """Whether a field, other than the location, differs from its default."""
    return any(value != defaults[name] for name, value in values.items() if name not in _LOCATION)
