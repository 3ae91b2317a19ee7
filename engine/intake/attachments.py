"""Attachments of an event, files that become attachments, and event data that is too large to pass on."""

import base64
import binascii
import errno
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote_to_bytes

import orjson

from engine.intake.envelope import EventEnvelope, EventProblem
from engine.intake.errors import IntakeError
from engine.intake.mime import mime_type_of
from engine.protocol.content import Attachment
from engine.rooted_files import is_file_in_root

INLINE_LIMIT: Final = 1024 * 1024
FILE_ROOT: Final = "file_root"
"""The source of an attachment whose bytes stay in a file; its `id` is the path relative to a file root."""
DATA_LIMIT: Final = 64 * 1024
"""Bytes of JSON in an event's `data`; larger data is stored as an artifact."""


def is_file_reference(attachment: Attachment) -> bool:
    """Whether the attachment's bytes are a file under one of the project's file roots."""
    return attachment.source == FILE_ROOT and bool(attachment.id) and attachment.content is None


def find_root(attachment: Attachment, roots: tuple[Path, ...]) -> Path | None:
    """Return the file root that holds the attachment's file, or None. A path that leaves its root does not count."""
    return next((root.resolve() for root in roots if is_file_in_root(root, attachment.id or "")), None)


def decode_content(attachment: Attachment) -> bytes | None:
    """Decode the attachment's content from base64 or a data URL. Returns None if it has no content."""
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
            f"input.attachments: {attachment.artifact_id}: the content is neither base64 nor a data URL"
        ) from None


def check_attachments(envelope: EventEnvelope, roots: tuple[Path, ...]) -> None:
    """Raise EventProblem if an attachment cannot become an artifact. Called before anything is recorded."""
    for attachment in envelope.input.attachments:
        if is_file_reference(attachment) and find_root(attachment, roots) is None:
            raise EventProblem(
                f"input.attachments: {attachment.artifact_id}: no file {attachment.id} under the project's "
                "file_roots. Attach it again from its current place."
            )
        content = decode_content(attachment)
        if content is not None and len(content) > INLINE_LIMIT:
            raise EventProblem(
                f"input.attachments: {attachment.artifact_id}: {len(content)} bytes exceed the limit for inline "
                f"content ({INLINE_LIMIT} bytes). Use a url instead."
            )


def move_large_data_out(envelope: EventEnvelope, raw_ref: str) -> tuple[EventEnvelope, bytes | None]:
    """Return the envelope without its `data` if that is too large, and the removed data as JSON."""
    raw = orjson.dumps(envelope.data)
    if len(raw) <= DATA_LIMIT:
        return envelope, None
    return envelope.model_copy(update={"data": {}, "raw_ref": raw_ref}), raw


_SOURCE: Final = "console"
_KINDS: Final[Mapping[str, str]] = {"image": "image", "audio": "voice"}
"""Artifact types by the first half of a MIME type; all others are files."""
_NOT_REGULAR: Final = "is not a regular file but a pipe, a device or a socket. Save its content to a file."


class AttachmentProblem(IntakeError):
    """A file that cannot be attached. The message gives the cause and the fix."""


def read_attachment(path: Path, new_id: Callable[[], str], roots: tuple[Path, ...] = ()) -> Attachment:
    """Read a file into an attachment. Blocks on the disk, so call it in a thread; never blocks on a pipe."""
    shown, path = str(path), path.expanduser()
    try:
        content, size = _read(path)
        name = _checked(path.name)
        key = None if content is not None else _key_of(path.resolve(strict=True), size, roots)
    except AttachmentProblem as problem:
        raise AttachmentProblem(f"{shown} {problem}") from None
    except (OSError, RuntimeError, ValueError) as error:
        raise AttachmentProblem(f"{shown} {_reason(error)}") from None
    mime_type = mime_type_of(name)
    return Attachment(
        artifact_id=new_id(),
        artifact_type=_KINDS.get(mime_type.partition("/")[0], "file"),
        source=FILE_ROOT if content is None else _SOURCE,
        mime_type=mime_type,
        name=name,
        size=size,
        id=key,
        content=None if content is None else base64.b64encode(content).decode(),
    )


def _read(path: Path) -> tuple[bytes | None, int]:
    """Return the content and its size; the content is None if it is too large for an event."""
    # O_NONBLOCK: opening a pipe would wait for its other end. The opened file is checked, not the path.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise AttachmentProblem("is a folder. Attach the files in it one by one, or an archive of it.")
        if not stat.S_ISREG(status.st_mode):
            raise AttachmentProblem(_NOT_REGULAR)
        if status.st_size > INLINE_LIMIT:
            return None, status.st_size
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(INLINE_LIMIT + 1)  # the file may grow meanwhile, and files in /proc report no size
    finally:
        os.close(descriptor)
    return (content, len(content)) if len(content) <= INLINE_LIMIT else (None, len(content))


def _key_of(real: Path, size: int, roots: tuple[Path, ...]) -> str:
    """Return the path relative to a file root. The host finds the file by it, and a runner sees no more than it."""
    for root in roots:
        if real.is_relative_to(base := root.resolve()):
            return _checked(real.relative_to(base).as_posix())
    raise AttachmentProblem(_too_large(size, roots))


def _checked(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise AttachmentProblem("has a name that is not UTF-8. Rename it.") from None
    return text


def _too_large(size: int, roots: tuple[Path, ...]) -> str:
    shown_size, shown_limit = _mebibytes(size), _mebibytes(INLINE_LIMIT)
    if size - INLINE_LIMIT < (1 << 20) // 10:  # both would be shown as the same number
        shown_size, shown_limit = f"{size:,} bytes", f"{shown_limit} ({INLINE_LIMIT:,} bytes)"
    limit = f"has {shown_size}; an event carries files up to {shown_limit}"
    if not roots:
        return f"{limit}. To attach a larger file, add its folder to `file_roots` in trackside.yaml."
    return f"{limit}. Move it into a folder of `file_roots`, or add its folder there."


def _mebibytes(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB" if size % (1 << 20) else f"{size >> 20} MiB"


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return "does not exist. Check the path; it is relative to the folder in which Trackside was started."
        if error.errno in (errno.EACCES, errno.EPERM):
            return "cannot be read: permission denied. Change its permissions."
        if error.errno == errno.ENXIO:
            return _NOT_REGULAR
        return f"cannot be read: {error.strerror or error}."
    return "is not a valid path."
