"""A path as it is typed: what it could go on with, and how far that is certain."""

from collections.abc import Iterable, Sequence
from os.path import commonprefix
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from engine.api import Problem

BEGINNINGS: Final = ("/", "./", "../", "~")
MOST: Final = 300
"""Names that are listed of one folder."""


class Found(NamedTuple):
    """A name in a folder."""

    name: str
    is_folder: bool

    @property
    def shown(self) -> str:
        return f"{self.name}/" if self.is_folder else self.name


class Folder(NamedTuple):
    """A folder as it was typed, and what lies in it and begins so; or why that cannot be said."""

    typed: str = ""
    names: tuple[Found, ...] = ()
    problem: str = ""
    beginning: str = ""
    certain: str = ""
    """How all of them begin, also those that are not listed."""
    is_cut: bool = False
    """There are more than are listed."""

    def covers(self, text: str) -> bool:
        """Whether it is known from this how a path could go on."""
        typed, beginning = parts(text)
        if typed != self.typed or self.problem or beginning == self.beginning:
            return typed == self.typed
        is_narrower = beginning.startswith(self.beginning) and _wants_hidden(beginning) == _wants_hidden(self.beginning)
        return is_narrower and not self.is_cut


def gathered(typed: str, beginning: str, found: Iterable[Found], *, is_all: bool) -> Folder:
    """What of a folder is listed. Where not all of it was looked at, nothing beyond what is typed is certain."""
    hits = [one for one in found if _goes_on(one.name, beginning)]
    certain = commonprefix([one.name for one in hits]) if is_all else beginning  # noqa: RUF071  (letters are meant)
    return Folder(typed, tuple(_sorted(hits)), "", beginning, certain, not is_all or len(hits) > MOST)


def place_of(problem: "Problem") -> str:
    """A file and a line; of a plugin, whose files are called alike, from its folder on."""
    path, folder = problem.path, problem.folder
    name = path.name if folder is None or not path.is_relative_to(folder) else str(path.relative_to(folder.parent))
    return f"{name}:{problem.line}" if problem.line else name


def near(path: str, here: str, home: str) -> str:
    """A path as people say it: from where they are, or from their home."""
    for folder, beginning in ((here, "."), (home, "~")):
        if folder not in ("", "/") and path.startswith(f"{folder.rstrip('/')}/"):
            return beginning + path[len(folder.rstrip("/")) :]
    return path


def is_path(text: str) -> bool:
    """Whether it is meant as a path and not as a search."""
    return text.startswith(BEGINNINGS) or text in (".", "..")


def parts(text: str) -> tuple[str, str]:
    """The folder as typed, and the beginning of the name."""
    if text in ("~", ".", ".."):
        return f"{text}/", ""
    folder, slash, name = text.rpartition("/")
    return f"{folder}{slash}", name


def fitting(found: Iterable[Found], beginning: str) -> Sequence[Found]:
    """Those that go on so, folders first; hidden ones and Python's own only where that is typed."""
    return _sorted(one for one in found if _goes_on(one.name, beginning))


def _sorted(found: Iterable[Found]) -> Sequence[Found]:
    return sorted(found, key=lambda one: (not one.is_folder, one.name))[:MOST]


def _goes_on(name: str, beginning: str) -> bool:
    return name.startswith(beginning) and (_wants_hidden(beginning) or not name.startswith((".", "__")))


def _wants_hidden(beginning: str) -> bool:
    return beginning[:1] in (".", "_")


def completed(text: str, folder: Folder) -> str:
    """The text, as far as it can only go on in one way."""
    typed, beginning = parts(text)
    hits = fitting(folder.names, beginning)
    if not hits:
        return text
    if folder.is_cut:
        return typed + folder.certain
    return typed + (hits[0].shown if len(hits) == 1 else commonprefix([one.name for one in hits]))  # noqa: RUF071  (letters are meant)
