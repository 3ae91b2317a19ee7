"""What was typed and not sent, kept in a file beside the database until it is: also through a crash or a kill."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_MARK: Final = ".draft-"


class Drafts:
    """One file for each process, which holds it locked while it lives: where the lock is free it was left behind."""

    def __init__(self, database: Path) -> None:
        self._folder = database.parent
        self._beginning = f"{database.name}{_MARK}"
        self._path = database.with_name(f"{self._beginning}{os.getpid()}-{id(self):x}")
        self._file: int | None = None
        self._kept = ""

    def keep(self, text: str) -> None:
        """Have this in the file; nothing takes the file away."""
        if text != self._kept:
            self._kept = text
            # A disk that takes no draft has told its trouble elsewhere already.
            with suppress(OSError):
                self._write(text.encode("utf-8", "replace"))

    def release(self) -> None:
        """Leave to the next process what is kept."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def take(self) -> str | None:
        """The newest that a process which is gone has left behind; it is taken away."""
        with suppress(OSError):
            found = [path for path in self._folder.iterdir() if path.name.startswith(self._beginning)]
            for path in sorted(found, key=lambda path: path.stat().st_mtime, reverse=True):
                if text := _taken(path):
                    return text
        return None

    def _write(self, text: bytes) -> None:
        if not text:
            self._path.unlink(missing_ok=True)
            self.release()
            return
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Over the old one, then cut: between the two it is longer than it should be, but never empty.
        os.pwrite(self._file, text, 0)
        os.truncate(self._file, len(text))


def _taken(path: Path) -> str | None:
    """What a file holds, and it is gone; nothing where its process lives."""
    with suppress(OSError), path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        text = file.read().decode("utf-8", "replace")
        path.unlink(missing_ok=True)
        return text
    return None
