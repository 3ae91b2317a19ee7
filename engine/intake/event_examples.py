"""Default and example values of each event type, for the composer."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from engine.intake.compose import EventDraft
from engine.intake.envelope import LOCAL_ACTOR
from engine.protocol.event import EventSource, EventType

_FROM_USER: Final = EventDraft(
    actor_type=LOCAL_ACTOR.actor_type, actor_id=LOCAL_ACTOR.actor_id or "", actor_name=LOCAL_ACTOR.actor_name or ""
)
_FROM_PLATFORM: Final = replace(_FROM_USER, source=EventSource.PLATFORM)
_DEFAULTS: Final[Mapping[EventType, EventDraft]] = {
    EventType.MESSAGE_RECEIVED: replace(_FROM_USER, subject_type="message"),
    EventType.MESSAGE_RECALLED: replace(_FROM_PLATFORM, subject_type="message"),
    EventType.GROUP_MEMBER_JOINED: replace(_FROM_PLATFORM, subject_type="membership"),
    EventType.FRIEND_REQUEST_RECEIVED: replace(_FROM_PLATFORM, subject_type="friend_request"),
    EventType.SCHEDULE_TRIGGERED: EventDraft(
        source=EventSource.SCHEDULER, actor_type="system", subject_type="schedule"
    ),
    EventType.API_INVOKED: EventDraft(source=EventSource.API, actor_type="api_client", subject_type="request"),
}
"""Actor, subject and source of each event type, by the contract's table."""
_EXAMPLES: Final[Mapping[EventType, Mapping[str, str]]] = {
    EventType.MESSAGE_RECEIVED: {"text": "Plan a day in Kyoto", "subject_id": "message-1"},
    EventType.MESSAGE_RECALLED: {"subject_id": "message-1"},
    EventType.GROUP_MEMBER_JOINED: {
        "actor_id": "ann",
        "actor_name": "Ann",
        "subject_id": "travellers/ann",
        "subject_data": '{"group": "travellers"}',
    },
    EventType.FRIEND_REQUEST_RECEIVED: {
        "text": "We met on the train to Nara",
        "actor_id": "ann",
        "actor_name": "Ann",
        "subject_id": "request-1",
    },
    EventType.SCHEDULE_TRIGGERED: {
        "text": "Say what the weather will be",
        "subject_id": "every-morning",
        "subject_data": '{"cron": "0 7 * * *"}',
    },
    EventType.API_INVOKED: {
        "text": "Summarise the trip",
        "actor_id": "travel-site",
        "subject_id": "request-1",
        "data": '{"trip": "kyoto", "words": 100}',
    },
}


def default_draft(event_type: EventType) -> EventDraft:
    """Return the fields of a new event of this type, without text or data."""
    return replace(_DEFAULTS[event_type], event_type=event_type)


def example_draft(event_type: EventType) -> EventDraft:
    """Return an example that can be sent as it is."""
    return replace(default_draft(event_type), **_EXAMPLES[event_type])
