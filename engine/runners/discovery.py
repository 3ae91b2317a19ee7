"""Finds runners: in a Python file, in a plugin's folder, in a folder of both, and the bundled ones."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.runners.bare import looks_like_a_runner, read_bare
from engine.runners.descriptor import Origin, Problem, RunnerDescriptor
from engine.runners.ids import RunnerId

NOT_THERE: Final = "no such file or folder"
_MANIFEST: Final = "manifest.yaml"
_ENGINE: Final = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Source:
    """A place to look for runners."""

    path: Path
    origin: Origin | None = None
    """Where it is not said, a file's runners are `file` and a folder's `plugin`."""
    named_by: str = ""
    """Who asked to look there, for the message when nothing is there."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """What was found, and what was left out and why."""

    runners: tuple[RunnerDescriptor, ...]
    problems: tuple[Problem, ...]


Found = tuple[list[RunnerDescriptor], list[Problem]]


def discover(sources: Iterable[Source], cwd: Path) -> Discovery:
    """Look in all places, in order. No runner's code is run, and nothing broken hides what is sound."""
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
    """Where the bundled runners are: inside the installed package, else in the checkout around it."""
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
    """The folder's own plugin; without one, the plugins and runner files right in it."""
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
