"""The files of runners: which ones an edit can change, and which runner owns them."""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from engine.runners.descriptor import RunnerDescriptor
from engine.runners.discovery import is_plugin
from engine.runners.single_file import looks_like_a_runner
from engine.runtimes.worker.file_stamps import GONE, Mark, mark_of

SUFFIXES: Final = (".py", ".yaml", ".yml")
"""Code and manifests. Other files in a plugin's folder may be written by the runner itself."""
MAX_FILES: Final = 5_000
MAX_FOLDERS: Final = 1_000
_NOT_OURS: Final = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages"})


@dataclass(slots=True)
class SourceFiles:
    """A snapshot of files, and the folders in which new ones may appear."""

    marks: dict[Path, Mark] = field(default_factory=dict[Path, Mark])
    folders: set[Path] = field(default_factory=set[Path])

    def add(self, path: Path) -> None:
        """Add a single file, which need not exist yet."""
        self.folders.add(path.parent)
        if (mark := mark_of(path)) != GONE:
            self.marks[path] = mark

    def add_source(self, path: Path) -> None:
        """Add the files that discovery would read in a place, and the modules that can be imported from there."""
        path = path.resolve()
        if not path.is_dir():
            self.add(path)
            self._look(path.parent, (".py",))
        elif is_plugin(path):
            self._look_through(path)
        else:
            for folder in self._look(path, (".py",)):
                self.folders.add(folder)  # it may become part of a plugin
                if is_plugin(folder):
                    self._look_through(folder)

    def _look_through(self, root: Path) -> None:
        waiting = [root]
        while waiting and len(self.marks) < MAX_FILES and len(self.folders) < MAX_FOLDERS:
            waiting += self._look(waiting.pop())

    def _look(self, folder: Path, suffixes: tuple[str, ...] = SUFFIXES) -> list[Path]:
        """Add the files directly in a folder. Returns its subfolders."""
        self.folders.add(folder)
        inner: list[Path] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if entry.name.endswith(suffixes) and entry.is_file():
                        self.marks[Path(entry.path)] = mark_of(entry)
                    elif entry.is_dir(follow_symlinks=False) and entry.name not in _NOT_OURS:
                        inner.append(Path(entry.path))
        except OSError:
            return []  # missing or unreadable: discovery reports it
        return sorted(path for path in inner if not (path / "pyvenv.cfg").exists())


def files_of(sources: Iterable[Path], single: Iterable[Path] = ()) -> SourceFiles:
    """Take a snapshot of the files of all places and of single files."""
    files = SourceFiles()
    for path in sources:
        files.add_source(path)
    for path in single:
        files.add(path)
    return files


def changed(before: Mapping[Path, Mark], now: Mapping[Path, Mark]) -> tuple[Path, ...]:
    """Return the paths that were changed, added or removed, sorted."""
    return tuple(sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path)))


def made_of(
    runners: Iterable[RunnerDescriptor], paths: Collection[Path], former: Iterable[RunnerDescriptor] = ()
) -> tuple[str, ...]:
    """Return the ids of the runners that own these files. `former` are runners that existed before."""
    runners = tuple(runners)
    declaring = {runner.launch.path for runner in (*runners, *former)}
    # A file that declares a runner, or tries to, is no module of its neighbours.
    modules = {path for path in paths if path not in declaring and not looks_like_a_runner(path)}
    return tuple(str(runner.id) for runner in runners if any(_belongs(path, runner, path in modules) for path in paths))


def _belongs(path: Path, runner: RunnerDescriptor, is_module: bool) -> bool:
    launch = runner.launch
    if runner.path != launch.path:
        return path.is_relative_to(launch.folder)
    # A single file: itself, and the modules beside it, which it may import.
    beside = path.parent == launch.folder and path.suffix == ".py" and not path.name.startswith("test_")
    return path == launch.path or (is_module and beside)
