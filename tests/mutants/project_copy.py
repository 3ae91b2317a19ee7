"""Copies of the project in which mutants are tried, so that no fault touches the project itself."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from tests.mutants.catalog import ROOT
from tests.mutants.fork_server import ForkServer

COPIED_PATHS: Final = ("engine", "console", "docs", "fixtures", "tests", "pyproject.toml")
MAX_TEST_SECONDS: Final = 60
ADDOPTS: Final = "addopts=-q --import-mode=importlib --strict-markers"
"""The options of pyproject.toml without those of xdist, which is not loaded for a single test."""
_PRINT_PATHS: Final = "import console, engine; print(engine.__file__); print(console.__file__)"


class ProjectCopy:
    """A copy of the project, with a process that runs single tests in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._output = folder.with_name(f"{folder.name}.txt")
        self._server: ForkServer | None = None

    @classmethod
    def create(cls, folder: Path, source: Path = ROOT) -> "ProjectCopy":
        """Copy the project, or another copy together with its byte code."""
        ignored = shutil.ignore_patterns("__pycache__") if source == ROOT else None
        for name in COPIED_PATHS:
            if (source / name).is_dir():
                shutil.copytree(source / name, folder / name, ignore=ignored)
            else:
                shutil.copy2(source / name, folder / name)
        return cls(folder)

    def check_imports(self) -> None:
        """Stop the program if Python would import the project from elsewhere than this copy."""
        found = subprocess.run(
            [sys.executable, "-c", _PRINT_PATHS],
            cwd="/",
            env=self._environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        if foreign := [line for line in found.stdout.split() if not Path(line).is_relative_to(self.folder)]:
            raise SystemExit(f"Python does not import the copy in {self.folder}: {', '.join(foreign)}")

    def run(self, test: str) -> int | None:
        """Run one test here, with the fault that is applied now. Returns its exit code, or None if it timed out."""
        if self._server is None:
            self._server = ForkServer(self.folder, self._environment({"PYTHONDONTWRITEBYTECODE": "1"}))
        return self._server.run([*self._arguments(), "-x", "-rfE", "--tb=line", test], self._output, MAX_TEST_SECONDS)

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    def output(self) -> list[str]:
        """The output of the last run of pytest."""
        return self._output.read_text(errors="replace").splitlines()

    def collect_tests(self, files: Iterable[str]) -> set[str]:
        """Return the node ids in these files, with and without their parameters."""
        if self._pytest("--collect-only", *sorted(files)) != 0:
            raise SystemExit("\n".join(self.output()))
        found = [line for line in self.output() if "::" in line]
        return {name for line in found for name in (line, line.partition("[")[0])}

    def find_failing(self, tests: Sequence[str], processes: int) -> set[str]:
        """Run tests and return those that fail. The byte code that this leaves makes later runs faster."""
        code = self._pytest("-p", "xdist.plugin", "-n", str(processes), "-rfE", "--tb=short", *tests)
        failed = [line.split(" - ")[0] for line in self.output() if line.startswith(("FAILED ", "ERROR "))]
        if code not in (0, 1) or (code == 1) != bool(failed):
            raise SystemExit("\n".join(self.output()))
        return {name for line in failed for name in (line.partition(" ")[2], line.partition(" ")[2].partition("[")[0])}

    def _pytest(self, *arguments: str) -> int:
        command = [sys.executable, "-m", "pytest", *self._arguments(), *arguments]
        with self._output.open("w") as output:
            return subprocess.run(
                command,
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            ).returncode

    def _arguments(self) -> list[str]:
        return [
            "-o",
            ADDOPTS,
            "-p",
            "no:cacheprovider",
            "--basetemp",
            str(self.folder.with_name(f"{self.folder.name}-tmp")),
        ]

    def _environment(self, more: dict[str, str] | None = None) -> dict[str, str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
        own = {
            "PYTHONPATH": str(self.folder),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_PLUGINS": "pytest_asyncio.plugin",
        }
        return environment | own | (more or {})
