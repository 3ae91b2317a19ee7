"""Converts the arguments of a call to plain JSON, or refuses them with the location of the problem."""

import math
from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from engine.protocol.errors import AgentAPIException, ErrorCode

MAX_DEPTH: Final = 100
_FRAME: Final = 1
"""Leaves one level for the call's own frame, which the host counts as well."""
_ARGUMENT: Final = _FRAME + 2
"""The level of an argument of a call."""


def plain(action: str, arguments: Mapping[str, Any], level: int = _ARGUMENT) -> dict[str, Any]:
    """Convert to plain JSON values: models become objects, tuples lists, half surrogate pairs U+FFFD.

    `level` is how deep a value lies in its frame.
    """
    return {name: _plain(value, f"{action}: {name}", level) for name, value in arguments.items()}


def _plain(value: object, place: str, depth: int) -> Any:
    if value is None or isinstance(value, str | int | float):
        return _scalar(value, place)
    if isinstance(value, BaseModel):
        return _plain(_dumped(value, place), place, depth)
    if not isinstance(value, dict | list | tuple):
        raise _refused(place, f"a {type(value).__name__} is not JSON")
    if depth > MAX_DEPTH:
        raise _refused(place.partition("[")[0], f"deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        return _object(cast("dict[object, object]", value), place, depth)
    items = cast("list[object]", value)
    return [_plain(item, f"{place}[{index}]", depth + 1) for index, item in enumerate(items)]


def _scalar(value: str | float | None, place: str) -> str | float | None:
    """Convert enums and other subclasses to their value."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return _integer(value, place)
    if not math.isfinite(value):
        raise _refused(place, f"{value} is not JSON")
    return float(value)


def _object(value: dict[object, object], place: str, depth: int) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise _refused(place, f"the key {key!r} is not text")
        out[_text(key)] = _plain(item, f"{place}[{key!r}]", depth + 1)
    return out


def _text(value: str) -> str:
    if value.isascii():
        return str.__str__(value)
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _integer(value: int, place: str) -> int:
    # JSON readers disagree above this: some round, some refuse.
    if not -(2**63) <= value < 2**64:
        raise _refused(place, "an integer beyond 64 bits")
    return int(value)


def _dumped(value: BaseModel, place: str) -> dict[str, Any]:
    try:
        return value.model_dump(mode="json", exclude_unset=True)
    except (PydanticSerializationError, RecursionError, ValueError) as error:
        raise _refused(place, f"{type(value).__name__} cannot be encoded: {error}") from error


def _refused(place: str, why: str) -> AgentAPIException:
    return AgentAPIException.of(ErrorCode.INVALID_ARGUMENT, f"{place}: {why}")
