"""A validation error in one short sentence that names the field."""

from collections.abc import Mapping
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

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
"""The commonest of pydantic's findings, in the words of someone who writes JSON."""


def sentence(error: ValidationError, root: str) -> str:
    """The first fault, as in `data.chunk: field required`."""
    found: dict[tuple[int | str, ...], list[str]] = {}
    for detail in error.errors(include_url=False, include_context=False, include_input=False):
        reasons = found.setdefault(_place(detail), [])
        if (reason := _reason(detail)) not in reasons:
            reasons.append(reason)
    first = next(iter(found))
    # A union reports what each of its members missed; the one that got furthest knows what was meant.
    place = max((place for place in found if place[: len(first)] == first), key=len)
    return f"{path(root, place)}: {' or '.join(found[place])}"


def path(root: str, place: tuple[int | str, ...]) -> str:
    """The place as people write it: `data.message.content[0].type`."""
    return root + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)


def _place(detail: ErrorDetails) -> tuple[int | str, ...]:
    """Where, without the names that pydantic gives to the members of a union."""
    return tuple(step for step in detail["loc"] if step not in _MEMBERS)


def _reason(detail: ErrorDetails) -> str:
    text = _REASONS.get(detail["type"]) or detail["msg"].removeprefix("Input ").removeprefix("String ")
    return text[:1].lower() + text[1:]


_MEMBERS: Final = frozenset({"str", "int", "float", "list[ContentElement]", "dict[str,any]"})
