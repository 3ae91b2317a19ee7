"""The report of a failure that ended the console."""

import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from console.ui.shared.crash_guard import FailureReport


def write_crash_report(crash: FailureReport, database: Path | None, session_id: str) -> Path | None:
    """Write the report beside the database, else into the folder for temporary files. Returns its path, if any.

    A report beside the database names its session in the last line, and is deleted with the session.
    """
    name = f"crash-{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}.txt"
    paths = [Path(tempfile.gettempdir()) / f"trackside-{name}"]
    if database is not None:
        paths.insert(0, database.with_name(f"{database.name}.{name}"))
    for path in paths:
        try:
            _write_private(path, f"{crash.report.rstrip()}\nSession: {session_id}\n")
        except OSError:
            continue
        return path
    return None


def _write_private(path: Path, text: str) -> None:
    """Write a new file that only its owner may read: a report contains paths, and may contain texts of a session."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        os.fchmod(descriptor, 0o600)
        file.write(text)


def crash_messages(crash: FailureReport, report: Path | None, *, has_draft: bool) -> tuple[str, ...]:
    """The lines that are printed after the screen is closed."""
    draft = " Your unsent text is restored the next time." if has_draft else ""
    where = f"The full report is in {report}." if report else "The report could not be written."
    return (f"The console failed ({crash.text}). All recorded entries are safe.{draft}", where)
