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


def kind_of(name: str) -> str:
    """The MIME type by name: `image/png`, `text/plain`; `file` if unknown."""
    from engine.events import UNKNOWN_TYPE, mime_type_of  # noqa: PLC0415  (the first frame needs neither)

    kind = mime_type_of(name)
    return "file" if kind == UNKNOWN_TYPE else kind


_LONGEST: Final = 40
"""Maximum characters of a name in a token."""


class AttachmentTokens:
    """The files behind the tokens. None is removed, because a sent message may come back."""

    def __init__(self) -> None:
        self._paths: dict[str, str] = {}
        self._written: dict[str, str] = {}
        """The text that a token replaced, if it was not a path after an @."""
        self._tokens: re.Pattern[str] | None = None

    def token(self, file: Candidate, written: str = "") -> str:
        """The token for a file: name, type and size. `written` is the replaced text, if not an @path."""
        about, whole = f"{kind_of(file.name)} · {size(file.size)}", _whole(file.path)
        # A second file with the same token uses its path, then a number.
        names = chain([file.name, file.path], (f"{file.name} no. {number}" for number in count(2)))
        tokens = (f"⟦{_short(name)} · {about}⟧" for name in names)
        token = next(each for each in tokens if each not in self._paths or _whole(self._paths[each]) == whole)
        self._paths[token], self._written[token] = file.path, written or mention(file.path)
        self._note()
        return token

    def learn(self, files: Mapping[str, str]) -> None:
        """Add tokens of another process with their files."""
        self._paths |= files
        self._note()

    def spans(self, line: str) -> Iterator[Span]:
        """The tokens of a line from left to right."""
        if self._tokens is not None:
            for found in self._tokens.finditer(line):
                yield Span(found.start(), found.end())

    def files_in(self, text: str) -> dict[str, str]:
        """The tokens of a text with the absolute paths of their files."""
        found = self._tokens.findall(text) if self._tokens is not None else []
        return {token: _whole(self._paths[token]) for token in found}

    def paths(self, text: str) -> tuple[str, ...]:
        """The files of the tokens in a text, each once."""
        found = self._tokens.findall(text) if self._tokens is not None else []
        return tuple({_whole(self._paths[token]): self._paths[token] for token in found}.values())

    def said(self, text: str) -> str:
        """The text to send: tokens become file names; empty if there are only tokens."""
        if self._tokens is None or not self._tokens.sub("", text).strip():
            return "" if self._tokens is not None and self._tokens.search(text) else text
        if self._tokens.search(text) is None:
            return text
        return self._tokens.sub(lambda found: self._paths[found[0]].rpartition("/")[2], text).strip()

    def written(self, token: str) -> str:
        """The text that a token replaced: the path as typed or pasted."""
        return self._written.get(token) or mention(self._paths[token])

    def path(self, token: str) -> str:
        """The path of the file of a token."""
        return self._paths[token]

    def tokens(self, text: str) -> tuple[str, ...]:
        """The tokens in a text, each once."""
        return tuple(dict.fromkeys(self._tokens.findall(text))) if self._tokens is not None else ()

    def _note(self) -> None:
        longest_first = sorted(self._paths, key=len, reverse=True)
        self._tokens = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None


def _whole(path: str) -> str:
    """The absolute path."""
    return os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111


def _short(name: str) -> str:
    """The name on one line; if it is too long, its end."""
    line = one_line(name)
    return line if len(line) <= _LONGEST else f"…{line[1 - _LONGEST :]}"
