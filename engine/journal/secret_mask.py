"""Masks secrets in recorded data: `‹secret OPENAI_API_KEY›` replaces the value."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from typing import Any, Final, cast
from urllib.parse import unquote

import orjson

from engine.store.json_text import encode

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
_MAX_RANGES: Final = 1_000
_SHORTEST_IN_NAME: Final = 8
"""Characters of the shortest secret that is searched for in ids and keys."""


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
    """Replaces known secrets in everything that is recorded or shown."""

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        """Create a mask from secret values and their names."""
        self.secrets: Mapping[str, str] = {}
        """The name of each value. No two values have the same name, so that each mark stands for one value."""
        self.learn(secrets or {})

    def learn(self, secrets: Mapping[str, str]) -> None:
        """Mask more secrets from now on. Marks that were written before keep their meaning."""
        if self.secrets and secrets.keys() <= self.secrets.keys():
            return
        new = {value: name for value, name in secrets.items() if value not in self.secrets}
        self.secrets = _with_unique_names({**self.secrets, **new})
        # Longest first, so that a secret that contains another one is masked completely.
        named = sorted(self.secrets.items(), key=lambda pair: -len(pair[0]))
        marks = [(value, f"{_MARK}{name}›") for value, name in named]
        # In this order, because another thread may be masking: a value that is searched for must have its mark.
        self._mark_of = dict(marks)
        self._value_of = {mark: value for value, mark in marks}
        self._marks = marks
        self._written = [orjson.dumps(value).decode()[1:-1] for value, _ in marks]
        """The values as they appear inside a JSON string."""
        for pattern in ("_values", "_values_and_marks", "_known_marks"):
            self.__dict__.pop(pattern, None)

    def cover(self, text: str) -> str:
        """Return JSON text with every secret masked."""
        if not self._written or not any(written in text for written in self._written):
            return text
        # Replacing in the text itself would break the JSON if the secret is `1234` and a number contains it.
        return orjson.dumps(self.cover_value(orjson.loads(text))).decode()

    def cover_words(self, words: str) -> str:
        """Return plain text with every secret masked. Marks in the text stay as they are."""
        if not any(value in words for value in self._mark_of):
            return words
        return self._values_and_marks.sub(self._replacement, words)

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

    def put_back(self, edited: Any, original: Any = None) -> Any:
        """Return a masked JSON value that a user has edited, with its secrets in place of their marks.

        `original` is the value before it was masked. What the user left as it was becomes the original again, so that a
        number stays a number. A mark that the user changed is kept as typed.
        """
        return self._put_back(edited, self.cover_value(original), original) if self._marks else edited

    def put_back_words(self, words: str) -> str:
        """Return plain text with the secrets in place of their marks."""
        return self._known_marks.sub(lambda found: self._value_of[found[0]], words) if self._mark_in(words) else words

    def secret_in_name(self, name: str) -> str | None:
        """Return the name of the secret that an id or a key contains; None if there is none.

        Ids and keys cannot be masked, so they are refused. Short secrets are left out: they may be ordinary words.
        """
        found = (secret for value, secret in self.secrets.items() if len(value) >= _SHORTEST_IN_NAME and value in name)
        return next(found, None)

    def masked_json(self, value: Any) -> str | None:
        """Return the column `masked` of a state value, which is stored in clear; None if it contains no secret.

        It has the value as it is shown, and the secrets in it with their names, so that an edit can put them back.
        """
        if not self._marks or (shown := self.cover_value(value)) == value:
            return None
        text = encode(shown)
        secrets = {value: name for value, name in self.secrets.items() if self._mark_of[value] in text}
        return encode({"shown": text, "secrets": secrets})

    def cover_bytes(self, content: bytes) -> bytes:
        """Return bytes with every secret masked; the same object if there is none."""
        found = [(value.encode(), mark.encode()) for value, mark in self._marks if value.encode() in content]
        if not found:
            return content
        mark_of = dict(found)
        return re.sub(b"|".join(re.escape(value) for value, _ in found), lambda match: mark_of[match[0]], content)

    def ranges_in(self, content: bytes) -> list[tuple[int, int, str]]:
        """Return where secrets are in the bytes of an artifact: start, end and name of each, in order, up to 1,000."""
        found: list[tuple[int, int, str]] = []
        for value, name in self.secrets.items():
            wanted, start = value.encode(), 0
            while len(found) < _MAX_RANGES and (start := content.find(wanted, start)) >= 0:
                found.append((start, start + len(wanted), name))
                start += len(wanted)
        return sorted(found)

    def _put_back(self, edited: Any, shown: Any, original: Any) -> Any:
        if isinstance(edited, str):
            return original if isinstance(shown, str) and edited == shown else self.put_back_words(edited)
        if isinstance(edited, dict):
            before: dict[str, tuple[str, Any, Any]] = {}
            if isinstance(original, dict):
                pairs = cast("dict[str, Any]", original).items()
                shown_pairs = cast("dict[str, Any]", shown)
                before = {
                    covered: (name, shown_pairs[covered], inner)
                    for name, inner in pairs
                    if (covered := self.cover_words(name)) in shown_pairs
                }
            result: dict[str, Any] = {}
            for name, inner in cast("dict[str, Any]", edited).items():
                former = before.get(name) or (self.put_back_words(name), None, None)
                result[former[0]] = self._put_back(inner, former[1], former[2])
            return result
        if isinstance(edited, list):
            given = cast("list[Any]", edited)
            shown_items = cast("list[Any]", shown) if isinstance(original, list) else []
            items = cast("list[Any]", original) if isinstance(original, list) else []
            rest = [None] * (len(given) - len(items))
            before_items = zip([*shown_items, *rest], [*items, *rest], strict=True)
            return [self._put_back(inner, *former) for inner, former in zip(given, before_items, strict=False)]
        return edited

    @cached_property
    def _values(self) -> "re.Pattern[str]":
        return re.compile("|".join(re.escape(value) for value, _ in self._marks))

    @cached_property
    def _values_and_marks(self) -> "re.Pattern[str]":
        if any("‹" in value or "›" in value for value in self._mark_of):
            return self._values
        return re.compile(f"{_MARK}[^‹›]*›|{self._values.pattern}")

    @cached_property
    def _known_marks(self) -> "re.Pattern[str]":
        return re.compile("|".join(map(re.escape, self._value_of)))

    def _replacement(self, found: "re.Match[str]") -> str:
        text = found[0]
        if text in self._mark_of:
            return self._mark_of[text]
        if text in self._value_of:
            return text
        # Another mask's mark, or a text that only looks like a mark and may contain a secret.
        inner = text[len(_MARK) : -1]
        return f"{_MARK}{self._values.sub(lambda secret: self._mark_of[secret[0]], inner)}›"

    def _mark_in(self, words: str) -> bool:
        return bool(self._marks) and _MARK in words

    def stream(self) -> "StreamMask | None":
        """Return a mask for one streamed text; None if there is nothing to mask."""
        return StreamMask(self._marks) if self._marks else None


def mask_ranges(content: bytes, ranges: Iterable[Sequence[Any]]) -> bytes:
    """Return the beginning of an artifact with the ranges of secrets replaced by their marks."""
    parts: list[bytes] = []
    done = 0
    for start, end, name in sorted(map(tuple, ranges)):
        if start >= len(content):
            break
        if start >= done:
            parts += (content[done:start], f"{_MARK}{name}›".encode())
        done = max(done, end)
    return b"".join([*parts, content[done:]])


def _with_unique_names(secrets: Mapping[str, str]) -> dict[str, str]:
    """Return the names of the values; a value whose name is taken gets a number."""
    taken: set[str] = set()
    result: dict[str, str] = {}
    for value, name in secrets.items():
        numbers = count(2)
        unique = name
        while unique in taken:
            unique = f"{name} {next(numbers)}"
        taken.add(unique)
        result[value] = unique
    return result


_process_secrets: dict[str, str] = {}
"""The secrets that this process has seen, for its own log."""


def note_process_secrets(secrets: Mapping[str, str]) -> None:
    """Mask these secrets in the log of this process from now on."""
    _process_secrets.update(secrets)


def process_mask() -> SecretMask:
    """Return a mask of all secrets that this process has seen."""
    return SecretMask(dict(_process_secrets))


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
