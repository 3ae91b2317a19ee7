"""A JSON value in few characters, a path in words, and what is copied of them."""

import json
import re
from collections.abc import Sequence
from itertools import islice
from typing import Any, Final, TypeGuard, cast

import orjson

from console.model.inspect.folds import Key, Path
from console.model.safe import one_line
from console.model.words import number

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORTH_A_COUNT: Final = 200
"""Text that is longer says how long it is, where it is cut."""
_LOOKED_AT: Final = 40
"""Children that can matter in one line; a bound on the work, not on what is shown."""


def holds_more(value: object) -> TypeGuard[dict[str, Any] | list[Any]]:
    """Whether it is an object or array with something in it."""
    return isinstance(value, dict | list) and bool(cast("object", value))


def keys_of(value: Any) -> Sequence[Key]:
    """The keys or indexes of a container."""
    return list(cast("dict[str, object]", value)) if isinstance(value, dict) else range(len(value))


def kind_of(value: object) -> str:
    """`object`, `array`, `string`, `number`, or `word` for true, false and null."""
    if isinstance(value, str):
        return "string"
    if value is None or isinstance(value, bool):
        return "word"
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list | tuple) else "number"


def scalar(value: object, limit: int = 300) -> str:
    """A leaf as JSON writes it, made harmless; long text is cut and says how long it is."""
    if isinstance(value, str):
        if len(value) + 2 <= limit:
            return f'"{one_line(value, limit)}"'
        told = "" if len(value) <= _WORTH_A_COUNT else f" {len(value):,}" + (" characters" if limit >= 40 else "")
        return f'"{one_line(value, max(1, limit - len(told) - 2))}{told}'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return one_line(_number(value), limit)


def glance(value: Any, limit: int) -> str | None:
    """The whole value on one line; nothing where it takes more than that."""
    text = _glance(value, limit)
    return text if text is not None and len(text) <= limit else None


def extent(value: Any) -> str:
    """How much there is in a container."""
    many = len(cast("Sequence[object]", value))
    return f"{{{number(many, 'key')}}}" if isinstance(value, dict) else f"[{number(many, 'item')}]"


def short(value: Any, limit: int) -> str:
    """A value on one line, whatever it is: whole, or its extent, or cut."""
    if isinstance(value, dict | list):
        return glance(cast("object", value), limit) or extent(value)
    return scalar(value, limit)


def path_text(path: Path, start: str = "$") -> str:
    """`$.arguments.ids[0]`; a key that is no name is written as JSON writes it."""
    parts = [
        f"[{key}]" if isinstance(key, int) else f".{key}" if _NAME.fullmatch(key) else f"[{_json(key)}]" for key in path
    ]
    return start + "".join(parts)


def json_text(value: object) -> str:
    """A value as JSON that a person can read."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        # Numbers over 64 bits, which the slower one takes.
        return json.dumps(value, ensure_ascii=False, indent=2)


def _glance(value: Any, left: int) -> str | None:
    if left <= 0:
        return None
    if isinstance(value, str):
        return scalar(value, left) if len(value) + 2 <= left else None
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value)
        parts = _parts([(f"{_plain_key(key)}: ", item) for key, item in islice(pairs.items(), _LOOKED_AT)], left)
        return None if parts is None or len(pairs) > _LOOKED_AT else "{" + parts + "}"
    if isinstance(value, list):
        items = cast("list[object]", value)
        parts = _parts([("", item) for item in islice(items, _LOOKED_AT)], left)
        return None if parts is None or len(items) > _LOOKED_AT else "[" + parts + "]"
    return scalar(value, left)


def _parts(pairs: Sequence[tuple[str, object]], left: int) -> str | None:
    parts: list[str] = []
    left -= 2
    for key, item in pairs:
        left -= len(key) + (2 if parts else 0)
        part = _glance(item, left)
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
