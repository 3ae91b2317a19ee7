"""What was typed and not sent, kept in a file beside the database until it is: also through a crash or a kill."""

import fcntl
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

_MARK: Final = ".draft-"
_MORE: Final = "\0"
"""Behind the text: the files that go along with it; behind these, the session."""


class Draft(NamedTuple):
    """A text, the paths of the files that its tokens stand for, and the session that it was meant for."""

    text: str = ""
    files: Mapping[str, str] = {}
    session: str = ""
    """Not known of those that were written before it was noted."""

    @classmethod
    def of(cls, written: bytes) -> "Draft":
        import json  # noqa: PLC0415  (not before the first frame; orjson takes no path that is no UTF-8)

        text, mark, more = written.decode("utf-8", "replace").partition(_MORE)
        files, _, session = more.partition(_MORE)
        with suppress(ValueError):
            found: Any = json.loads(files) if mark else {}
            if isinstance(found, dict):
                paths = {str(token): str(path) for token, path in cast("dict[str, Any]", found).items()}
                return cls(text, paths, session)
        return cls(text, session=session)

    def written(self) -> bytes:
        import json  # noqa: PLC0415

        parts = [self.text.replace(_MORE, "")]
        if parts[0] and (self.files or self.session):
            parts += [json.dumps(self.files), *filter(None, [self.session])]
        return _MORE.join(parts).encode("utf-8", "replace")


class PromptDrafts:
    """One file for each process, which holds it locked while it lives: where the lock is free it was left behind."""

    def __init__(self, database: Path) -> None:
        self._folder = database.parent
        self._beginning = f"{database.name}{_MARK}"
        self._path = database.with_name(f"{self._beginning}{os.getpid()}-{id(self):x}")
        self._file: int | None = None
        self._kept, self._is_kept = Draft(), True

    def keep(self, draft: Draft) -> bool:
        """Have this in the file; nothing takes the file away. Says whether it is there."""
        if draft != self._kept:
            self._kept = draft
            # A disk that takes no draft has told its trouble elsewhere already.
            self._is_kept = False
            with suppress(OSError):
                self._write(draft.written())
                self._is_kept = True
        return self._is_kept

    def release(self) -> None:
        """Leave to the next process what is kept."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def take(self) -> Draft | None:
        """The newest that a process which is gone has left behind; it is taken away."""
        with suppress(OSError):
            found = [path for path in self._folder.iterdir() if path.name.startswith(self._beginning)]
            for path in sorted(found, key=lambda path: path.stat().st_mtime, reverse=True):
                if written := _taken(path):
                    return Draft.of(written)
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


def _taken(path: Path) -> bytes | None:
    """What a file holds, and it is gone; nothing where its process lives."""
    with suppress(OSError), path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        written = file.read()
        path.unlink(missing_ok=True)
        return written
    return None
