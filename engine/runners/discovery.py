"""Finds runners in Python files, plugin folders, folders of both, and the bundled ones."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.runners.descriptor import Origin, Problem, RunnerDescriptor
from engine.runners.ids import RunnerId
from engine.runners.single_file import looks_like_a_runner, read_bare

NOT_THERE: Final = "no such file or folder"
_MANIFEST: Final = "manifest.yaml"
_ENGINE: Final = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Source:
    """A place in which discovery looks for runners."""

    path: Path
    origin: Origin | None = None
    """Default: `file` for the runners of a file, `plugin` for those of a folder."""
    named_by: str = ""
    """Where the place was named, for the error if it does not exist."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """The runners that were found, and the files that were left out."""

    runners: tuple[RunnerDescriptor, ...]
    problems: tuple[Problem, ...]


Found = tuple[list[RunnerDescriptor], list[Problem]]


def discover(sources: Iterable[Source], cwd: Path) -> Discovery:
    """Look in all places, in order. Runs no runner code; a broken file hides no other."""
    taken: dict[RunnerId, RunnerDescriptor] = {}
    problems: list[Problem] = []
    for source in sources:
        runners, faults = _look(source, cwd)
        problems += [fault for fault in faults if fault not in problems]
        for runner in runners:
            first = taken.setdefault(runner.id, runner)
            if first.path != runner.path:
                problems.append(Problem(runner.path, f"{runner.id} is already taken by {first.path}"))
    return Discovery(tuple(taken.values()), tuple(problems))


def bundled_folder() -> Path:
    """Return the folder of the bundled runners: in the installed package, else in the checkout."""
    installed = _ENGINE / "bundled"
    return installed if installed.is_dir() else _ENGINE.parent / "fixtures" / "runners"


def is_plugin(folder: Path) -> bool:
    """Whether the folder has the layout of a plugin."""
    return (folder / _MANIFEST).is_file()


def _look(source: Source, cwd: Path) -> Found:
    path = source.path.resolve()
    if path.is_file():
        if path.suffix != ".py":
            return [], [Problem(path, f"not a Python file{_by(source)}")]
        return read_bare(path, cwd, source.origin or Origin.FILE)
    if not path.is_dir():
        return [], [Problem(path, f"{NOT_THERE}{_by(source)}")]
    runners: list[RunnerDescriptor] = []
    problems: list[Problem] = []
    for found, faults in _look_in(path, source, cwd):
        runners += found
        problems += faults
    if not runners and not problems:
        problems.append(
            Problem(path, f"no runner in this folder: no {_MANIFEST}, and no .py file with one{_by(source)}")
        )
    return runners, problems


def _look_in(folder: Path, source: Source, cwd: Path) -> Iterator[Found]:
    """Find the folder's own plugin, or else the plugins and runner files directly in it."""
    # Imported here: YAML costs 26 ms that a run of a single file need not pay.
    from engine.runners.plugin import read_plugin  # noqa: PLC0415

    if is_plugin(folder):
        yield read_plugin(folder, source.origin or Origin.PLUGIN)
        return
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_", "test_")))
    except OSError as error:
        yield [], [Problem(folder, f"cannot be read: {error.strerror or error}")]
        return
    for path in paths:
        if path.is_dir() and is_plugin(path):
            yield read_plugin(path, source.origin or Origin.PLUGIN)
        elif path.suffix == ".py" and path.is_file() and looks_like_a_runner(path):
            yield read_bare(path, cwd, source.origin or Origin.FILE)


def _by(source: Source) -> str:
    return f" (named by {source.named_by})" if source.named_by else ""
