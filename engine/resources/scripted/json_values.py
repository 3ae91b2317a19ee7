"""When two JSON values are the same."""

from collections.abc import Mapping
from typing import Any, cast


def same(one: Any, other: Any) -> bool:
    """Equal as JSON is: 1 is 1.0, but not true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        left, right = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
        return left.keys() == right.keys() and holds(left, right)
    if isinstance(one, list) and isinstance(other, list):
        items, others = cast("list[Any]", one), cast("list[Any]", other)
        return len(items) == len(others) and all(same(*pair) for pair in zip(items, others, strict=True))
    return one == other


def holds(values: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether every wanted key is there with the same value."""
    return all(key in values and same(values[key], value) for key, value in wanted.items())
