"""What lies in a folder that someone types the path of."""

import asyncio
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from console.model.runners.paths import Folder, Found, gathered, parts

LOOKED_AT = 100_000
"""Names of one folder that are looked at, a tenth of a second: one with millions must not hold anyone up."""


async def folder_of(text: str) -> Folder:
    """The runners and folders that the path could go on with."""
    return await asyncio.to_thread(_folder, *parts(text))


def _folder(typed: str, beginning: str) -> Folder:
    try:
        with os.scandir(Path(typed).expanduser()) as entries:
            looked_at = islice(entries, LOOKED_AT)
            # The filter comes first: of thousands, only those that fit are asked what they are.
            found = [*_usable(entry for entry in looked_at if entry.name.startswith(beginning))]
            return gathered(typed, beginning, found, is_all=next(entries, None) is None)
    except FileNotFoundError:
        return Folder(typed, problem="there is no such folder")
    except NotADirectoryError:
        return Folder(typed, problem="it is a file, not a folder")
    except (OSError, ValueError) as error:
        return Folder(typed, problem=f"it cannot be read: {getattr(error, 'strerror', None) or error}")
    except RuntimeError:  # `~nobody`
        return Folder(typed, problem="nobody of that name has a home here")


def _usable(entries: Iterator[os.DirEntry[str]]) -> Iterator[Found]:
    for entry in entries:
        if (is_folder := entry.is_dir()) or entry.name.endswith(".py"):
            yield Found(entry.name, is_folder)
