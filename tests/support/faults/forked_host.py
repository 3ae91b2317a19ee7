"""Hosts in forked processes that have everything imported: they start ten times as fast as a new interpreter."""

import multiprocessing
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO, Any

from tests.support.faults.fault_host import host

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["pytest", "tests.support.faults.fault_host", "engine.store.upgrade"])
_EXIT_CODES = threading.Lock()
"""`start` polls all children, and each exit code can be read only once: a second reader at the same time gets 255."""


@dataclass(frozen=True)
class ForkedHost:
    """A hosting process and the lines it prints."""

    process: BaseProcess
    lines: IO[str]

    def kill(self) -> None:
        """Send SIGKILL and wait for the end of the process."""
        self.process.kill()
        with _EXIT_CODES:
            self.process.join()


@contextmanager
def forked_host(mark: str, db: Path, runner: str | Path, text: str, **settings: Any) -> Iterator[ForkedHost]:
    """Host a run in a forked process (see fault_host.py). Kills the process at the end if it is still alive."""
    reader, writer = FORKS.Pipe(duplex=False)
    process = FORKS.Process(target=host, args=(writer, mark, (str(db), str(runner), text), settings))
    with _EXIT_CODES:
        process.start()
    writer.close()
    with reader, os.fdopen(os.dup(reader.fileno())) as lines:
        forked = ForkedHost(process, lines)
        try:
            yield forked
        finally:
            forked.kill()
