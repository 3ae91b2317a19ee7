"""Files in a prompt: a token stands for each, and goes along with what is said when it is sent."""

import os
import re
from collections.abc import Iterator, Mapping
from itertools import chain, count
from typing import Final

from console.model.attach.kinds import kind_of
from console.model.attach.paths import Candidate, mention
from console.model.prompt.pastes import Span
from console.model.safe import one_line
from console.model.words import size

_LONGEST: Final = 40
"""Characters of a name."""


class Chips:
    """The files behind the tokens. They are few and short, so none is forgotten: what was sent may come back."""

    def __init__(self) -> None:
        self._paths: dict[str, str] = {}
        self._written: dict[str, str] = {}
        """What stood where a token is, but for a path after an @."""
        self._tokens: re.Pattern[str] | None = None

    def token(self, file: Candidate, written: str = "") -> str:
        """What stands for a file: its name, its type and its size. With how it was written, if not after an @."""
        about, whole = f"{kind_of(file.name)} · {size(file.size)}", _whole(file.path)
        # Another that looks the same is called by its path, and then counted.
        names = chain([file.name, file.path], (f"{file.name} no. {number}" for number in count(2)))
        tokens = (f"⟦{_short(name)} · {about}⟧" for name in names)
        token = next(each for each in tokens if each not in self._paths or _whole(self._paths[each]) == whole)
        self._paths[token], self._written[token] = file.path, written or mention(file.path)
        self._note()
        return token

    def learn(self, files: Mapping[str, str]) -> None:
        """Tokens of another process, and what they stood for."""
        self._paths |= files
        self._note()

    def spans(self, line: str) -> Iterator[Span]:
        """The tokens of a line, from its left."""
        if self._tokens is not None:
            for found in self._tokens.finditer(line):
                yield Span(found.start(), found.end())

    def files_in(self, text: str) -> dict[str, str]:
        """The tokens of a text with their files, by paths that mean the same in any folder."""
        found = self._tokens.findall(text) if self._tokens is not None else []
        return {token: _whole(self._paths[token]) for token in found}

    def paths(self, text: str) -> tuple[str, ...]:
        """The files of a text, each once."""
        found = self._tokens.findall(text) if self._tokens is not None else []
        return tuple({_whole(self._paths[token]): self._paths[token] for token in found}.values())

    def said(self, text: str) -> str:
        """What is said beside the files: they are named in it, but files alone say nothing."""
        if self._tokens is None or not self._tokens.sub("", text).strip():
            return "" if self._tokens is not None and self._tokens.search(text) else text
        if self._tokens.search(text) is None:
            return text
        return self._tokens.sub(lambda found: self._paths[found[0]].rpartition("/")[2], text).strip()

    def written(self, token: str) -> str:
        """What a token took the place of: the path, as it was typed or pasted."""
        return self._written.get(token) or mention(self._paths[token])

    def path(self, token: str) -> str:
        """The file that a token stands for."""
        return self._paths[token]

    def tokens(self, text: str) -> tuple[str, ...]:
        """Those in a text, each once."""
        return tuple(dict.fromkeys(self._tokens.findall(text))) if self._tokens is not None else ()

    def _note(self) -> None:
        longest_first = sorted(self._paths, key=len, reverse=True)
        self._tokens = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None


def _whole(path: str) -> str:
    """The same for every way to write it."""
    return os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111


def _short(name: str) -> str:
    """On one line; of what is too long the end, which tells names apart."""
    line = one_line(name)
    return line if len(line) <= _LONGEST else f"…{line[1 - _LONGEST :]}"
