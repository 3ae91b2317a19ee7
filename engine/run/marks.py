"""Secrets are recorded as marks: `‹secret OPENAI_API_KEY›` in place of the key."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson

_TELLTALE: Final = ("secret", "token", "key", "password", "credential")
_SHORTEST: Final = 4
"""A value shorter than this would black out half of every line and protect nothing."""


def is_secret_name(name: str) -> bool:
    """Whether a variable or field of this name holds something that must not be shown."""
    lowered = name.lower()
    return any(word in lowered for word in _TELLTALE)


def secrets_in(named: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """The secret values among named ones: environment variables or config fields."""
    return {
        name: value
        for name, value in named
        if isinstance(value, str) and len(value) >= _SHORTEST and is_secret_name(name)
    }


class Marks:
    """Replaces known secrets in JSON text."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        # The value as it stands inside a JSON string; longest first, so that one secret within another is covered.
        self._marks = sorted(
            ((orjson.dumps(value).decode()[1:-1], f"‹secret {name}›") for name, value in secrets.items()),
            key=lambda pair: -len(pair[0]),
        )

    def cover(self, text: str) -> str:
        """The text with every secret as its mark."""
        for value, mark in self._marks:
            if value in text:
                text = text.replace(value, mark)
        return text

    def cover_value(self, value: Any) -> Any:
        """The same for a JSON value."""
        return orjson.loads(self.cover(orjson.dumps(value).decode())) if self._marks else value
