"""Turns pydantic's errors about a file into key paths and sentences."""

from collections.abc import Mapping
from typing import Final

from pydantic import ValidationError

from engine.runners.document import KeyPath

UNKNOWN: Final = "unknown key"
_WORDS: Final[Mapping[str, str]] = {
    "missing": "is missing",
    "extra_forbidden": UNKNOWN,
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be an integer",
    "int_parsing": "must be an integer",
    "float_type": "must be a number",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
}


def faults(error: ValidationError) -> list[tuple[KeyPath, str]]:
    """Yield every problem in pydantic's order. No text quotes a value, which may be a secret."""
    return [
        (detail["loc"], _WORDS.get(detail["type"]) or _in_our_words(detail["msg"]))
        for detail in error.errors(include_url=False, include_input=False)
    ]


def _in_our_words(message: str) -> str:
    text = message.removeprefix("Input ").removeprefix("String ").removeprefix("Value error, ")
    return f"must{text.removeprefix('should')}" if text.startswith("should ") else text[:1].lower() + text[1:]
