"""What came with an event: attachments as bytes, and data too large to hand on."""

import base64
import binascii
from typing import Final
from urllib.parse import unquote_to_bytes

import orjson

from engine.intake.envelope import EventEnvelope, EventProblem
from engine.protocol.content import Attachment

INLINE_LIMIT: Final = 1024 * 1024
DATA_LIMIT: Final = 64 * 1024
"""Bytes of JSON that an event's `data` may have; more goes to an artifact."""


def content_of(attachment: Attachment) -> bytes | None:
    """The attachment's bytes, from base64 or a data URL."""
    if attachment.content is None:
        return None
    encoded = attachment.content
    if encoded.startswith("data:"):
        head, _, encoded = encoded.partition(",")
        if not head.endswith(";base64"):
            return unquote_to_bytes(encoded)
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise EventProblem(
            f"input.attachments: {attachment.artifact_id}: content is neither base64 nor a data URL"
        ) from None


def check_attachments(envelope: EventEnvelope) -> None:
    """Refuse what could not become an artifact, before anything is recorded."""
    for attachment in envelope.input.attachments:
        content = content_of(attachment)
        if content is not None and len(content) > INLINE_LIMIT:
            raise EventProblem(
                f"input.attachments: {attachment.artifact_id}: {len(content)} bytes inline are more than an artifact "
                f"may have ({INLINE_LIMIT}); give a url instead"
            )


def without_raw(envelope: EventEnvelope, raw_ref: str) -> tuple[EventEnvelope, bytes | None]:
    """The envelope with `data` moved out where it is too large, and what was moved."""
    raw = orjson.dumps(envelope.data)
    if len(raw) <= DATA_LIMIT:
        return envelope, None
    return envelope.model_copy(update={"data": {}, "raw_ref": raw_ref}), raw
