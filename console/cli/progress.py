"""The progress of a long step, as one line on a terminal."""

import sys
from typing import Self

from console.cli.terminal import Output


class Progress:
    """Shows how much of a step is done, in one line that is cleared at the end. Used as a context manager."""

    def __init__(self, out: Output, step: str) -> None:
        self._out = out
        self._step = step
        self._percent = 0

    def show(self, done: int, total: int) -> None:
        """Show the percentage if it has changed. May be called from any thread."""
        percent = 100 * done // total if total else 100
        # A step that is done at once needs no line.
        if self._out.is_terminal and percent != self._percent and percent < 100:
            self._percent = percent
            self._out.write(f"\r{self._step} … {percent} %")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._percent:
            self._out.write("\r" + " " * len(f"{self._step} … 100 %") + "\r")


def upgrade_progress() -> Progress:
    """Return the progress of an upgrade, on standard error."""
    return Progress(Output(sys.stderr), "Upgrading the database")
