"""From a file on this machine to an attachment: small ones travel with the event, large ones stay where they are."""

import base64
import errno
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from engine.intake.attachments import FILE_ROOT, INLINE_LIMIT
from engine.intake.errors import IntakeError
from engine.intake.mime import mime_type_of
from engine.protocol.content import Attachment

_SOURCE: Final = "console"
_KINDS: Final[Mapping[str, str]] = {"image": "image", "audio": "voice"}
"""Artifact types by the first half of a mime type; all others are files."""
_NO_FILE: Final = "is no regular file but a pipe, a device or a socket. Save its content to a file."


class AttachmentProblem(IntakeError):
    """A file that cannot be attached; the message says why, and what to do."""


def attachment_of(path: Path, new_id: Callable[[], str], roots: tuple[Path, ...] = ()) -> Attachment:
    """The file as an attachment. Reads it, and so belongs into a thread; never waits for a pipe to speak."""
    shown, path = str(path), path.expanduser()
    try:
        content, size = _read(path)
        name = _checked(path.name)
        key = None if content is not None else _key_of(path.resolve(strict=True), size, roots)
    except AttachmentProblem as problem:
        raise AttachmentProblem(f"{shown} {problem}") from None
    except (OSError, RuntimeError, ValueError) as error:
        raise AttachmentProblem(f"{shown} {_words(error)}") from None
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
    """The content and its size; no content where it is too much to travel."""
    # Not to block: opening a pipe would wait for its other end. What was opened is checked, not what was named.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise AttachmentProblem("is a folder. Attach the files in it one by one, or an archive of it.")
        if not stat.S_ISREG(status.st_mode):
            raise AttachmentProblem(_NO_FILE)
        if status.st_size > INLINE_LIMIT:
            return None, status.st_size
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(INLINE_LIMIT + 1)  # it may grow meanwhile, and files of /proc tell no size
    finally:
        os.close(descriptor)
    return (content, len(content)) if len(content) <= INLINE_LIMIT else (None, len(content))


def _key_of(real: Path, size: int, roots: tuple[Path, ...]) -> str:
    """The path from a root, by which the host finds the file again; a runner may see it, and no more of the path."""
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
    has, most = _mebibytes(size), _mebibytes(INLINE_LIMIT)
    if size - INLINE_LIMIT < (1 << 20) // 10:  # they would read the same
        has, most = f"{size:,} bytes", f"{most} ({INLINE_LIMIT:,} bytes)"
    limit = f"has {has}; an event carries files up to {most}"
    if not roots:
        return f"{limit}. Larger ones can stay where they are: name their folder under `file_roots` in trackside.yaml."
    return f"{limit}, and it lies under none of the folders that `file_roots` names. Move it into one, or add its own."


def _mebibytes(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB" if size % (1 << 20) else f"{size >> 20} MiB"


def _words(error: Exception) -> str:
    if isinstance(error, OSError):
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return "is not there. Check the path; it is read from the folder where Trackside was started."
        if error.errno in (errno.EACCES, errno.EPERM):
            return "may not be read. Make it readable for you."
        if error.errno == errno.ENXIO:
            return _NO_FILE
        return f"cannot be read: {error.strerror or error}."
    return "is no path that can be read."
