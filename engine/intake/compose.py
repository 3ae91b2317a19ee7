"""Builds an event from the text fields of a form, and reports problems by field."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson
from pydantic import ValidationError

from engine.clock import Ids
from engine.events import SESSION_ID_RULE
from engine.intake.envelope import (
    CONSOLE_DELIVERY,
    EventEnvelope,
    EventProblem,
    parse_json_or_yaml,
    with_text,
)
from engine.protocol.content import Attachment, RunnerInput
from engine.protocol.event import ActorContext, EventSource, EventType, SubjectContext


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDraft:
    """The fields of an event as a form has them: text, with an empty string for a missing value."""

    event_type: str = EventType.MESSAGE_RECEIVED
    text: str = ""
    event_time: str = ""
    """RFC 3339, or seconds since 1970; empty means now."""
    source: str = EventSource.CONSOLE
    source_event_type: str = ""
    conversation_id: str = ""
    thread_id: str = ""
    bot_id: str = ""
    workspace_id: str = ""
    actor_type: str = ""
    actor_id: str = ""
    actor_name: str = ""
    subject_type: str = ""
    subject_id: str = ""
    subject_data: str = ""
    """An object as JSON or YAML."""
    data: str = ""
    """An object as JSON or YAML."""
    attachments: tuple[Attachment, ...] = ()
    base: EventEnvelope | None = None
    """The event being edited. Values that no field shows, such as its delivery, are copied from it."""


class DraftProblem(EventProblem):
    """An event that cannot be sent. `problems` has one text per field name."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{field}: {words}" for field, words in problems.items()))
        self.problems = dict(problems)


def draft_of(envelope: EventEnvelope) -> EventDraft:
    """Return the fields of an event, to be edited and sent as a new one."""
    actor, subject = envelope.actor, envelope.subject
    return EventDraft(
        event_type=envelope.event_type,
        text=envelope.input.to_text(),
        event_time="" if envelope.event_time is None else str(envelope.event_time),
        source=envelope.source,
        source_event_type=envelope.source_event_type or "",
        conversation_id=envelope.conversation_id or "",
        thread_id=envelope.thread_id or "",
        bot_id=envelope.bot_id or "",
        workspace_id=envelope.workspace_id or "",
        actor_type=actor.actor_type if actor else "",
        actor_id=(actor.actor_id if actor else None) or "",
        actor_name=(actor.actor_name if actor else None) or "",
        subject_type=subject.subject_type if subject else "",
        subject_id=(subject.subject_id if subject else None) or "",
        subject_data=_as_json(subject.data) if subject else "",
        data=_as_json(envelope.data),
        attachments=tuple(envelope.input.attachments),
        base=envelope,
    )


def compose(draft: EventDraft, ids: Ids) -> EventEnvelope:
    """Build the event. Raises DraftProblem with all problems, each under the name of its field."""
    problems: dict[str, str] = {}
    data, subject_data = (_object(draft, field, problems) for field in ("data", "subject_data"))
    if draft.event_type == EventType.MESSAGE_RECEIVED and not _has_content(draft):
        problems["text"] = "a message needs text or a file"
    values: dict[str, Any] = {
        "event_id": ids.new("evt"),
        "event_type": draft.event_type,
        "event_time": _time(draft.event_time.strip()),
        "source": draft.source,
        "actor": _actor(draft, problems),
        "subject": _subject(draft, subject_data, problems),
        "input": _input(draft, ids),
        "delivery": draft.base.delivery if draft.base else CONSOLE_DELIVERY,
        "data": data,
    }
    names = ("source_event_type", "conversation_id", "thread_id", "bot_id", "workspace_id")
    values |= {name: getattr(draft, name) or None for name in names}
    _check_text(draft, problems)
    try:
        envelope = EventEnvelope.model_validate(values)
    except ValidationError as error:
        for found in error.errors(include_url=False, include_input=False):
            field = str(found["loc"][0])
            problems.setdefault(field, _FIELD_RULES.get(field, found["msg"]))
        raise DraftProblem(problems) from None
    if problems:
        raise DraftProblem(problems)
    return envelope


_FIELD_RULES: Final[Mapping[str, str]] = {
    "event_type": f"must be one of {', '.join(EventType)}",
    "event_time": "must be a time such as 2026-01-02T03:04:05Z, or seconds since 1970",
    "source": f"must be one of {', '.join(EventSource)}",
    "conversation_id": f"must be {SESSION_ID_RULE}",
    "thread_id": "must have at most 255 characters",
    "bot_id": "must have at most 255 characters",
    "workspace_id": "must have at most 255 characters",
}


def _time(text: str) -> str | int | None:
    return int(text) if text.isdecimal() and len(text) < 20 else text or None


def _actor(draft: EventDraft, problems: dict[str, str]) -> ActorContext | None:
    if not (draft.actor_type or draft.actor_id or draft.actor_name):
        return None
    if not draft.actor_type:
        problems["actor_type"] = "must name the kind of actor, such as user or system"
    base = draft.base.actor if draft.base else None
    is_same = base is not None and (base.actor_type, base.actor_id or "") == (draft.actor_type, draft.actor_id)
    return ActorContext(
        actor_type=draft.actor_type,
        actor_id=draft.actor_id or None,
        actor_name=draft.actor_name or None,
        metadata=base.metadata if base is not None and is_same else {},
    )


def _subject(draft: EventDraft, data: dict[str, Any], problems: dict[str, str]) -> SubjectContext | None:
    if not (draft.subject_type or draft.subject_id or draft.subject_data.strip()):
        return None
    if not draft.subject_type:
        problems["subject_type"] = "must name the kind of subject, such as message or schedule"
    return SubjectContext(subject_type=draft.subject_type, subject_id=draft.subject_id or None, data=data)


def _input(draft: EventDraft, ids: Ids) -> RunnerInput:
    """Build the input. Images of the edited message stay; its attachments get new artifact ids."""
    composed = RunnerInput(text=draft.text) if draft.base is None else with_text(draft.base, draft.text).input
    seen = {one.artifact_id for one in draft.base.input.attachments} if draft.base else set[str]()
    attachments = [
        one.model_copy(update={"artifact_id": ids.new("art")}) if one.artifact_id in seen else one
        for one in draft.attachments
    ]
    return composed.model_copy(update={"attachments": attachments})


def _has_content(draft: EventDraft) -> bool:
    parts = draft.base.input.contents if draft.base else []
    return bool(draft.text.strip() or draft.attachments or any(part.type != "text" for part in parts))


def _object(draft: EventDraft, field: str, problems: dict[str, str]) -> dict[str, Any]:
    text: str = getattr(draft, field)
    if not text.strip():
        return {}
    try:
        found = parse_json_or_yaml(text)
    except EventProblem as problem:
        problems[field] = str(problem)
        return {}
    if not isinstance(found, dict):
        problems[field] = 'must be an object, such as {"name": "value"}'
        return {}
    return cast("dict[str, Any]", found)


def _check_text(draft: EventDraft, problems: dict[str, str]) -> None:
    for field in draft.__dataclass_fields__:
        value: object = getattr(draft, field)
        if isinstance(value, str):
            try:
                value.encode()
            except UnicodeEncodeError:
                problems.setdefault(field, "contains half of a surrogate pair, which cannot be sent")


def _as_json(data: Mapping[str, Any]) -> str:
    if not data:
        return ""
    try:
        return orjson.dumps(data, option=orjson.OPT_INDENT_2).decode()
    except TypeError:  # a number beyond 64 bits
        return json.dumps(data, ensure_ascii=False, indent=2)
