"""Standard output and error: text that no terminal obeys, colour where it is wanted, quiet when nobody reads."""

import contextlib
import errno
import os
import shutil
import sys
from typing import ClassVar, Final, TextIO

from console.model.safe import one_line

_NOBODY: Final = frozenset({errno.EPIPE, errno.EIO, errno.EBADF})
"""The reader has gone: `| head` has seen enough, or the terminal was closed."""
_STYLES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class Output:
    """Where a command writes."""

    has_failed: ClassVar[bool] = False
    """Something could not be written though someone reads: whatever the command did, it did not succeed."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.is_gone = stream is None
        """Nobody reads any more; what is written is thrown away."""
        self.is_terminal = stream is not None and stream.isatty()
        self.width = shutil.get_terminal_size().columns if self.is_terminal else None
        """Columns of the terminal, if it is one."""
        self._colours = self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def paint(self, style: str, text: str) -> str:
        """The text in a style of ours, where colours are wanted."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._colours and text else text

    def write(self, text: str) -> None:
        """Write at once. The text must be safe already."""
        if self._stream is not None:
            self.write_bytes(text.encode(self._stream.encoding, "backslashreplace"))

    def write_lines(self, lines: list[str]) -> None:
        """Write JSON lines at once, in UTF-8 whatever the terminal's encoding."""
        if lines:
            self.write_bytes(("\n".join(lines) + "\n").encode())

    def write_bytes(self, content: bytes) -> None:
        """Write at once, byte for byte."""
        if self._stream is None or self.is_gone:
            return
        try:
            self._stream.buffer.write(content)
            self._stream.flush()
        except OSError as error:
            self._leave(error)

    def line(self, text: str = "") -> None:
        """Write one line."""
        self.write(text + "\n")

    def _leave(self, error: OSError) -> None:
        self.is_gone = True
        if self._stream is not None:
            # What is still buffered would be complained about at exit.
            with contextlib.suppress(OSError, ValueError):
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, self._stream.fileno())
                os.close(null)
        if error.errno not in _NOBODY:
            Output.has_failed = True
            complain(f"cannot write the output: {error.strerror}. What ran is recorded: `trackside show last`.")


def standard_output() -> Output:
    return Output(sys.stdout)


def complain(message: str) -> None:
    """One line on standard error."""
    words = "; ".join(line.strip() for line in message.splitlines() if line.strip())
    Output(sys.stderr).line(f"trackside: {one_line(words, 4_000)}")
