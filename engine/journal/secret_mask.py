"""Masks secrets in recorded data: `‹secret OPENAI_API_KEY›` replaces the value."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

import orjson

_TELLTALE: Final = ("secret", "token", "key", "password", "credential")
_MARK: Final = "‹secret "
_SHORTEST: Final = 4
"""Characters of the shortest value that is masked. Shorter values would mask half of every line and protect nothing."""


def has_mark(text: str) -> bool:
    """Return whether the text contains a masked secret."""
    return _MARK in text


def is_secret_name(name: str) -> bool:
    """Return whether a variable or field with this name holds a secret."""
    lowered = name.lower()
    return any(word in lowered for word in _TELLTALE)


def secrets_in(named: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """Return the secret values among environment variables or config fields, nested ones too, each with its name."""
    return {
        value: place
        for name, given in named
        for place, value in _texts(name, given)
        if len(value) >= _SHORTEST and is_secret_name(place)
    }


def _texts(place: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for name, inner in cast("dict[str, object]", value).items():
            yield from _texts(f"{place}.{name}", inner)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            yield from _texts(place, inner)


class SecretMask:
    """Replaces known secrets in everything that is recorded."""

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        """Create a mask from secret values and their names."""
        # Longest first, so that a secret that contains another one is masked completely.
        named = sorted((secrets or {}).items(), key=lambda pair: -len(pair[0]))
        self._marks = [(value, f"{_MARK}{name}›") for value, name in named]
        self._written = [orjson.dumps(value).decode()[1:-1] for value, _ in self._marks]
        """The values as they appear inside a JSON string."""

    def cover(self, text: str) -> str:
        """Return JSON text with every secret masked."""
        if not self._written or not any(written in text for written in self._written):
            return text
        # Replacing in the text itself would break the JSON if the secret is `1234` and a number contains it.
        return orjson.dumps(self.cover_value(orjson.loads(text))).decode()

    def cover_words(self, words: str) -> str:
        """Return plain text with every secret masked."""
        for value, mark in self._marks:
            words = words.replace(value, mark)
        return words

    def cover_value(self, value: Any) -> Any:
        """Return a JSON value with every secret masked."""
        if not self._marks:
            return value
        if isinstance(value, str):
            return self.cover_words(value)
        if isinstance(value, dict):
            pairs = cast("dict[str, Any]", value).items()
            return {self.cover_words(name): self.cover_value(inner) for name, inner in pairs}
        if isinstance(value, list):
            return [self.cover_value(inner) for inner in cast("list[Any]", value)]
        return value
