"""What came with an event: attachments as bytes, and data too large to hand on."""

import base64
import binascii
from pathlib import Path
from typing import Final
from urllib.parse import unquote_to_bytes

import orjson

from engine.intake.envelope import EventEnvelope, EventProblem
from engine.protocol.content import Attachment

INLINE_LIMIT: Final = 1024 * 1024
FILE_ROOT: Final = "file_root"
"""The source of an attachment whose bytes stay in a file: its `id` is the path from one of the project's roots."""
DATA_LIMIT: Final = 64 * 1024
"""Bytes of JSON that an event's `data` may have; more goes to an artifact."""


def is_in_file(attachment: Attachment) -> bool:
    """Whether its bytes are a file under one of the project's roots."""
    return attachment.source == FILE_ROOT and bool(attachment.id) and attachment.content is None


def root_of(attachment: Attachment, roots: tuple[Path, ...]) -> Path | None:
    """The root under which the attachment's file lies; what leads out of a root, by any way, is not there."""
    for root in roots:
        real = root.resolve()
        try:
            path = (real / (attachment.id or "")).resolve()
            if path.is_relative_to(real) and path.is_file():
                return real
        except (OSError, RuntimeError, ValueError):
            continue
    return None


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


def check_attachments(envelope: EventEnvelope, roots: tuple[Path, ...]) -> None:
    """Refuse what could not become an artifact, before anything is recorded."""
    for attachment in envelope.input.attachments:
        if is_in_file(attachment) and root_of(attachment, roots) is None:
            raise EventProblem(
                f"input.attachments: {attachment.artifact_id}: there is no file {attachment.id} under the project's "
                "file_roots. Attach it again from where it is now."
            )
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
