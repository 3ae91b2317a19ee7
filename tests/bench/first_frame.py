"""How long a person looks at nothing: from typing `trackside` to its first frame, and until the engine is open."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.bench.lines import Line, at_most, print_lines
from tests.bench.start import COMMAND, ENVIRONMENT

ROUNDS = 15
ROWS, COLUMNS = 45, 160
PATIENCE = 20
"""Seconds without which something is wrong."""
EMPTY = "from textual.app import App; App().run()"
LAST_ROW = f"\x1b[{ROWS};1H".encode()
"""The first frame is painted whole, and its last row last."""
LOADING = b"loading"
"""What the console says in it."""
PANES = (b"Conversation", b"Stream")
"""What the first frame does without, and what comes right behind it."""
OPEN = b"built in, no key"
"""What it says of its runner once the engine has told it."""
QUIT = b"\x11"


class _Terminal:
    """A process on a terminal of its own, and what it has drawn."""

    def __init__(self, *command: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        environment = {**ENVIRONMENT, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self.drawn = b""
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-c", *command],
            stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)

    def until(self, *marks: bytes) -> float:
        """Milliseconds from the start until all of these were drawn."""
        while not all(mark in self.drawn for mark in marks):
            left = self.began + PATIENCE - time.perf_counter()
            if not select.select([self._ours], [], [], max(0, left))[0]:
                raise AssertionError(f"{marks} was never drawn: {self.drawn[-2_000:]!r}")
            self.drawn += os.read(self._ours, 65_536)
        return (time.perf_counter() - self.began) * 1_000

    def leave(self) -> None:
        """Ask it to end, and take in what it has to say until it does."""
        os.write(self._ours, QUIT)
        try:
            while select.select([self._ours], [], [], PATIENCE)[0] and os.read(self._ours, 65_536):
                pass
        except OSError:  # how a terminal ends whose other side is closed
            pass
        self.process.wait(PATIENCE)
        os.close(self._ours)


def _empty() -> float:
    """Milliseconds until an app without anything has drawn itself."""
    terminal = _Terminal(EMPTY)
    took = terminal.until(LAST_ROW)
    terminal.leave()
    return took


def _console(database: Path) -> tuple[float, float, float]:
    """Milliseconds until the console has drawn its first frame, until its panes are there, until its engine is open."""
    terminal = _Terminal(COMMAND, "--db", str(database))
    frame = terminal.until(LOADING, LAST_ROW)
    if OPEN in terminal.drawn:
        raise AssertionError("the engine was opened before the first frame")
    panes = terminal.until(*PANES)
    opened = terminal.until(OPEN)
    terminal.leave()
    return frame, panes, opened


def measure() -> Iterator[Line]:
    """In turns, and the middle of each."""
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        database = Path(folder, "bench.db")
        _console(database)  # byte code, the database and the disk's cache are there from now on
        rounds = [(_empty(), *_console(database)) for _ in range(ROUNDS)]
    empty, frame, panes, opened = (median(times) for times in zip(*rounds, strict=True))
    yield at_most("first frame of `trackside`, against an empty Textual app", frame, "ms", empty, limit=1.4)
    yield at_most("all its panes are there, against an empty Textual app's first frame", panes, "ms", empty)
    yield at_most("its engine is open, against an empty Textual app's first frame", opened, "ms", empty)


if __name__ == "__main__":
    print_lines(measure())
