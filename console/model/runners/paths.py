"""A path as it is typed: what it could go on with, and how far that is certain."""

from collections.abc import Iterable, Sequence
from os.path import commonprefix
from typing import Final, NamedTuple

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
    """A folder as it was typed, and what lies in it; or why that cannot be said."""

    typed: str = ""
    names: tuple[Found, ...] = ()
    problem: str = ""


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
    hits = [
        one for one in found
        if one.name.startswith(beginning) and (beginning[:1] in (".", "_") or not one.name.startswith((".", "__")))
    ]  # fmt: skip
    return sorted(hits, key=lambda one: (not one.is_folder, one.name))[:MOST]


def completed(text: str, found: Iterable[Found]) -> str:
    """The text, as far as it can only go on in one way."""
    folder, beginning = parts(text)
    hits = fitting(found, beginning)
    if not hits:
        return text
    return folder + (hits[0].shown if len(hits) == 1 else commonprefix([one.name for one in hits]))  # noqa: RUF071  (letters are meant)
