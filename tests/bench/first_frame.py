"""From the start of `trackside` to its first frame, to all its panes, and until its engine is open."""

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
TIMEOUT_SECONDS = 20
EMPTY_APP = "from textual.app import App; App().run()"
LAST_ROW = f"\x1b[{ROWS};1H".encode()
"""Moves the cursor to the last row, which a whole frame paints last."""
LOADING = b"loading"
"""Text of the console in its first frame."""
PANES = (b"Conversation", b"Stream")
"""Titles of panes, which are drawn only after the first frame."""
ENGINE_OPEN = b"built in, no key"
"""Text beside the runner's name, once the engine is open."""
QUIT_KEY = b"\x11"


class _Terminal:
    """A process in a pseudo-terminal, and its output so far."""

    def __init__(self, *command: str) -> None:
        self._fd, process_fd = pty.openpty()
        fcntl.ioctl(process_fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        environment = {**ENVIRONMENT, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self.output = b""
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-c", *command],
            stdin=process_fd, stdout=process_fd, stderr=process_fd, env=environment, start_new_session=True,
        )  # fmt: skip
        os.close(process_fd)

    def wait_for(self, *texts: bytes) -> float:
        """Return the milliseconds from the start until all texts were in the output."""
        while not all(text in self.output for text in texts):
            left = self.began + TIMEOUT_SECONDS - time.perf_counter()
            if not select.select([self._fd], [], [], max(0, left))[0]:
                raise AssertionError(f"{texts} not drawn within {TIMEOUT_SECONDS} s: {self.output[-2_000:]!r}")
            self.output += os.read(self._fd, 65_536)
        return (time.perf_counter() - self.began) * 1_000

    def quit(self) -> None:
        """Press the key to quit, and read the output until the process ends."""
        os.write(self._fd, QUIT_KEY)
        try:
            while select.select([self._fd], [], [], TIMEOUT_SECONDS)[0] and os.read(self._fd, 65_536):
                pass
        except OSError:  # the process has closed its side of the terminal
            pass
        self.process.wait(TIMEOUT_SECONDS)
        os.close(self._fd)


def _time_empty_app() -> float:
    """The baseline: return the milliseconds until an empty Textual app has drawn a frame."""
    terminal = _Terminal(EMPTY_APP)
    took = terminal.wait_for(LAST_ROW)
    terminal.quit()
    return took


def _time_console(database: Path) -> tuple[float, float, float]:
    """Return the milliseconds until the first frame is drawn, all panes are drawn, and the engine is open."""
    terminal = _Terminal(COMMAND, "--db", str(database))
    frame = terminal.wait_for(LOADING, LAST_ROW)
    if ENGINE_OPEN in terminal.output:
        raise AssertionError("the engine was opened before the first frame")
    panes = terminal.wait_for(*PANES)
    opened = terminal.wait_for(ENGINE_OPEN)
    terminal.quit()
    return frame, panes, opened


def measure() -> Iterator[Line]:
    """Measure in turn, and take medians."""
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        database = Path(folder, "bench.db")
        _time_console(database)  # writes the byte code, creates the database and fills the disk cache
        rounds = [(_time_empty_app(), *_time_console(database)) for _ in range(ROUNDS)]
    empty, frame, panes, opened = (median(times) for times in zip(*rounds, strict=True))
    yield at_most("first frame of `trackside`, against an empty Textual app", frame, "ms", empty, limit=1.4)
    yield at_most("all panes of `trackside`, against an empty Textual app's first frame", panes, "ms", empty)
    yield at_most("open engine of `trackside`, against an empty Textual app's first frame", opened, "ms", empty)


if __name__ == "__main__":
    print_lines(measure())
