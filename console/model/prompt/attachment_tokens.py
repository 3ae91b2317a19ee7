"""The tokens in the prompt that stand for attached files."""

import os
import re
from collections.abc import Iterator, Mapping
from itertools import chain, count
from typing import Final

from console.model.prompt.paste_tokens import Span
from console.model.text.paths import Candidate, mention
from console.model.text.safe import one_line
from console.model.text.units import size


def file_kind(name: str) -> str:
    """Return the MIME type of a file name: `image/png`, `text/plain`; `file` if unknown."""
    from engine.events import UNKNOWN_TYPE, mime_type_of  # noqa: PLC0415  (the first frame needs neither)

    kind = mime_type_of(name)
    return "file" if kind == UNKNOWN_TYPE else kind


_MAX_NAME_CHARS: Final = 40
"""Characters of a name in a token."""


class AttachmentTokens:
    """The files behind the tokens. None is removed, because a sent message may return to the prompt."""

    def __init__(self) -> None:
        self._paths: dict[str, str] = {}
        self._written: dict[str, str] = {}
        """The text that a token replaced, if it was not a path after an @."""
        self._tokens: re.Pattern[str] | None = None

    def token(self, file: Candidate, written: str = "") -> str:
        """Return the token for a file: name, type and size. `written` is the replaced text, if not an @path."""
        about, path = f"{file_kind(file.name)} · {size(file.size)}", _absolute(file.path)
        # A second file with the same token uses its path, then a number.
        names = chain([file.name, file.path], (f"{file.name} no. {number}" for number in count(2)))
        tokens = (f"⟦{_short(name)} · {about}⟧" for name in names)
        token = next(each for each in tokens if each not in self._paths or _absolute(self._paths[each]) == path)
        self._paths[token], self._written[token] = file.path, written or mention(file.path)
        self._compile()
        return token

    def add(self, files: Mapping[str, str]) -> None:
        """Add the tokens and files of a saved draft."""
        self._paths |= files
        self._compile()

    def spans(self, line: str) -> Iterator[Span]:
        """Yield the tokens of a line from left to right."""
        if self._tokens is not None:
            for found in self._tokens.finditer(line):
                yield Span(found.start(), found.end())

    def files_in(self, text: str) -> dict[str, str]:
        """The tokens of a text with the absolute paths of their files."""
        found = self._tokens.findall(text) if self._tokens is not None else []
        return {token: _absolute(self._paths[token]) for token in found}

    def paths(self, text: str) -> tuple[str, ...]:
        """The files of the tokens in a text, each once."""
        found = self._tokens.findall(text) if self._tokens is not None else []
        return tuple({_absolute(self._paths[token]): self._paths[token] for token in found}.values())

    def text_to_send(self, text: str) -> str:
        """Return the text with file names in place of tokens; empty if it contains only tokens."""
        if self._tokens is None or not self._tokens.sub("", text).strip():
            return "" if self._tokens is not None and self._tokens.search(text) else text
        if self._tokens.search(text) is None:
            return text
        return self._tokens.sub(lambda found: self._paths[found[0]].rpartition("/")[2], text).strip()

    def written(self, token: str) -> str:
        """Return the text that a token replaced: the path as typed or pasted."""
        return self._written.get(token) or mention(self._paths[token])

    def path(self, token: str) -> str:
        """The path of the file of a token."""
        return self._paths[token]

    def tokens(self, text: str) -> tuple[str, ...]:
        """The tokens in a text, each once."""
        return tuple(dict.fromkeys(self._tokens.findall(text))) if self._tokens is not None else ()

    def _compile(self) -> None:
        longest_first = sorted(self._paths, key=len, reverse=True)
        self._tokens = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None


def _absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111


def _short(name: str) -> str:
    """Return the name on one line; if it is too long, its end."""
    line = one_line(name)
    return line if len(line) <= _MAX_NAME_CHARS else f"…{line[1 - _MAX_NAME_CHARS :]}"
