"""Completes typed paths and reads pasted ones."""

import asyncio
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from heapq import nsmallest
from itertools import islice
from os.path import commonprefix
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from engine.api import Problem

MAX_CANDIDATES: Final = 50
"""Completions that are offered for a path."""
MAX_PASTED_PATHS: Final = 50
"""Lines of a paste that are read as paths."""
MAX_SCANNED_NAMES = 100_000
"""Names of one folder that are scanned, in about a tenth of a second; a folder may have millions."""
MAX_PATH_CHARS: Final = 4_096
"""The length of a path on most systems."""
_MENTION_END: Final = re.compile(r"(?:^|(?<=\s))@(\"[^\"]*|[^\s\"]*)$")
_PATH_PREFIXES: Final = ("/", "~/", "./", "../")
"""Prefixes of texts that can only be a path."""


class Fragment(NamedTuple):
    """An `@path` that is being typed: start, end and the path so far."""

    start: int
    end: int
    typed: str


class Candidate(NamedTuple):
    """A completion of a path."""

    path: str
    """The path as typed; a folder ends with a slash."""
    size: int

    @property
    def is_folder(self) -> bool:
        return self.path.endswith("/")

    def fits(self, typed: str) -> bool:
        """Whether a typed path is a prefix of this one."""
        beginning = typed.rpartition("/")[2]
        start = typed[: len(typed) - len(beginning)]
        return self.path == f"{start}{self.name}" and beginning.lower() in self.name.lower()

    @property
    def name(self) -> str:
        return self.path.rstrip("/").rpartition("/")[2] + ("/" if self.is_folder else "")


def fragment_at(line: str, column: int) -> Fragment | None:
    """Return the `@path` before the cursor, or None. The @ begins a word, so `ann@example.org` is no path."""
    found = _MENTION_END.search(line[:column])
    return None if found is None else Fragment(found.start(), column, found[1].removeprefix('"'))


def mention(path: str) -> str:
    """Return a path as it is written in a text: `@notes.txt`, `@"my notes.txt"`."""
    return f'@"{path}"' if any(letter.isspace() for letter in path) else f"@{path}"


def candidates(typed: str) -> list[Candidate]:
    """Return completions of a typed path, folders first. Reads the disk, so call it in a thread."""
    beginning = typed.rpartition("/")[2]
    start = typed[: len(typed) - len(beginning)]
    if typed == "~" or beginning == "..":
        return [Candidate(f"{typed}/", 0)]
    try:
        with os.scandir(Path(start or ".").expanduser()) as names:
            begins = beginning.lower()
            best = nsmallest(
                MAX_CANDIDATES,
                _matching_files(islice(names, MAX_SCANNED_NAMES), beginning),
                key=lambda one: (not one.name.lower().startswith(begins), not one.is_dir(), one.name.lower()),
            )
            return [*_candidates(best, start)]
    except (OSError, RuntimeError, ValueError):
        return []


def _matching_files(names: Iterator[os.DirEntry[str]], beginning: str) -> Iterator[os.DirEntry[str]]:
    for entry in names:
        if entry.name.startswith(".") and not beginning.startswith("."):
            continue
        if beginning.lower() in entry.name.lower() and _is_writable(entry.name) and (entry.is_dir() or entry.is_file()):
            yield entry


def _candidates(entries: Iterable[os.DirEntry[str]], start: str) -> Iterator[Candidate]:
    for entry in entries:
        with suppress(OSError):  # removed since
            is_folder = entry.is_dir()
            yield Candidate(f"{start}{entry.name}{'/' * is_folder}", 0 if is_folder else entry.stat().st_size)


def _is_writable(name: str) -> bool:
    """Whether a name can be written into a line of text and read back."""
    return '"' not in name and name.isprintable()


