"""The progress of a long step: one line on a terminal, or a few lines elsewhere."""

import sys
from typing import TYPE_CHECKING, Final, Self

from console.cli.terminal import Output, print_error

if TYPE_CHECKING:
    from pathlib import Path

    from engine.api import Engine

LINE_PERCENT: Final = 10
"""Percentage points between two lines if the output is not a terminal."""


class Progress:
    """Shows how much of a step is done. The line on a terminal is cleared at the end. Used as a context manager."""

    def __init__(self, out: Output, step: str, *, is_logged: bool = False) -> None:
        self._out = out
        self._step = step
        self._is_logged = is_logged and not out.is_terminal
        """Whether lines are written that stay, for a log."""
        self._percent = 0
        self._logged_percent = -LINE_PERCENT

    def show(self, done: int, total: int) -> None:
        """Show the percentage if it has changed. May be called from any thread."""
        percent = 100 * done // total if total else 100
        if self._is_logged and percent >= self._logged_percent + LINE_PERCENT:
            self._logged_percent = percent
            self._out.line(f"{self._step} … {percent} %")
        # A step that is done at once needs no line.
        if self._out.is_terminal and percent != self._percent and percent < 100:
            self._percent = percent
            self._out.write(f"\r{self._step} … {percent} %")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._percent:
            self._out.write("\r" + " " * len(f"{self._step} … 100 %") + "\r")


async def open_host(target: "Path | None", db: "Path | None") -> "Engine":
    """Open an engine that hosts runs. Prints on standard error how far an upgrade of the database is."""
    from engine.api import Engine

    with Progress(Output(sys.stderr), "trackside: Upgrading the database", is_logged=True) as progress:
        engine = await Engine.open(target, db=db, on_progress=progress.show)
    for remark in engine.remarks:
        print_error(remark)
    return engine
