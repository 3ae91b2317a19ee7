"""Secrets are recorded as marks: `‹secret OPENAI_API_KEY›` in place of the key."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

import orjson

_TELLTALE: Final = ("secret", "token", "key", "password", "credential")
_MARK: Final = "‹secret "
_SHORTEST: Final = 4
"""A value shorter than this would black out half of every line and protect nothing."""


def has_mark(text: str) -> bool:
    """Whether a secret was covered in it."""
    return _MARK in text


def is_secret_name(name: str) -> bool:
    """Whether a variable or field of this name holds something that must not be shown."""
    lowered = name.lower()
    return any(word in lowered for word in _TELLTALE)


def secrets_in(named: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """The secret values among environment variables or config fields, each with its name; also within objects."""
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


class Marks:
    """Replaces known secrets wherever something is recorded."""

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        """`secrets` gives each value its name."""
        # Longest first, so that one secret within another is covered.
        named = sorted((secrets or {}).items(), key=lambda pair: -len(pair[0]))
        self._marks = [(value, f"{_MARK}{name}›") for value, name in named]
        self._written = [orjson.dumps(value).decode()[1:-1] for value, _ in self._marks]
        """The values as they stand inside a JSON string."""

    def cover(self, text: str) -> str:
        """JSON text with every secret as its mark."""
        if not self._written or not any(written in text for written in self._written):
            return text
        # Replacing in the text itself would break it where the secret is `1234` and a number holds it.
        return orjson.dumps(self.cover_value(orjson.loads(text))).decode()

    def cover_words(self, words: str) -> str:
        """The same for text that is not JSON."""
        for value, mark in self._marks:
            words = words.replace(value, mark)
        return words

    def cover_value(self, value: Any) -> Any:
        """The same for a JSON value."""
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
