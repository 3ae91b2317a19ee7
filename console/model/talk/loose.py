"""An entry's data, read without trust: what has not the shape it should have counts as not there."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import orjson

NOTHING: Final[Mapping[str, Any]] = {}


def parsed(data: str) -> Mapping[str, Any]:
    """The object that a JSON text holds."""
    try:
        return mapping(orjson.loads(data))
    except ValueError:
        return NOTHING


def mapping(value: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else NOTHING


def items(value: object) -> Sequence[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else ()


def words(value: object) -> str:
    """Text as it is, nothing for nothing, the rest as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else orjson.dumps(value).decode()


def text_of(content: object, joiner: str = "") -> str:
    """The text of a message's content, as the engine reads it."""
    from engine.api import text_of as read  # noqa: PLC0415  (it is heavy, and loaded long before anything is said)

    return read(content, joiner)


def pretty(value: object) -> str:
    """The same over as many lines as it wants."""
    if isinstance(value, str) or value is None:
        return value or ""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def arguments(value: object) -> str:
    """What a tool was given: `city=Kyoto, days=2`."""
    given = mapping(value)
    return ", ".join(f"{key}={words(each)}" for key, each in given.items()) if given else words(value or None)
