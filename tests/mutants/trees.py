"""Copies of the project in which tests are run, so that no fault ever touches the project itself."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from tests.mutants.warm import Warm

ROOT: Final = Path(__file__).resolve().parents[2]
COPIED: Final = ("engine", "console", "fixtures", "tests", "pyproject.toml")
LONGEST: Final = 60
"""Seconds after which a test is stuck."""
_WHERE: Final = "import console, engine; print(engine.__file__); print(console.__file__)"


class Tree:
    """One copy."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._output = folder.with_name(f"{folder.name}.txt")
        self._warm: Warm | None = None

    @classmethod
    def copy(cls, folder: Path, source: Path = ROOT) -> "Tree":
        """Copy the project, or another copy with the byte code that it has by now."""
        left_out = shutil.ignore_patterns("__pycache__") if source == ROOT else None
        for name in COPIED:
            if (source / name).is_dir():
                shutil.copytree(source / name, folder / name, ignore=left_out)
            else:
                shutil.copy2(source / name, folder / name)
        return cls(folder)

    def check(self) -> None:
        """Make sure that the copy is what would be imported, and nothing that is installed."""
        found = subprocess.run(
            [sys.executable, "-c", _WHERE], cwd="/", env=self._environment(), capture_output=True, text=True, check=True
        )
        if strangers := [line for line in found.stdout.split() if not Path(line).is_relative_to(self.folder)]:
            raise SystemExit(f"the copy in {self.folder} is not what is imported: {', '.join(strangers)}")

    def run(self, test: str) -> int | None:
        """The exit code of one test here, whatever fault is in it by now; None if it was stuck."""
        if self._warm is None:
            self._warm = Warm(self.folder, self._environment({"PYTHONDONTWRITEBYTECODE": "1"}))
        return self._warm.run([*self._arguments(), "-x", "-rfE", "--tb=line", test], self._output, LONGEST)

    def close(self) -> None:
        if self._warm is not None:
            self._warm.close()

    def output(self) -> list[str]:
        """What the tests said."""
        return self._output.read_text(errors="replace").splitlines()

    def collected(self, files: Iterable[str]) -> set[str]:
        """The node ids in these files, with and without their parameters."""
        self._pytest("--collect-only", *sorted(files))
        found = [line for line in self.output() if "::" in line]
        return {name for line in found for name in (line, line.partition("[")[0])}

    def failing(self, tests: Sequence[str], processes: int) -> set[str]:
        """Those of the tests that fail here, as things are; leaves byte code behind, so that others start sooner."""
        code = self._pytest("-p", "xdist.plugin", "-n", str(processes), "-rfE", "--tb=short", *tests)
        told = [line.split(" - ")[0] for line in self.output() if line.startswith(("FAILED ", "ERROR "))]
        if code not in (0, 1) or (code == 1) != bool(told):
            raise SystemExit("\n".join(self.output()))
        return {name for line in told for name in (line.partition(" ")[2], line.partition(" ")[2].partition("[")[0])}

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
        return ["-p", "no:cacheprovider", "--basetemp", str(self.folder.with_name(f"{self.folder.name}-tmp"))]

    def _environment(self, more: dict[str, str] | None = None) -> dict[str, str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
        own = {
            "PYTHONPATH": str(self.folder),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_PLUGINS": "pytest_asyncio.plugin",
        }
        return environment | own | (more or {})
