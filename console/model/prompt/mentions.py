"""Finds files that a text mentions after an @."""

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from console.model.text.paths import Candidate, file_at

_MENTION: Final = re.compile(r"(?<!\S)@(?:\"([^\"\n]+)\"|([^\s\"]+))")
_PUNCTUATION: Final = ".,;:!?)]}'"
"""Characters that belong to the sentence and not to the name: “is it @notes.txt?”"""
_EXTENSION: Final = re.compile(r"\w\.(?=\w*[A-Za-z])\w{1,8}$")


class Mention(NamedTuple):
    """An `@path` in a text: start, end and path."""

    start: int
    end: int
    path: str


def mentions(text: str) -> list[Mention]:
    """Return all mentions in order. A mention begins a word, so `ann@example.org` is none."""
    return [Mention(found.start(), found.end(), found[1] or found[2]) for found in _MENTION.finditer(text)]


def mention_before(line: str, column: int) -> str | None:
    """Return the path of the mention that ends at a column, or None."""
    return next((one.path for one in mentions(line[:column]) if one.end == column), None)


def find_mentioned_files(paths: Iterable[str]) -> Mapping[str, Candidate | str]:
    """Return the file of each path, or the reason why there is none; empty if it may be a plain name such as `@ann`.

    Reads the disk, so call it in a thread.
    """
    return {path: _find_file(path) for path in paths}


def _find_file(path: str) -> Candidate | str:
    plain = path.rstrip(_PUNCTUATION)
    for each in dict.fromkeys((path, plain)):
        if each and isinstance(found := file_at(each), Candidate):
            return found
    if not _looks_like_a_path(plain):
        return ""
    reason = file_at(plain)
    return reason if isinstance(reason, str) and reason else f"{plain} does not exist"


def _looks_like_a_path(text: str) -> bool:
    return "/" in text or text.startswith("~") or _EXTENSION.search(text) is not None
