"""Standard output and standard error: colours, error lines, closed pipes and wrapped text."""

import contextlib
import errno
import os
import re
import shutil
import sys
from typing import ClassVar, Final, TextIO
from unicodedata import combining, east_asian_width

from console.model.text.safe import one_line, safe_json
from console.model.text.sentence import as_sentence

_READER_GONE: Final = frozenset({errno.EPIPE, errno.EIO, errno.EBADF})
"""The reader has gone: `| head` has ended, or the terminal was closed."""
_STYLES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class Output:
    """A stream that a command writes to."""

    has_failed: ClassVar[bool] = False
    """Whether a write failed for another reason than a reader that has gone; the command then exits 1."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.is_gone = stream is None
        """Whether the reader has gone; further writes are discarded."""
        self.is_terminal = stream is not None and stream.isatty()
        self.width = shutil.get_terminal_size().columns if self.is_terminal else None
        """Columns of the terminal; None if it is not one."""
        self._colours = self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def paint(self, style: str, text: str) -> str:
        """Return the text in a style, or unchanged if colours are off."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._colours and text else text

    def write(self, text: str) -> None:
        """Write and flush. The caller has removed control characters."""
        if self._stream is not None:
            self.write_bytes(text.encode(self._stream.encoding, "backslashreplace"))

    def write_lines(self, lines: list[str]) -> None:
        """Write lines of JSON and flush, always in UTF-8, and also into a pipe without control characters."""
        if lines:
            self.write_bytes((safe_json("\n".join(lines)) + "\n").encode())

    def write_bytes(self, content: bytes) -> None:
        """Write bytes and flush."""
        if self._stream is None or self.is_gone:
            return
        try:
            self._stream.buffer.write(content)
            self._stream.flush()
        except OSError as error:
            self._close_after(error)

    def line(self, text: str = "") -> None:
        self.write(text + "\n")

    def _close_after(self, error: OSError) -> None:
        self.is_gone = True
        if self._stream is not None:
            # Python would report what is still buffered at exit.
            with contextlib.suppress(OSError, ValueError):
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, self._stream.fileno())
                os.close(null)
        if error.errno not in _READER_GONE:
            Output.has_failed = True
            print_error(f"cannot write the output: {error.strerror}. Runs are recorded: see `trackside show last`.")


def standard_output() -> Output:
    return Output(sys.stdout)


def mask_secrets(text: str) -> str:
    """Return the text of an error without the secrets of the runs that this process has prepared."""
    if "engine.api" not in sys.modules:
        return text
    from engine.api import process_mask

    return process_mask().cover_words(text)


def print_error(message: str) -> None:
    """Print one line on standard error, with secrets masked. An error of the engine begins as a sentence."""
    text = "; ".join(line.strip() for line in mask_secrets(message).splitlines() if line.strip())
    Output(sys.stderr).line(f"trackside: {one_line(as_sentence(text), 4_000)}")


_PARTS: Final = re.compile(r"\n|[^\S\n]+|\S+")


class TextWrapper:
    """Wraps streamed text at a width. A word that comes in several pieces is broken as a terminal breaks it."""

    def __init__(self, width: int | None) -> None:
        self._width = width
        """None: no wrapping."""
        self._column = 0
        self._space = ""
        """Spaces that are written only if a word follows on the same line."""

    def begin(self) -> None:
        """Start a new block at column 0."""
        self._column, self._space = 0, ""

    def add(self, piece: str) -> str:
        """Return the wrapped text of the next piece."""
        if self._width is None:
            return piece
        return "".join(self._place(part, self._width) for part in _PARTS.findall(piece))

    def _place(self, part: str, width: int) -> str:
        if part == "\n":
            self.begin()
            return part
        if part.isspace():
            self._space += part
            return ""
        space, self._space = self._space, ""
        cells = _cells(part)
        if space and self._column and self._column + len(space) + cells > width:
            self._column = cells % width
            return "\n" + part
        self._column = (self._column + len(space) + cells) % width
        return space + part


def _cells(text: str) -> int:
    """Return the number of terminal columns of the text."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)
