"""The unsent text of the prompt, in a file beside the database. It survives a crash and a kill."""

import fcntl
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

_NAME_PART: Final = ".draft-"
_SEPARATOR: Final = "\0"
"""Between the text, its attached files and its session."""


class Draft(NamedTuple):
    """A text, the paths of its attached files by token, and the session that it was typed in."""

    text: str = ""
    files: Mapping[str, str] = {}
    session: str = ""
    """Empty in drafts of versions that did not store it."""

    @classmethod
    def decode(cls, data: bytes) -> "Draft":
        import json  # noqa: PLC0415  (not before the first frame; orjson refuses paths that are not UTF-8)

        text, separator, rest = data.decode("utf-8", "replace").partition(_SEPARATOR)
        files, _, session = rest.partition(_SEPARATOR)
        with suppress(ValueError):
            found: Any = json.loads(files) if separator else {}
            if isinstance(found, dict):
                paths = {str(token): str(path) for token, path in cast("dict[str, Any]", found).items()}
                return cls(text, paths, session)
        return cls(text, session=session)

    def encode(self) -> bytes:
        import json  # noqa: PLC0415

        parts = [self.text.replace(_SEPARATOR, "")]
        if parts[0] and (self.files or self.session):
            parts += [json.dumps(self.files), *filter(None, [self.session])]
        return _SEPARATOR.join(parts).encode("utf-8", "replace")


class PromptDrafts:
    """One draft file per process, locked while the process lives. A file without a lock was left behind."""

    def __init__(self, database: Path) -> None:
        self._folder = database.parent
        self._prefix = f"{database.name}{_NAME_PART}"
        self._path = database.with_name(f"{self._prefix}{os.getpid()}-{id(self):x}")
        self._file: int | None = None
        self._saved, self._is_written = Draft(), True

    def save(self, draft: Draft) -> bool:
        """Write the draft if it has changed. Returns False if the disk refused it."""
        if draft != self._saved:
            self._saved = draft
            self._is_written = False
            with suppress(OSError):  # the health monitor shows problems of the disk
                self._write(draft.encode())
                self._is_written = True
        return self._is_written

    def release(self) -> None:
        """Release the lock: the next process may take the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def take(self) -> Draft | None:
        """Return the newest draft that a process which has ended left behind, and delete its file."""
        with suppress(OSError):
            found = [path for path in self._folder.iterdir() if path.name.startswith(self._prefix)]
            for path in sorted(found, key=lambda path: path.stat().st_mtime, reverse=True):
                if data := _take_file(path):
                    return Draft.decode(data)
        return None

    def _write(self, data: bytes) -> None:
        if not data:
            self._path.unlink(missing_ok=True)
            self.release()
            return
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            os.fchmod(self._file, 0o600)  # whatever the umask
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Overwrite, then cut: between the two the file is too long, but never empty.
        os.pwrite(self._file, data, 0)
        os.truncate(self._file, len(data))


def _take_file(path: Path) -> bytes | None:
    """Read and delete a file; None if its process lives."""
    with suppress(OSError), path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        data = file.read()
        path.unlink(missing_ok=True)
        return data
    return None
