"""Files beside the database that belong to one session: crash reports, and drafts of consoles that have ended."""

import fcntl
from contextlib import suppress
from pathlib import Path

from engine.store.private_files import files_beside


def delete_session_files(database: Path, session_id: str) -> None:
    """Delete the crash reports and abandoned drafts of a session. A draft of a running console is locked and stays.

    Both name their session at the end: a report in its last line, a draft after its last NUL.
    """
    name = session_id.encode()
    ends = {".crash-": b"\nSession: " + name + b"\n", ".draft-": b"\0" + name}
    for path in files_beside(database):
        for part, end in ends.items():
            if path.name.startswith(f"{database.name}{part}"):
                _delete_if_it_ends_with(path, end)


def _delete_if_it_ends_with(path: Path, end: bytes) -> None:
    with suppress(OSError), path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if file.read().endswith(end):
            path.unlink(missing_ok=True)
