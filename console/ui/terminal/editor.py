"""Edits a text in the user's own editor. The console waits; its runs go on."""

import asyncio
import os
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_DEFAULT_EDITORS: Final = ("nano", "vi")


class EditorError(Exception):
    """The editor is missing or failed; the message says which, and what to do."""


def editor_command() -> Sequence[str]:
    """The command of the editor: $VISUAL, $EDITOR, or a default. Raises EditorError if there is none."""
    for name in ("VISUAL", "EDITOR"):
        value = os.environ.get(name, "").strip()
        if value:
            try:
                command = shlex.split(value)
            except ValueError as error:
                raise EditorError(f"${name} is not a valid command: {error}.") from error
            if shutil.which(command[0]) is None:
                raise EditorError(f"${name} names {command[0]!r}, which was not found.")
            return command
    found = next((found for name in _DEFAULT_EDITORS if (found := shutil.which(name)) is not None), None)
    if found is None:
        raise EditorError("No editor was found. Set one, for example: export EDITOR=nano")
    return [found]


async def edit_text(command: Sequence[str], text: str) -> str:
    """Return the text as edited. Raises EditorError if the editor failed; the text is unchanged then."""
    with tempfile.TemporaryDirectory(prefix="trackside-") as folder:
        path = Path(folder, "message.md")
        await asyncio.to_thread(path.write_text, text, encoding="utf-8")
        process = await asyncio.create_subprocess_exec(*command, str(path))
        code = await process.wait()
        if code:
            raise EditorError(f"{Path(command[0]).name} ended with status {code}. The message is unchanged.")
        try:
            edited = await asyncio.to_thread(path.read_text, encoding="utf-8")
        except (OSError, ValueError) as error:
            raise EditorError(f"The edited file cannot be read: {error}. The message is unchanged.") from error
    # Editors end every file with a newline that the user did not write.
    return edited.removesuffix("\n") if not text.endswith("\n") else edited
