"""Paths as people type and paste them: which one is meant, and how it could go on."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

MOST: Final = 50
"""Names that are offered."""
SCANNED: Final = 100_000
"""Names of a folder that are looked at; what they are is asked only of those that are offered."""
LONGEST: Final = 4_096
"""Characters that a path has at most on most systems."""
_TYPED: Final = re.compile(r"(?:^|(?<=\s))@(\"[^\"]*|[^\s\"]*)$")
_PATHS: Final = ("/", "~/", "./", "../")
"""How a text begins that is a path and nothing else."""


class Fragment(NamedTuple):
    """An `@path` that is being typed: where it stands in its line, and the path so far."""

    start: int
    end: int
    typed: str


class Candidate(NamedTuple):
    """How a path could go on."""

    path: str
    """As it would be typed; a folder ends in a slash."""
    size: int

    @property
    def is_folder(self) -> bool:
        return self.path.endswith("/")

    def fits(self, typed: str) -> bool:
        """Whether what is typed can still become this."""
        beginning = typed.rpartition("/")[2]
        start = typed[: len(typed) - len(beginning)]
        return self.path == f"{start}{self.name}" and beginning.lower() in self.name.lower()

    @property
    def name(self) -> str:
        return self.path.rstrip("/").rpartition("/")[2] + ("/" if self.is_folder else "")


def fragment_at(line: str, column: int) -> Fragment | None:
    """The `@path` before the cursor. It begins a word: `ann@example.org` is none."""
    found = _TYPED.search(line[:column])
    return None if found is None else Fragment(found.start(), column, found[1].removeprefix('"'))


def mention(path: str) -> str:
    """A path as it is typed in a text: `@notes.txt`, `@"my notes.txt"`."""
    return f'@"{path}"' if any(letter.isspace() for letter in path) else f"@{path}"


def candidates(typed: str) -> list[Candidate]:
    """Files and folders that a typed path could become, folders first. Looks at the disk: it belongs into a thread."""
    beginning = typed.rpartition("/")[2]
    start = typed[: len(typed) - len(beginning)]
    if typed == "~" or beginning == "..":
        return [Candidate(f"{typed}/", 0)]
    try:
        with os.scandir(Path(start or ".").expanduser()) as names:
            begins = beginning.lower()
            best = nsmallest(
                MOST,
                _fitting(islice(names, SCANNED), beginning),
                key=lambda one: (not one.name.lower().startswith(begins), not one.is_dir(), one.name.lower()),
            )
            return [*_candidates(best, start)]
    except (OSError, RuntimeError, ValueError):
        return []


def _fitting(names: Iterator[os.DirEntry[str]], beginning: str) -> Iterator[os.DirEntry[str]]:
    for entry in names:
        if entry.name.startswith(".") and not beginning.startswith("."):
            continue
        if beginning.lower() in entry.name.lower() and _is_writable(entry.name) and (entry.is_dir() or entry.is_file()):
            yield entry


def _candidates(entries: Iterable[os.DirEntry[str]], start: str) -> Iterator[Candidate]:
    for entry in entries:
        with suppress(OSError):  # it is gone since
            is_folder = entry.is_dir()
            yield Candidate(f"{start}{entry.name}{'/' * is_folder}", 0 if is_folder else entry.stat().st_size)


def _is_writable(name: str) -> bool:
    """Whether a name can be written into a text of one line, and read back from it."""
    return '"' not in name and name.isprintable()


def readings(text: str) -> Sequence[Sequence[str]]:
    """How a paste can be read as nothing but paths, the plainest way first; most texts in no way.

    Line by line as they are, or as terminals write files that are dropped on them: quoted or escaped, with spaces
    between.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines or len(lines) > MOST or max(map(len, lines)) > LONGEST:
        return ()
    found = [[_of_url(line) for line in lines]]
    with suppress(ValueError):
        found.append([_of_url(part) for line in lines for part in shlex.split(line)])
    return [paths for place, paths in enumerate(found) if all(map(_is_path, paths)) and paths not in found[:place]]


def files_meant(readings: Sequence[Sequence[str]]) -> tuple[Sequence[Candidate], str]:
    """The files of the first reading that has nothing else, or why there are none, where files seem to be meant.

    Looks at the disk: it belongs into a thread.
    """
    troubles: list[str] = []
    for paths in readings:
        found = [file_at(path) for path in paths]
        files = [each for each in found if isinstance(each, Candidate)]
        if len(files) == len(paths):
            return files, ""
        troubles += (each for each in found if isinstance(each, str) and each)
    return (), next(iter(troubles), "")


def file_at(path: str) -> Candidate | str:
    """The file, or why it is none; of what does not even look like one here, nothing is said."""
    try:
        place = Path(path).expanduser()
        if place.is_file():
            return Candidate(path, place.stat().st_size)
        if place.is_dir():
            return f"{path} is a folder: its files can be attached one by one"
        if place.exists():
            return f"{path} is no file, but a pipe, a device or a socket"
        return f"{path} is not there" if place.parent.is_dir() and len(place.parts) > 2 else ""
    except (OSError, RuntimeError, ValueError):
        return ""


def _is_path(text: str) -> bool:
    return text.startswith(_PATHS)


def _of_url(text: str) -> str:
    if not text.startswith("file://"):
        return text
    try:
        return unquote(urlsplit(text).path)
    except ValueError:
        return text
