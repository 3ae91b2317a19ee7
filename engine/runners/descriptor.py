"""Runners as discovery describes them, and files that it left out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from engine.protocol.manifest import AgentRunnerManifest
from engine.runners.errors import InvalidFile
from engine.runners.ids import RunnerId
from engine.runtimes.runtime import Launch, Sandbox


class Origin(StrEnum):
    """Where a runner was found."""

    BUNDLED = "bundled"
    FILE = "file"
    PLUGIN = "plugin"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that discovery left out completely or in part, with the reason."""

    path: Path
    reason: str
    line: int | None = None
    folder: Path | None = None
    """The plugin that the file belongs to, if any."""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else str(self.path)
        return f"{place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class RunnerDescriptor:
    """A validated manifest and the place of its code."""

    id: RunnerId
    manifest: AgentRunnerManifest
    launch: Launch
    origin: Origin
    path: Path
    """The file that declares the runner: a component file or a Python file."""

    def __post_init__(self) -> None:
        if self.manifest.id != str(self.id):
            raise InvalidFile(f"the manifest has the id {self.manifest.id!r}, but must have {str(self.id)!r}")

    def launch_with(
        self,
        *,
        python: str | None,
        env: Iterable[str],
        environ: Mapping[str, str],
        is_deterministic: bool = True,
        sandbox: Sandbox | None = None,
    ) -> Launch:
        """Return the launch with the interpreter, the sandbox, and those of the named variables that `environ` has."""
        named = tuple((name, environ[name]) for name in sorted(set(env)) if name in environ)
        return replace(
            self.launch,
            python=python or self.launch.python,
            env=named,
            is_deterministic=is_deterministic,
            sandbox=sandbox,
        )


def interpreter_of(folder: Path) -> str | None:
    """Return the interpreter of the folder's own `.venv`, or None for ours."""
    python = folder / ".venv" / "bin" / "python"
    return str(python) if python.is_file() else None
