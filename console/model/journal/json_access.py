"""JSON values of journal entries as text."""

from collections.abc import Sequence
from typing import Any, cast

import orjson

from engine.events import mapping


def array(value: object) -> Sequence[Any]:
    """A JSON array; empty if the value is something else."""
    return cast("list[Any]", value) if isinstance(value, list) else ()


def words(value: object) -> str:
    """Text as it is, None as nothing, another JSON value as compact JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else orjson.dumps(value).decode()


def pretty(value: object) -> str:
    """The same, with JSON indented over several lines."""
    if isinstance(value, str) or value is None:
        return value or ""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def arguments(value: object) -> str:
    """The arguments of a call: `city=Kyoto, days=2`."""
    given = mapping(value)
    return ", ".join(f"{key}={words(each)}" for key, each in given.items()) if given else words(value or None)
