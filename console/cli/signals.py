"""Signal handling: the first signal stops the run, a second one exits at once."""

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Final, Self

from console.cli.exit_codes import ExitCode
from console.cli.terminal import print_error

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class SignalHandler:
    """Handles signals inside its `with` block. Until `stop` is set, a signal cancels the current task."""

    def __init__(self) -> None:
        self.number: signal.Signals | None = None
        """The first signal, or None."""
        self.stop: Callable[[], None] | None = None
        """Called by the first signal."""
        self._task: asyncio.Task[int] | None = None

    def __enter__(self) -> Self:
        self._task = asyncio.current_task()
        for number in _SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._handle, number)
        return self

    def __exit__(self, *_: object) -> None:
        for number in _SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)

    def _handle(self, number: signal.Signals) -> None:
        if self.number is not None:
            print_error("exited without waiting for the run. The next `trackside run` on this database closes it.")
            os._exit(ExitCode.INTERRUPTED)
        self.number = number
        if self.stop is not None:
            self.stop()
        elif self._task is not None:
            self._task.cancel()
