"""Files that a text names after an @: where they stand, and which of them there are."""

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from console.model.attach.paths import Candidate, file_at

_NAMED: Final = re.compile(r"(?<!\S)@(?:\"([^\"\n]+)\"|([^\s\"]+))")
_STOPS: Final = ".,;:!?)]}'"
"""What ends a sentence rather than a name: “is it @notes.txt?”"""
_EXTENSION: Final = re.compile(r"\w\.(?=\w*[A-Za-z])\w{1,8}$")


class Mention(NamedTuple):
    """An `@path` that stands in a text: from where to where, and the path."""

    start: int
    end: int
    path: str


def mentions(text: str) -> list[Mention]:
    """All of them, from the beginning. Each begins a word: `ann@example.org` is none."""
    return [Mention(found.start(), found.end(), found[1] or found[2]) for found in _NAMED.finditer(text)]


def mention_before(line: str, column: int) -> str | None:
    """The path that ends right there."""
    return next((one.path for one in mentions(line[:column]) if one.end == column), None)


def sought(paths: Iterable[str]) -> Mapping[str, Candidate | str]:
    """By each path its file, or why there is none; of what may be any name, `@ann`, nothing is said.

    Looks at the disk: it belongs into a thread.
    """
    return {path: _sought(path) for path in paths}


def _sought(path: str) -> Candidate | str:
    plain = path.rstrip(_STOPS)
    for each in dict.fromkeys((path, plain)):
        if each and isinstance(found := file_at(each), Candidate):
            return found
    if not _looks_like_a_path(plain):
        return ""
    why = file_at(plain)
    return why if isinstance(why, str) and why and not why.endswith("is not there") else f"there is no file {plain}"


def _looks_like_a_path(text: str) -> bool:
    return "/" in text or text.startswith("~") or _EXTENSION.search(text) is not None
