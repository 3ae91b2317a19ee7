"""Masks the secrets in an event, and refuses an event whose ids contain one."""

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any, Final

from engine.intake.envelope import EventEnvelope, EventProblem
from engine.journal.secret_mask import SecretMask

_ENVELOPE_IDS: Final = ("event_id", "bot_id", "workspace_id", "conversation_id", "thread_id", "raw_ref")
_KEPT: Final = frozenset({*_ENVELOPE_IDS, "event_type", "event_time", "source", "actor_type", "actor_id"}) | frozenset(
    {"subject_type", "subject_id", "surface"}
)
"""Fields that are not masked: ids, which are refused if they contain a secret, and names of the protocol."""
_KEPT_OF_PART: Final = frozenset({"type", "image_base64", "file_base64"})
_KEPT_OF_ATTACHMENT: Final = frozenset({"artifact_id", "source", "content"})


def mask_event(envelope: EventEnvelope, *masks: SecretMask) -> EventEnvelope:
    """Return the event with its secrets masked; the same object if it contains none."""
    if not any(mask.secrets for mask in masks):
        return envelope
    plain = envelope.model_dump(mode="json")
    masked = plain
    for mask in masks:
        masked = _changed(masked, mask.cover_value)
    return envelope if masked == plain else EventEnvelope.model_validate(masked)


def put_back_secrets(envelope: EventEnvelope, mask: SecretMask) -> EventEnvelope:
    """Return a masked event with the secrets in place of their marks."""
    plain = envelope.model_dump(mode="json")
    return EventEnvelope.model_validate(_changed(plain, mask.put_back))


def refuse_secret_ids(envelope: EventEnvelope, agent_id: str | None, mask: SecretMask) -> None:
    """Raise EventProblem if an id contains a secret. Ids are listed and compared everywhere, so none can be masked."""
    for field, value in (*_ids(envelope), ("the agent's id", agent_id)):
        if value and (name := mask.secret_in_name(value)) is not None:
            raise EventProblem(f"{field} contains the secret {name}. Use an id without it.")


def _ids(envelope: EventEnvelope) -> Iterator[tuple[str, str | None]]:
    for name in _ENVELOPE_IDS:
        yield name, getattr(envelope, name)
    if (actor := envelope.actor) is not None:
        yield from (("actor.actor_id", actor.actor_id), ("actor.actor_type", actor.actor_type))
    if (subject := envelope.subject) is not None:
        yield from (("subject.subject_id", subject.subject_id), ("subject.subject_type", subject.subject_type))
    for attachment in envelope.input.attachments:
        yield "attachments.artifact_id", attachment.artifact_id


def _changed(event: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """Return an envelope as JSON with every text changed that is not an id or base64."""
    result = _with_texts(event, _KEPT | {"actor", "subject", "delivery", "input"}, change)
    for name in ("actor", "subject", "delivery"):
        if event[name] is not None:
            result[name] = _with_texts(event[name], _KEPT, change)
    given = event["input"]
    result["input"] = {
        "text": change(given["text"]),
        "contents": [_with_texts(part, _KEPT_OF_PART, change) for part in given["contents"]],
        "attachments": [_with_texts(one, _KEPT_OF_ATTACHMENT, change) for one in given["attachments"]],
    }
    return result


def _with_texts(fields: dict[str, Any], kept: AbstractSet[str], change: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the fields with their texts, objects and lists changed. Numbers have meanings of the protocol."""
    return {
        name: change(value) if name not in kept and isinstance(value, str | dict | list) else value
        for name, value in fields.items()
    }
