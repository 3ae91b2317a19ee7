"""`--log FILE`: writes the log of Trackside itself to a file, with secrets masked."""

import logging
import os
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

from console.cli.exit_codes import UsageError
from console.cli.terminal import print_error
from console.model.text.safe import safe
from engine.api import note_process_secrets, process_mask, secrets_in
from engine.version import VERSION

LOGGERS: Final = {"trackside": logging.DEBUG, "alembic": logging.INFO, "asyncio": logging.WARNING}
"""The loggers that are written, with their levels."""


@contextmanager
def command_log(path: Path, typed: Sequence[str]) -> Iterator[logging.Logger]:
    """Append to the log while a command runs: its start, what it does and its errors. A new file has mode 0600.

    Raises UsageError if the file cannot be opened.
    """
    note_process_secrets(secrets_in([*os.environ.items(), *(_name_and_value(word) for word in typed)]))
    handler = LogFile(_open(path))
    handler.setFormatter(MaskedFormatter())
    levels = {name: logging.getLogger(name).level for name in LOGGERS}
    for name, level in LOGGERS.items():
        logging.getLogger(name).addHandler(handler)
        logging.getLogger(name).setLevel(level)
    log = logging.getLogger("trackside.cli")
    try:
        # Without the values of options: they are texts of messages, settings and paths.
        options = [word.partition("=")[0] for word in typed if word.startswith("-")]
        command = typed[0] if typed and not typed[0].startswith("-") else "open"
        log.info("trackside %s, Python %s, %s", VERSION, platform.python_version(), platform.platform())
        log.info("command: %s", " ".join([command, *options]))
        yield log
    except BaseException:
        log.exception("the command has failed")
        raise
    finally:
        for name, level in levels.items():
            logging.getLogger(name).removeHandler(handler)
            logging.getLogger(name).setLevel(level)
        handler.close()
        if handler.error is not None:
            print_error(f"the log is incomplete: {path} cannot be written ({handler.error.strerror}).")


class MaskedFormatter(logging.Formatter):
    """Formats a record as one line, and a traceback below it, without secrets and control characters."""

    def __init__(self) -> None:
        line = "%(asctime)s.%(msecs)03dZ %(levelname)s %(process)d %(name)s: %(message)s"
        super().__init__(line, "%Y-%m-%dT%H:%M:%S")
        self.converter = time.gmtime

    def format(self, record: logging.LogRecord) -> str:
        return safe(process_mask().cover_words(super().format(record)))


class LogFile(logging.StreamHandler[TextIO]):
    """Writes records to an open file. A full disk must not disturb the screen, so its error is kept for the end."""

    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")
        super().__init__(self._file)
        self.error: OSError | None = None

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802  (named by logging)
        error = sys.exc_info()[1]
        self.error = error if isinstance(error, OSError) else OSError(0, repr(error))

    def close(self) -> None:
        try:
            self._file.close()
        except OSError as error:
            self.error = error
        super().close()


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UsageError(f"--log {path}: the file cannot be written ({error.strerror}). Name another file.") from None


def _name_and_value(word: str) -> tuple[str, str]:
    """Return an argument such as `api_key=…` as a setting, because its value may be a secret."""
    name, _, value = word.partition("=")
    return name, value
