"""Finds the distributions that installed modules belong to, from the metadata that installers leave.

The folder is named by a child, which may be hostile: every file is opened without waiting, must be a regular file, and
is read up to a limit.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

MAX_DISTRIBUTIONS: Final = 2_000
"""Distributions of one folder that are looked at."""
MAX_FOLDERS: Final = 16
"""Folders whose answers are kept."""
MAX_RECORD_BYTES: Final = 8 * 1024 * 1024
MAX_HEAD_BYTES: Final = 16 * 1024
MAX_NAME_CHARS: Final = 200
_METADATA: Final = (".dist-info", ".egg-info")
_SEPARATORS: Final = re.compile(r"[-_.]+")
_FIELD: Final = re.compile(r"^(Name|Version): (.{1,200})$", re.MULTILINE)


class Distribution(NamedTuple):
    """An installed distribution."""

    name: str
    version: str


class _Folder(NamedTuple):
    changed_at: int
    """Its modification time in nanoseconds: installing and removing a distribution changes it."""
    owners: dict[str, Distribution | None]
    """The distributions of the files that were asked for so far."""


_folders: Final[dict[str, _Folder]] = {}


def find_distributions(folder: str, files: Sequence[str]) -> set[Distribution]:
    """Return the distributions that installed these files of a folder. Blocks, so call it in a thread.

    Reads a few files for a module that is called like its distribution, else the list of files of every distribution:
    20 ms for 100 of them. Answers are kept until the folder changes.
    """
    try:
        changed_at = Path(folder).stat().st_mtime_ns
        known = _folders.get(folder)
        if known is None or known.changed_at != changed_at:
            known = _Folder(changed_at, {})
            while len(_folders) >= MAX_FOLDERS:
                _folders.pop(next(iter(_folders)), None)
            _folders[folder] = known
        unknown = [file for file in files if file not in known.owners]
        if unknown:
            known.owners.update(_find_owners(folder, unknown))
    except (OSError, ValueError):  # ValueError: the path contains a NUL
        return set()
    return {owner for file in files if (owner := known.owners.get(file)) is not None}


def _find_owners(folder: str, files: list[str]) -> dict[str, Distribution | None]:
    places = list(_metadata_folders(folder))
    owners: dict[str, Distribution | None] = {}
    for file in files:
        top = _normalised(re.split(r"[/.]", file, maxsplit=1)[0])
        likely = (place for place in places if _normalised(place.name.split("-", 1)[0]) == top)
        owners[file] = next((_read_name(place) for place in likely if _has_any(place, [file])), None)
    rest = [file for file, owner in owners.items() if owner is None]
    for place in places if rest else ():
        if found := _has_any(place, rest):
            owner = _read_name(place)
            owners.update(dict.fromkeys(found, owner))
            rest = [file for file in rest if file not in found]
            if not rest:
                break
    return owners


def _metadata_folders(folder: str) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for number, entry in enumerate(entry for entry in entries if entry.name.endswith(_METADATA)):
            if number == MAX_DISTRIBUTIONS:
                return
            yield Path(entry.path)


def _has_any(place: Path, files: Iterable[str]) -> list[str]:
    """Return those of the files that a distribution installed."""
    record = b"\n" + _read(place / "RECORD", MAX_RECORD_BYTES)
    if len(record) > 1:
        return [file for file in files if b"\n%b," % file.encode(errors="replace") in record]
    names = _read(place / "top_level.txt", MAX_HEAD_BYTES).decode(errors="replace").split()
    return [file for file in files if re.split(r"[/.]", file, maxsplit=1)[0] in names]


def _read_name(place: Path) -> Distribution:
    heads = (_read(place / name, MAX_HEAD_BYTES) for name in ("METADATA", "PKG-INFO"))
    head = next(filter(None, heads), b"").decode(errors="replace").partition("\n\n")[0]
    fields = {key: value.strip() for key, value in reversed(_FIELD.findall(head))}
    name, _, version = place.stem.partition("-")
    return Distribution(fields.get("Name", name)[:MAX_NAME_CHARS], fields.get("Version", version)[:MAX_NAME_CHARS])


def _read(path: Path, limit: int) -> bytes:
    """Return the start of a regular file; empty if there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(limit) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""


def _normalised(name: str) -> str:
    return _SEPARATORS.sub("_", name).lower()
