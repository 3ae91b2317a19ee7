"""JSON values as text on one line, and a search in them."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final, TypeGuard, cast

import orjson

from console.model.text.folds import Key, Path
from console.model.text.safe import one_line
from console.model.text.units import number

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MIN_COUNTED_CHARS: Final = 200
"""Longer text shows its length if it is cut."""
_MAX_SUMMARY_ITEMS: Final = 40
"""Children that are read for a one-line summary; a limit on the work."""


def has_children(value: object) -> TypeGuard[dict[str, Any] | list[Any]]:
    """Whether a value is a non-empty object or array."""
    return isinstance(value, dict | list) and bool(cast("object", value))


def keys_of(value: Any) -> Sequence[Key]:
    """Return the keys or indexes of a container."""
    return list(cast("dict[str, object]", value)) if isinstance(value, dict) else range(len(value))


def kind_of(value: object) -> str:
    """Return `object`, `array`, `string`, `number`, or `word` for true, false and null."""
    if isinstance(value, str):
        return "string"
    if value is None or isinstance(value, bool):
        return "word"
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list | tuple) else "number"


def scalar_text(value: object, limit: int = 300) -> str:
    """Return a leaf as safe JSON of at most `limit` characters; a long text that is cut shows its length."""
    if isinstance(value, str):
        if len(value) + 2 <= limit:
            return f'"{one_line(value, limit)}"'
        length = "" if len(value) <= _MIN_COUNTED_CHARS else f" {len(value):,}" + (" characters" if limit >= 40 else "")
        return f'"{one_line(value, max(1, limit - len(length) - 2))}{length}'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return one_line(_number(value), limit)


def one_line_json(value: Any, limit: int) -> str | None:
    """Return the whole value on one line, or None if it is longer than `limit` characters."""
    text = _short_json(value, limit)
    return text if text is not None and len(text) <= limit else None


def size_words(value: Any) -> str:
    """Return the size of a container: `{3 keys}`, `[1 item]`."""
    count = len(cast("Sequence[object]", value))
    return f"{{{number(count, 'key')}}}" if isinstance(value, dict) else f"[{number(count, 'item')}]"


def short_text(value: Any, limit: int) -> str:
    """Return a value on one line: whole, as its size, or cut."""
    if isinstance(value, dict | list):
        return one_line_json(cast("object", value), limit) or size_words(value)
    return scalar_text(value, limit)


def path_text(path: Path, start: str = "$") -> str:
    """Return a path as text: `$.arguments.ids[0]`; a key that is not an identifier is quoted."""
    parts = [
        f"[{key}]" if isinstance(key, int) else f".{key}" if _NAME.fullmatch(key) else f"[{_json(key)}]" for key in path
    ]
    return start + "".join(parts)


def json_text(value: object) -> str:
    """Return a value as indented JSON."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        # The slower encoder takes numbers over 64 bits.
        return json.dumps(value, ensure_ascii=False, indent=2)


def _short_json(value: Any, left: int) -> str | None:
    if left <= 0:
        return None
    if isinstance(value, str):
        return scalar_text(value, left) if len(value) + 2 <= left else None
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value)
        parts = _parts(
            [(f"{_plain_key(key)}: ", item) for key, item in islice(pairs.items(), _MAX_SUMMARY_ITEMS)], left
        )
        return None if parts is None or len(pairs) > _MAX_SUMMARY_ITEMS else "{" + parts + "}"
    if isinstance(value, list):
        items = cast("list[object]", value)
        parts = _parts([("", item) for item in islice(items, _MAX_SUMMARY_ITEMS)], left)
        return None if parts is None or len(items) > _MAX_SUMMARY_ITEMS else "[" + parts + "]"
    return scalar_text(value, left)


def _parts(pairs: Sequence[tuple[str, object]], left: int) -> str | None:
    parts: list[str] = []
    left -= 2
    for key, item in pairs:
        left -= len(key) + (2 if parts else 0)
        part = _short_json(item, left)
        if part is None:
            return None
        left -= len(part)
        parts.append(key + part)
    return ", ".join(parts)


def _number(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return repr(value)


def _plain_key(key: str) -> str:
    return key if _NAME.fullmatch(key) else _json(one_line(key, 60))


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_ENCODED_LEVELS: Final = 3
"""Levels that are searched as encoded text first: 20 ms per megabyte instead of 150, but once per level."""
_ENCODED_ITEMS: Final = 500
"""Children of a wide container that are searched as encoded text at once."""
_PUNCTUATION: Final = frozenset(",:[]{}")
"""Characters that encoded text contains between its values."""
_STRING: Final = re.compile(r'"((?:[^"\\]|\\.)*+)"')


def find_paths(value: Any, start: Path, wanted: str) -> Iterator[Path]:
    """Yield the paths after `start` whose key or leaf contains a lower-case text."""
    written = json.dumps(wanted, ensure_ascii=False)[1:-1]
    trail = list(start)
    stack: list[tuple[Any, Iterator[Key]]] = []
    inner = value
    for key in start:
        keys = keys_of(inner)
        stack.append((inner, _keys_that_may_match(inner, keys[keys.index(key) + 1 :], written)))
        inner = inner[key]
    if has_children(inner):
        stack.append((inner, _keys_that_may_match(inner, keys_of(inner), written)))
    else:
        trail.pop()
    while stack:
        container, keys = stack[-1]
        for key in keys:
            item = container[key]
            is_branch = has_children(item)
            if (isinstance(key, str) and wanted in key.lower()) or (not is_branch and wanted in _leaf_text(item)):
                yield (*trail, key)
            if is_branch and (len(trail) >= _ENCODED_LEVELS or _may_contain(item, written)):
                stack.append((item, _keys_that_may_match(item, keys_of(item), written)))
                trail.append(key)
                break
        else:
            stack.pop()
            if trail:
                trail.pop()


def _keys_that_may_match(container: Any, keys: Sequence[Key], written: str) -> Iterator[Key]:
    """Yield the keys of a container; of a wide one without those of children that do not contain the text."""
    if len(keys) <= _ENCODED_ITEMS:
        yield from keys
        return
    for start in range(0, len(keys), _ENCODED_ITEMS):
        some = keys[start : start + _ENCODED_ITEMS]
        children: list[object] = [container[key] for key in some]
        if isinstance(container, dict):
            children += some
        if _may_contain(children, written):
            yield from some


def _may_contain(value: object, written: str) -> bool:
    try:
        text = orjson.dumps(value).decode().lower()
    except TypeError:
        return True  # numbers over 64 bits need the walk
    if written not in text or not _PUNCTUATION.issuperset(written):
        return written in text
    return any(written in empty and empty in text for empty in ("[]", "{}")) or any(
        written in string for string in _STRING.findall(text)
    )


def _leaf_text(value: object) -> str:
    return value.lower() if isinstance(value, str) else scalar_text(value)
