"""Masks secrets in recorded data: `‹secret OPENAI_API_KEY›` replaces the value."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast
from urllib.parse import unquote

import orjson

_TELLTALE: Final = ("secret", "token", "key", "password", "credential")
_NUMBER_NAME: Final = re.compile(r"(secret|token|key|password|passcode|passwd|pwd|pin|credential)$", re.IGNORECASE)
"""Names of numbers that are secrets. Stricter than for text: `max_tokens: 4096` is a setting."""
_CREDENTIALS: Final = (
    re.compile(r"://[^\s/?#@:]*:(?P<value>[^\s/?#@]+)@"),
    re.compile(
        r"(?:secret|token|key|password|passwd|pwd|credential|signature)\s?=\s?[\"']?"
        r"(?P<value>(?=[^\s;,&\"']*[^a-z\s;,&\"'])[^\s;,&\"']+)",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:bearer|basic)\s(?P<value>(?=\S*\d)[\w.~+/=-]{8,})", re.IGNORECASE),
    re.compile(r"(?P<value>\b(?:sk|pk|rk)-[\w-]{16,}|\bgh[oprsu]_\w{20,}|\bxox[a-z]-[\w-]{10,}|\bAKIA\w{16}\b)"),
)
"""Credentials inside a value whose name does not tell: in an address, a connection string, a header, or a known form.

A word of letters only after `key=` is more often an example than a secret. Each pattern takes a time that grows only
with the length of the text, whatever it contains.
"""
_LONGEST_SEARCHED: Final = 65_536
"""Characters of a value that are searched for credentials."""
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
        for place, text in _texts(name, given)
        for value in _secrets_of(place, text)
        if len(value) >= _SHORTEST
    }


def _secrets_of(place: str, text: str) -> Iterator[str]:
    """Yield the whole text if its name tells that it is a secret, else the credentials inside it."""
    if is_secret_name(place):
        yield text
        return
    for pattern in _CREDENTIALS:
        for found in pattern.finditer(text[:_LONGEST_SEARCHED]):
            yield found["value"]
            yield unquote(found["value"])


def _texts(place: str, value: object) -> Iterator[tuple[str, str]]:
    """Yield every text in a value, and every number that is a secret, with its name."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if _NUMBER_NAME.search(place):
            yield place, str(value)
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
        self._mark_of = dict(self._marks)

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
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._mark_of.get(str(value), value)
        return value

    def stream(self) -> "StreamMask | None":
        """Return a mask for one streamed text; None if there is nothing to mask."""
        return StreamMask(self._marks) if self._marks else None


class StreamMask:
    """Masks secrets in a text that comes in fragments.

    The end of a fragment that may begin a secret is held back until the next fragment decides. Up to two characters of
    a secret stay readable in front of its mark.
    """

    def __init__(self, marks: Iterable[tuple[str, str]]) -> None:
        self._mark_of = dict(marks)
        self._whole = re.compile("|".join(re.escape(value) for value in self._mark_of))
        self._longest = max(map(len, self._mark_of))
        self._recent = ""
        """The end of the text that was returned: a secret may have begun in it."""
        self.held = ""
        """Text that was added and not yet returned."""

    def add(self, fragment: str) -> str:
        """Return the text that may be recorded now."""
        text = self._recent + self.held + fragment
        done, open_from = len(self._recent), 0
        parts: list[str] = []
        for found in self._whole.finditer(text):
            parts += (text[done : found.start()], self._mark_of[found[0]])
            done = open_from = found.end()
        end = max(done, len(text) - self._open_length(text[open_from:]))
        parts.append(text[done:end])
        self.held = text[end:]
        self._recent = text[open_from:end][-self._longest :]
        return "".join(parts)

    def take_held(self) -> str:
        """Return the text that is held back, because no fragment follows."""
        held, self.held, self._recent = self.held, "", ""
        return held

    def _open_length(self, text: str) -> int:
        """Return the length of the longest end of a text that begins a secret."""
        longest = 0
        for value in self._mark_of:
            shortest = min(_SHORTEST - 1, len(value) // 2)
            place = max(0, len(text) - len(value) + 1)
            while (place := text.find(value[0], place)) >= 0 and len(text) - place >= max(shortest, longest + 1):
                if value.startswith(text[place:]):
                    longest = len(text) - place
                    break
                place += 1
        return longest
