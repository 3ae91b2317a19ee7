"""Turns a validation error into one short sentence that names the field."""

from collections.abc import Mapping
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

Place = tuple[int | str, ...]

_REASONS: Final[Mapping[str, str]] = {
    "missing": "field required",
    "extra_forbidden": "unknown key",
    "string_type": "should be text",
    "string_too_short": "should not be empty",
    "bool_type": "should be true or false",
    "int_type": "should be an integer",
    "list_type": "should be a list",
    "dict_type": "should be an object",
    "model_type": "should be an object",
}
"""The most common pydantic errors, in the words of JSON."""

_UNION_MEMBERS: Final = frozenset({"str", "int", "float", "bool", "list[ContentElement]", "dict[str,any]"})
"""Names that pydantic inserts into a location for members of the contract's unions."""

_MANY: Final = 100
"""Listing 300,000 errors of one hostile payload would block the host's loop for 2.5 s."""

_LONGEST_STEP: Final = 60


def sentence(error: ValidationError, root: str) -> str:
    """Return the first problem, such as `data.chunk: field required`."""
    if (count := error.error_count()) > _MANY:
        return f"{root}: {count} faults"
    found: dict[Place, list[str]] = {}
    for detail in error.errors(include_url=False):
        reasons = found.setdefault(_place(detail), [])
        if (reason := _reason(detail)) not in reasons:
            reasons.append(reason)
    first = next(iter(found))
    # A union reports what each of its members missed; the one that got furthest knows what was meant.
    place = max((place for place in found if place[: len(first)] == first), key=len)
    return f"{path(root, place)}: {' or '.join(found[place])}"


def path(root: str, place: Place) -> str:
    """Return the location in the usual notation: `data.message.content[0].type`."""
    return root + "".join(f"[{step}]" if isinstance(step, int) else f".{_cut(step)}" for step in place)


def _cut(step: str) -> str:
    return step if len(step) <= _LONGEST_STEP else f"{step[:_LONGEST_STEP]}…"


def _place(detail: ErrorDetails) -> Place:
    if detail["type"] == "extra_forbidden":
        return detail["loc"]  # an unknown key may be called like a member
    return tuple(step for step in detail["loc"] if step not in _UNION_MEMBERS)


def _reason(detail: ErrorDetails) -> str:
    text = _REASONS.get(detail["type"]) or detail["msg"].removeprefix("Input ").removeprefix("String ")
    return text[:1].lower() + text[1:]