def readings(text: str) -> Sequence[Sequence[str]]:
    """Return the ways to read a paste as a list of paths, the simplest first; most texts have none.

    Either one path per line, or as terminals write dropped files: quoted or escaped, separated by spaces.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines or len(lines) > MAX_PASTED_PATHS or max(map(len, lines)) > MAX_PATH_CHARS:
        return ()
    found = [[_of_url(line) for line in lines]]
    with suppress(ValueError):
        found.append([_of_url(part) for line in lines for part in shlex.split(line)])
    return [paths for place, paths in enumerate(found) if all(map(_is_path, paths)) and paths not in found[:place]]


def pasted_files(readings: Sequence[Sequence[str]]) -> tuple[Sequence[Candidate], str]:
    """Return the files of the first reading that consists of files, or a reason if the paste looks like files.

    Reads the disk, so call it in a thread.
    """
    reasons: list[str] = []
    for paths in readings:
        found = [file_at(path) for path in paths]
        files = [each for each in found if isinstance(each, Candidate)]
        if len(files) == len(paths):
            return files, ""
        reasons += (each for each in found if isinstance(each, str) and each)
    return (), next(iter(reasons), "")


def file_at(path: str) -> Candidate | str:
    """Return the file at a path, or the reason why there is none; empty if the text does not look like a path."""
    try:
        place = Path(path).expanduser()
        if place.is_file():
            return Candidate(path, place.stat().st_size)
        if place.is_dir():
            return f"{path} is a folder; attach its files one by one"
        if place.exists():
            return f"{path} is a pipe, a device or a socket, not a file"
        return f"{path} does not exist" if place.parent.is_dir() and len(place.parts) > 2 else ""
    except (OSError, RuntimeError, ValueError):
        return ""


def _is_path(text: str) -> bool:
    return text.startswith(_PATH_PREFIXES)


def _of_url(text: str) -> str:
    if not text.startswith("file://"):
        return text
    try:
        return unquote(urlsplit(text).path)
    except ValueError:
        return text


_TYPED_PATH_PREFIXES: Final = ("/", "./", "../", "~")
MAX_LISTED_NAMES: Final = 300
"""Maximum number of listed names per folder."""


class FolderEntry(NamedTuple):
    """A file or folder in a listing."""

    name: str
    is_folder: bool

    @property
    def shown(self) -> str:
        return f"{self.name}/" if self.is_folder else self.name


class FolderListing(NamedTuple):
    """The names in a typed folder that match, or the problem that prevented reading it."""

    typed: str = ""
    """The folder as typed, with a slash at its end."""
    names: tuple[FolderEntry, ...] = ()
    problem: str = ""
    beginning: str = ""
    certain: str = ""
    """The common prefix of all matching names, including those not listed."""
    is_cut: bool = False
    """Whether more names match than are listed."""

    def covers(self, text: str) -> bool:
        """Whether this listing contains all completions of a path."""
        typed, beginning = split_path(text)
        if typed != self.typed or self.problem or beginning == self.beginning:
            return typed == self.typed
        is_narrower = beginning.startswith(self.beginning) and _wants_hidden(beginning) == _wants_hidden(self.beginning)
        return is_narrower and not self.is_cut


def make_listing(typed: str, beginning: str, found: Iterable[FolderEntry], *, is_all: bool) -> FolderListing:
    """Return the listing of a folder. If not everything was scanned, only the typed prefix is certain."""
    hits = [one for one in found if _is_listed(one.name, beginning)]
    certain = commonprefix([one.name for one in hits]) if is_all else beginning  # noqa: RUF071  (letters are meant)
    return FolderListing(
        typed, tuple(_sorted(hits)), "", beginning, certain, not is_all or len(hits) > MAX_LISTED_NAMES
    )


def problem_location(problem: "Problem") -> str:
    """Return the file and line of a problem; for a plugin with its folder, because its files have common names."""
    path, folder = problem.path, problem.folder
    name = path.name if folder is None or not path.is_relative_to(folder) else str(path.relative_to(folder.parent))
    return f"{name}:{problem.line}" if problem.line else name


def short_path(path: str, here: str, home: str) -> str:
    """Return a path relative to the working folder or to the home folder, if possible."""
    for folder, beginning in ((here, "."), (home, "~")):
        if folder not in ("", "/") and path.startswith(f"{folder.rstrip('/')}/"):
            return beginning + path[len(folder.rstrip("/")) :]
    return path


def is_path(text: str) -> bool:
    """Whether a text is a path and not a search."""
    return text.startswith(_TYPED_PATH_PREFIXES) or text in (".", "..")


def split_path(text: str) -> tuple[str, str]:
    """Split a typed path into the folder and the beginning of the name."""
    if text in ("~", ".", ".."):
        return f"{text}/", ""
    folder, slash, name = text.rpartition("/")
    return f"{folder}{slash}", name


def matching_names(found: Iterable[FolderEntry], beginning: str) -> Sequence[FolderEntry]:
    """Return the matching names, folders first; hidden and Python cache names only if their prefix is typed."""
    return _sorted(one for one in found if _is_listed(one.name, beginning))


def _sorted(found: Iterable[FolderEntry]) -> Sequence[FolderEntry]:
    return sorted(found, key=lambda one: (not one.is_folder, one.name))[:MAX_LISTED_NAMES]


def _is_listed(name: str, beginning: str) -> bool:
    return name.startswith(beginning) and (_wants_hidden(beginning) or not name.startswith((".", "__")))


def _wants_hidden(beginning: str) -> bool:
    return beginning[:1] in (".", "_")


def complete_path(text: str, folder: FolderListing) -> str:
    """Return the text, completed as far as it is unambiguous."""
    typed, beginning = split_path(text)
    hits = matching_names(folder.names, beginning)
    if not hits:
        return text
    if folder.is_cut:
        return typed + folder.certain
    return typed + (hits[0].shown if len(hits) == 1 else commonprefix([one.name for one in hits]))  # noqa: RUF071  (letters are meant)


async def read_folder(text: str) -> FolderListing:
    """Read the folder of a typed path; the listing has its folders and Python files."""
    return await asyncio.to_thread(_folder, *split_path(text))


def _folder(typed: str, beginning: str) -> FolderListing:
    try:
        with os.scandir(Path(typed).expanduser()) as entries:
            scanned = islice(entries, MAX_SCANNED_NAMES)
            # Filter first: file types are read only for matching names.
            found = [*_runner_entries(entry for entry in scanned if entry.name.startswith(beginning))]
            return make_listing(typed, beginning, found, is_all=next(entries, None) is None)
    except FileNotFoundError:
        return FolderListing(typed, problem="no such folder")
    except NotADirectoryError:
        return FolderListing(typed, problem="this is a file, not a folder")
    except (OSError, ValueError) as error:
        return FolderListing(typed, problem=f"cannot be read: {getattr(error, 'strerror', None) or error}")
    except RuntimeError:  # `~nobody`
        return FolderListing(typed, problem="unknown user")


def _runner_entries(entries: Iterator[os.DirEntry[str]]) -> Iterator[FolderEntry]:
    for entry in entries:
        if (is_folder := entry.is_dir()) or entry.name.endswith(".py"):
            yield FolderEntry(entry.name, is_folder)
