"""The code that a child has loaded, as it reports it: digests of its own files, and other distributions."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from engine.runtimes.child_reports import read_digests, read_modules
from engine.runtimes.distributions import Distribution, find_distributions
from engine.runtimes.runtime import Launch, LoadedCode
from engine.runtimes.worker.file_stamps import Stamp

MAX_RECORDED_FILES: Final = 500
MAX_RECORDED_DISTRIBUTIONS: Final = 500
MAX_LOOKUPS: Final = 64
"""Searches for distributions per child: a child that reports new modules in every run is not followed for ever."""
LOOKUP_SECONDS: Final = 2.0
"""How long the end of a run waits for the names of distributions. They are usually known since the start."""

_Lookups = tuple["asyncio.Task[set[Distribution]]", ...]


class LoadedModules:
    """Collects the reports of one child."""

    def __init__(self, launch: Launch) -> None:
        self._folder = f"{launch.folder.absolute()}/"
        self._files: Sequence[Stamp] = ()
        self._digests: dict[str, str] = {}
        self._lookups: _Lookups = ()
        self.python_version: str | None = None

    def take(self, report: Mapping[str, Any], files: Sequence[Stamp]) -> None:
        """Take the files of a report that was checked, with the digests and modules in it."""
        self._files = files
        self._digests.update(read_digests(report.get("digests"), {path for path, _, _ in files}))
        for folder, names in read_modules(report.get("modules")).items():
            if len(self._lookups) < MAX_LOOKUPS:
                search = asyncio.to_thread(find_distributions, folder, names)
                self._lookups = (*self._lookups, asyncio.get_running_loop().create_task(search))

    def snapshot(self) -> "LoadedSnapshot":
        """Return what is loaded now."""
        shown = sorted(self._files)[:MAX_RECORDED_FILES]
        files = {path.removeprefix(self._folder): self._digests.get(path) for path, _, _ in shown}
        return LoadedSnapshot(files, len(self._files) - len(shown), self.python_version, self._lookups)


class LoadedSnapshot:
    """What a child had loaded at one moment."""

    def __init__(
        self, files: Mapping[str, str | None], left_out: int, python_version: str | None, lookups: _Lookups
    ) -> None:
        self._files = files
        self._left_out = left_out
        self._python_version = python_version
        self._lookups = lookups

    async def read(self) -> LoadedCode:
        """Return the code with its distributions, once they were found, or after a while without them."""
        if self._lookups:
            await asyncio.wait(self._lookups, timeout=LOOKUP_SECONDS)
        found = (task.result() for task in self._lookups if task.done() and task.exception() is None)
        names = sorted(set[Distribution]().union(*found))[:MAX_RECORDED_DISTRIBUTIONS]
        return LoadedCode(self._files, dict(names), self._python_version, self._left_out)
