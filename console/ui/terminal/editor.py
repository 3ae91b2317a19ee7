"""A text in a person's own editor, while the console waits behind it and its runs go on."""

import asyncio
import os
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_USUAL: Final = ("nano", "vi")
"""What is asked for where nobody named one."""


class NoEditor(Exception):
    """There is none, or it did not do what it should; the message says which."""


def editor() -> Sequence[str]:
    """The command of the editor. Raises where there is none."""
    for name in ("VISUAL", "EDITOR"):
        named = os.environ.get(name, "").strip()
        if named:
            try:
                command = shlex.split(named)
            except ValueError as error:
                raise NoEditor(f"${name} cannot be read as a command: {error}") from error
            if shutil.which(command[0]) is None:
                raise NoEditor(f"${name} names {command[0]!r}, and there is no such program")
            return command
    found = next((found for name in _USUAL if (found := shutil.which(name)) is not None), None)
    if found is None:
        raise NoEditor("no editor is named; set EDITOR, such as: export EDITOR=nano")
    return [found]


async def edited(command: Sequence[str], text: str) -> str:
    """What the editor made of the text. Raises where it ended badly: then the text is as it was."""
    with tempfile.TemporaryDirectory(prefix="trackside-") as folder:
        path = Path(folder, "message.md")
        await asyncio.to_thread(path.write_text, text, encoding="utf-8")
        process = await asyncio.create_subprocess_exec(*command, str(path))
        code = await process.wait()
        if code:
            raise NoEditor(f"{Path(command[0]).name} ended with {code}; the message is as it was")
        try:
            made = await asyncio.to_thread(path.read_text, encoding="utf-8")
        except (OSError, ValueError) as error:
            raise NoEditor(f"what the editor left cannot be read: {error}; the message is as it was") from error
    # Editors end every file with a new line that nobody wrote.
    return made.removesuffix("\n") if not text.endswith("\n") else made
