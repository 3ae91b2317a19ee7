"""What the host knows of a runner after discovery, and what it could not use."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from engine.protocol.manifest import AgentRunnerManifest
from engine.runners.errors import Broken
from engine.runners.ids import RunnerId
from engine.runtimes.runtime import Launch


class Origin(StrEnum):
    """How a runner was found."""

    BUNDLED = "bundled"
    FILE = "file"
    PLUGIN = "plugin"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that discovery left out, in whole or in part, and why."""

    path: Path
    reason: str
    line: int | None = None
    folder: Path | None = None
    """The plugin's, where it is a file of one."""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else str(self.path)
        return f"{place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class RunnerDescriptor:
    """A validated manifest and where its code lives."""

    id: RunnerId
    manifest: AgentRunnerManifest
    launch: Launch
    origin: Origin
    path: Path
    """The file that declares it: a component file, or the Python file itself."""

    def __post_init__(self) -> None:
        if self.manifest.id != str(self.id):
            raise Broken(f"its manifest says {self.manifest.id!r}, but where it lies makes it {str(self.id)!r}")

    def launch_with(self, *, python: str | None, env: Iterable[str], environ: Mapping[str, str]) -> Launch:
        """The launch with a chosen interpreter and the named variables, as far as they are set in `environ`."""
        named = tuple((name, environ[name]) for name in sorted(set(env)) if name in environ)
        return replace(self.launch, python=python or self.launch.python, env=named)


def interpreter_of(folder: Path) -> str | None:
    """The interpreter of the folder's own `.venv`, if it has one; none means ours."""
    python = folder / ".venv" / "bin" / "python"
    return str(python) if python.is_file() else None
