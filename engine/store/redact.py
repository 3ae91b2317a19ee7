"""Removes inline base64 from logged values; the bytes are stored elsewhere, as artifacts or as parts of a run."""

import base64
import binascii
import hashlib
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple, cast

MARK: Final = "content_redacted"
DIGEST: Final = "content_sha256"
_INLINE: Final = frozenset({"content_base64", "image_base64", "file_base64"})
_ADDRESSES: Final = frozenset({"url", "image_url", "file_url"})
_ATTACHMENTS: Final = "attachments"
_SPACE: Final = re.compile(r"\s+")
_URL_SAFE: Final = str.maketrans("-_", "+/")


class Replacement(NamedTuple):
    """What takes the place of inline base64."""

    value: str | None
    marks: dict[str, Any]
    """Fields beside it that say what was removed."""


def redact(value: Any, replace: Callable[[str], Replacement] | None = None) -> Any:
    """Return the value with inline base64 replaced by null and marked; the same object if there is none.

    `replace` decides what else takes its place.
    """
    replace = replace or _remove
    if isinstance(value, dict):
        return _in_mapping(cast(dict[str, Any], value), replace, attachment=False)
    if isinstance(value, list):
        return _in_list(cast(list[Any], value), replace, attachments=False)
    return value


def with_digest(text: str) -> Replacement:
    """Remove inline base64, and keep the SHA-256 of its bytes."""
    return Replacement(None, {MARK: True, DIGEST: hashlib.sha256(inline_bytes(text)).hexdigest()})


def inline_bytes(text: str) -> bytes:
    """Return the bytes of base64 text or of a data URL; the text itself if it is neither.

    Text in lines, without padding, or in the alphabet for URLs is base64, too.
    """
    body = text.partition(";base64,")[2] if text.startswith("data:") else text
    plain = _SPACE.sub("", body).translate(_URL_SAFE).rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return text.encode()


def _remove(_: str) -> Replacement:
    return Replacement(None, {MARK: True})


def _in_mapping(mapping: dict[str, Any], replace: Callable[[str], Replacement], *, attachment: bool) -> dict[str, Any]:
    # Runs for every result, so nothing is copied unless something has to be removed.
    changed: dict[str, Any] | None = None
    for key, value in mapping.items():
        marks: dict[str, Any] = {}
        if isinstance(value, str):
            if not value or not _holds_bytes(key, value, attachment=attachment):
                continue
            new, marks = replace(value)
        elif isinstance(value, dict):
            new = _in_mapping(cast(dict[str, Any], value), replace, attachment=False)
        elif isinstance(value, list):
            new = _in_list(cast(list[Any], value), replace, attachments=key == _ATTACHMENTS)
        else:
            continue
        if new is not value:
            changed = dict(mapping) if changed is None else changed
            changed[key] = new
            changed.update(marks)
    return mapping if changed is None else changed


def _in_list(items: list[Any], replace: Callable[[str], Replacement], *, attachments: bool) -> list[Any]:
    changed: list[Any] | None = None
    for index, item in enumerate(items):
        if isinstance(item, dict):
            new: Any = _in_mapping(cast(dict[str, Any], item), replace, attachment=attachments)
        elif isinstance(item, list):
            new = _in_list(cast(list[Any], item), replace, attachments=False)
        else:
            continue
        if new is not item:
            changed = list(items) if changed is None else changed
            changed[index] = new
    return items if changed is None else changed


def _holds_bytes(key: str, value: str, *, attachment: bool) -> bool:
    if key in _INLINE or (attachment and key == "content"):
        return True
    return key in _ADDRESSES and value.startswith("data:") and ";base64," in value[:256]
