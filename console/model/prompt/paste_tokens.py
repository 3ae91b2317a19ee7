"""The tokens in the prompt that stand for large pastes; sending replaces them with the text.

A text area that wraps 1,000,000 characters blocks for a second or more, on every change of its width.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

MAX_SHOWN_CHARS: Final = 10_000
"""Characters that a prompt shows in full; wrapping them takes 15 ms."""
MAX_KEPT_TEXTS: Final = 8
"""Texts that are kept after sending, so that a token in the clipboard can still be pasted."""

MAX_JOINED_LINES: Final = 10
"""Lines that are joined when pasted into a one-line field; more are refused."""


class Span(NamedTuple):
    """The start and end of a token in a line."""

    start: int
    end: int


class PasteTokens:
    """The texts behind the tokens."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._tokens: re.Pattern[str] | None = None

    def shown(self, text: str, beside: int = 0) -> str:
        """Return the text, or its token if it is too large beside `beside` other characters."""
        return text if len(text) + beside <= MAX_SHOWN_CHARS else self._token(text)

    def whole(self, shown: str) -> str:
        """Return the text with each token replaced by its text."""
        if self._tokens is None:
            return shown
        return self._tokens.sub(lambda found: self._texts[found[0]], shown)

    def spans(self, line: str) -> Iterator[Span]:
        """Yield the tokens of a line from left to right."""
        if self._tokens is not None:
            for found in self._tokens.finditer(line):
                yield Span(found.start(), found.end())

    def forget(self, but: str = "") -> None:
        """Remove texts after sending, except for the last few and those whose tokens are in `but`."""
        last = list(self._texts)[-MAX_KEPT_TEXTS:]
        self._texts = {token: text for token, text in self._texts.items() if token in last or token in but}
        self._compile()

    def _token(self, text: str) -> str:
        for token, known in self._texts.items():
            if known == text:
                return token
        words, number = f"pasted {len(text):,} characters", 1
        token = f"⟦{words}⟧"
        while token in self._texts:
            number += 1
            token = f"⟦{words}, {number}⟧"
        self._texts[token] = text
        self._compile()
        return token

    def _compile(self) -> None:
        self._tokens = re.compile("|".join(map(re.escape, self._texts))) if self._texts else None


def on_one_line(text: str) -> tuple[str, str]:
    """Return the text that a one-line field takes of a paste, and a sentence for the user if it was changed."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) <= 1:
        return lines[0] if lines else text.partition("\n")[0], ""
    if len(lines) > MAX_JOINED_LINES:
        return "", f"Nothing was pasted: this field takes one line, and the text has {len(lines):,}."
    joined = " ".join(line.strip() for line in lines)
    return joined, f"{len(lines)} lines were joined with spaces: this field takes one line."
