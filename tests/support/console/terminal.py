"""A program in a real terminal of a given size: its screen, its output, and the modes it leaves on."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyte

from tests.support.limits import MAX_PROCESS_SECONDS

ROOT = Path(__file__).resolve().parents[3]
TRACKSIDE = Path(sys.executable).parent / "trackside"
_MODES = re.compile(rb"\x1b\[\?([\d;]+)([hl])")
_PUSHED, _POPPED = re.compile(rb"\x1b\[>\d+u"), re.compile(rb"\x1b\[<\d*u")


class Terminal:
    """Starts a command in a terminal of its own, and kills it at the end if it still runs."""

    def __init__(
        self, command: Sequence[str | Path], folder: Path, size: tuple[int, int], env: Mapping[str, str] | None = None
    ) -> None:
        self.screen = pyte.Screen(*size)
        self.sent = bytearray()
        """The output of the program."""
        self._stream = pyte.ByteStream(self.screen)
        self._master, self._slave = pty.openpty()
        self._set_size(*size)
        self._before = termios.tcgetattr(self._slave)
        folder.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            list(map(str, command)),
            cwd=folder,
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            env=_environment(folder, env or {}),
            start_new_session=True,
            # Only the terminal that a program belongs to tells it of a new size.
            preexec_fn=partial(fcntl.ioctl, self._slave, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)
        os.close(self._slave)

    @property
    def text(self) -> str:
        """The text of the screen."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)
        self._set_size(columns, rows)

    def forget(self) -> None:
        """Clear the screen without the program's knowledge, so that it shows only what is drawn from now on."""
        self.screen.reset()

    def until(self, holds: Callable[[], Any], what: str = "it") -> None:
        """Read output until the condition holds. Fails with the text of the screen if it does not."""
        end = time.monotonic() + MAX_PROCESS_SECONDS
        while not holds():
            assert time.monotonic() < end, f"{what} did not come:\n{self.text}"
            self._read(0.05)

    def read_for(self, seconds: float) -> None:
        """Read output for this time, or until the end of the program."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and self.process.poll() is None:
            self._read(min(left, 0.02))

    def sees(self, *words: str) -> None:
        """Wait until all of these texts are on the screen at the same time."""
        self.until(lambda: all(word in self.text for word in words), " + ".join(words))

    def ends(self) -> int:
        """Wait for the end of the program. Returns its exit code."""
        self.until(lambda: self.process.poll() is not None, "its end")
        while self._read(0.2):
            pass
        return self.process.returncode

    def kill(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def left_on(self) -> set[str]:
        """Return the modes that the program turned on and did not turn off."""
        last = {mode: state for modes, state in _MODES.findall(self.sent) for mode in modes.split(b";")}
        # A terminal starts with a visible cursor and with lines that wrap.
        usual = {b"25": b"h", b"7": b"h"}
        left = {f"?{mode.decode()}{state.decode()}" for mode, state in last.items() if state != usual.get(mode, b"l")}
        if len(_PUSHED.findall(self.sent)) > len(_POPPED.findall(self.sent)):
            left.add("kitty keys")
        if termios.tcgetattr(self._slave) != self._before:
            left.add("raw input")
        return left

    def turned_on(self) -> set[str]:
        """Return the modes that were on at any time."""
        return {
            mode.decode() for modes, state in _MODES.findall(self.sent) if state == b"h" for mode in modes.split(b";")
        }

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _read(self, seconds: float) -> bool:
        """Read what comes within this time. Returns whether something came."""
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        data = os.read(self._master, 1 << 16)
        self.sent += data
        self._stream.feed(data)
        return True


def _environment(folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    """An environment with a home folder of its own and none of the user's settings."""
    places = {
        name: str(folder / name.lower()) for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
    }
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        **places,
        **more,
    }
