"""Removes inline base64 from logged values; the bytes are stored as artifacts."""

from typing import Any, Final, cast

MARK: Final = "content_redacted"
_INLINE: Final = frozenset({"content_base64", "image_base64", "file_base64"})
_ADDRESSES: Final = frozenset({"url", "image_url", "file_url"})
_ATTACHMENTS: Final = "attachments"


def redact(value: Any) -> Any:
    """Return the value with inline base64 replaced by null and marked; the same object if there is none."""
    if isinstance(value, dict):
        return _in_mapping(cast(dict[str, Any], value), attachment=False)
    if isinstance(value, list):
        return _in_list(cast(list[Any], value), attachments=False)
    return value


def _in_mapping(mapping: dict[str, Any], *, attachment: bool) -> dict[str, Any]:
    # Runs for every result, so nothing is copied unless something has to be removed.
    changed: dict[str, Any] | None = None
    for key, value in mapping.items():
        if isinstance(value, str):
            if not value or not _holds_bytes(key, value, attachment=attachment):
                continue
            new, gone = None, True
        elif isinstance(value, dict):
            new, gone = _in_mapping(cast(dict[str, Any], value), attachment=False), False
        elif isinstance(value, list):
            new, gone = _in_list(cast(list[Any], value), attachments=key == _ATTACHMENTS), False
        else:
            continue
        if new is not value:
            changed = dict(mapping) if changed is None else changed
            changed[key] = new
            if gone:
                changed[MARK] = True
    return mapping if changed is None else changed


def _in_list(items: list[Any], *, attachments: bool) -> list[Any]:
    changed: list[Any] | None = None
    for index, item in enumerate(items):
        if isinstance(item, dict):
            new: Any = _in_mapping(cast(dict[str, Any], item), attachment=attachments)
        elif isinstance(item, list):
            new = _in_list(cast(list[Any], item), attachments=False)
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
