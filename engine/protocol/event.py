"""Events: type, source, actor, subject and delivery."""

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from engine.protocol.base import Model, Seconds


class EventType(StrEnum):
    """The event types; a platform's own name goes to `source_event_type`."""

    MESSAGE_RECEIVED = "message.received"
    MESSAGE_RECALLED = "message.recalled"
    GROUP_MEMBER_JOINED = "group.member_joined"
    FRIEND_REQUEST_RECEIVED = "friend.request_received"
    SCHEDULE_TRIGGERED = "schedule.triggered"
    API_INVOKED = "api.invoked"


class EventSource(StrEnum):
    """Where an event came from."""

    PLATFORM = "platform"
    WEBUI = "webui"
    API = "api"
    SCHEDULER = "scheduler"
    SYSTEM = "system"
    HOST_ADAPTER = "host_adapter"
    CONSOLE = "console"


TriggerSource = Literal["platform", "webui", "api", "scheduler", "system", "host_adapter"]
"""The closed list that a runner may rely on; it has no console."""


def trigger_source(source: EventSource) -> TriggerSource:
    """Return the source as a trigger names it: the console is the host's own UI, so it is `webui`."""
    return "webui" if source is EventSource.CONSOLE else source.value


class Trigger(Model):
    """What started the run."""

    type: str
    source: TriggerSource
    timestamp: Seconds | None = None


class EventContext(Model):
    """The event as the runner may see it."""

    event_id: str
    event_type: str
    event_time: Seconds | None = None
    source: str
    source_event_type: str | None = None
    raw_ref: str | None = None
    """The artifact with the raw payload, if that was too large for `data`."""
    data: dict[str, Any] = Field(default_factory=dict)


class ConversationContext(Model):
    """The conversation of the event."""

    conversation_id: str | None = None
    thread_id: str | None = None
    launcher_type: str | None = None
    launcher_id: str | None = None
    sender_id: str | None = None
    bot_id: str | None = None
    workspace_id: str | None = None
    session_id: str | None = None


class ActorContext(Model):
    """Who caused the event."""

    actor_type: str
    actor_id: str | None = None
    actor_name: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


class SubjectContext(Model):
    """What the event is about."""

    subject_type: str
    subject_id: str | None = None
    data: dict[str, Any] = Field(default_factory=dict)


class DeliveryContext(Model):
    """What the surface that shows the results can do."""

    surface: str
    reply_target: dict[str, Any] | None = None
    supports_streaming: bool = False
    supports_edit: bool = False
    supports_reaction: bool = False
    max_message_size: int | None = None
    platform_capabilities: dict[str, Any] = Field(default_factory=dict)
