"""Signals: the first asks for an orderly end, the second gives up waiting for it."""

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Final, Self

from console.cli.terminal import complain

_HEARD: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruption:
    """Hears signals while it is entered. Before there is something to stop, the command itself is cancelled."""

    def __init__(self) -> None:
        self.number: signal.Signals | None = None
        """The signal that came, if one did."""
        self.stop: Callable[[], None] | None = None
        """What an orderly end means, once the command knows."""
        self._task: asyncio.Task[int] | None = None

    @property
    def exit_code(self) -> int:
        """128 and the signal's number, as a shell has it: 130 for an interrupt."""
        return 128 + (self.number or signal.SIGINT)

    def __enter__(self) -> Self:
        self._task = asyncio.current_task()
        for number in _HEARD:
            asyncio.get_running_loop().add_signal_handler(number, self._hear, number)
        return self

    def __exit__(self, *_: object) -> None:
        for number in _HEARD:
            asyncio.get_running_loop().remove_signal_handler(number)

    def _hear(self, number: signal.Signals) -> None:
        if self.number is not None:
            complain("gave up waiting. The next `trackside run` on this database closes the run.")
            os._exit(self.exit_code)
        self.number = number
        if self.stop is not None:
            self.stop()
        elif self._task is not None:
            self._task.cancel()
