"""Parameters of a tool against its JSON Schema, at the top level: what is required, and the type of each."""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

Values = dict[str, Any]

_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (isinstance(value, int) and not isinstance(value, bool)) or _is_whole(value),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def check_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """For validators: refuses what could not be checked against."""
    if schema.get("type", "object") != "object":
        raise ValueError("must be a JSON Schema of type object")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in cast("list[Any]", required)):
        raise ValueError("must have names in its required")
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or not all(
        isinstance(each, dict) for each in cast("Values", properties).values()
    ):
        raise ValueError("must have a JSON Schema for each parameter in its properties")
    for name in cast("Values", properties):
        if any(kind not in tuple(_TYPES) for kind in _kinds(cast("Values", properties), name)):
            raise ValueError(f"has a type for {name} that is none of {', '.join(_TYPES)}")
    return schema


def fault(schema: Mapping[str, Any], parameters: Mapping[str, Any]) -> str | None:
    """What is wrong with the parameters, or nothing."""
    for name in schema.get("required", ()):
        if name not in parameters:
            return f"parameters.{name} is missing"
    for name, value in parameters.items():
        kinds = _kinds(schema.get("properties", {}), name)
        if kinds and not any(_TYPES[kind](value) for kind in kinds):
            return f"parameters.{name} must be of type {' or '.join(kinds)}"
    return None


def _kinds(properties: Mapping[str, Any], name: str) -> list[Any]:
    """The types that a parameter may have; none: any."""
    kind: Any = properties.get(name, {}).get("type", [])
    return cast("list[Any]", kind) if isinstance(kind, list) else [kind]


def _is_whole(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()
