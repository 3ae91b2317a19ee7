"""What lies in a folder that someone types the path of."""

import asyncio
import os
from itertools import islice
from pathlib import Path

from console.model.runners.paths import MOST, Folder, Found, parts

_LOOKED_AT = 20 * MOST
"""Names of one folder that are looked at: one with a million must not hold anyone up."""


async def folder_of(text: str) -> Folder:
    """The runners and folders that the path could go on with."""
    return await asyncio.to_thread(_folder, parts(text)[0])


def _folder(typed: str) -> Folder:
    try:
        with os.scandir(Path(typed).expanduser()) as entries:
            seen = [Found(entry.name, entry.is_dir()) for entry in islice(entries, _LOOKED_AT)]
    except FileNotFoundError:
        return Folder(typed, problem="there is no such folder")
    except NotADirectoryError:
        return Folder(typed, problem="it is a file, not a folder")
    except (OSError, ValueError) as error:
        return Folder(typed, problem=f"it cannot be read: {getattr(error, 'strerror', None) or error}")
    except RuntimeError:  # `~nobody`
        return Folder(typed, problem="nobody of that name has a home here")
    return Folder(typed, tuple(one for one in seen if one.is_folder or one.name.endswith(".py")))
