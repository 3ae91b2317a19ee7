"""Copies of the project in which tests are run, so that no fault ever touches the project itself."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
COPIED: Final = ("engine", "console", "fixtures", "tests", "pyproject.toml")
LONGEST: Final = 120
"""Seconds after which a test is stuck."""
_WHERE: Final = "import console, engine; print(engine.__file__); print(console.__file__)"


class Tree:
    """One copy."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._output = folder.with_name(f"{folder.name}.txt")

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

    def pytest(self, *arguments: str, writes_byte_code: bool = False, longest: float | None = LONGEST) -> int | None:
        """Run tests here; their exit code, or None if they were stuck."""
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", self._temporary()]
        with self._output.open("w") as output:
            process = subprocess.Popen(
                [*command, *arguments],
                cwd=self.folder,
                env=self._environment(writes_byte_code=writes_byte_code),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            try:
                return process.wait(longest)
            except subprocess.TimeoutExpired:
                return None
            finally:
                process.kill()
                process.wait()

    def output(self) -> list[str]:
        """What the tests said."""
        return self._output.read_text(errors="replace").splitlines()

    def collected(self, files: Iterable[str]) -> set[str]:
        """The node ids in these files, with and without their parameters."""
        self.pytest("--collect-only", *sorted(files), writes_byte_code=True)
        found = [line for line in self.output() if "::" in line]
        return {name for line in found for name in (line, line.partition("[")[0])}

    def failing(self, tests: Sequence[str], processes: int) -> set[str]:
        """Those of the tests that fail here."""
        code = self.pytest("-n", str(processes), "-rfE", "--tb=short", *tests, writes_byte_code=True, longest=None)
        told = [line.split(" - ")[0] for line in self.output() if line.startswith(("FAILED ", "ERROR "))]
        if code not in (0, 1) or (code == 1) != bool(told):
            raise SystemExit("\n".join(self.output()))
        return {name for line in told for name in (line.partition(" ")[2], line.partition(" ")[2].partition("[")[0])}

    def _temporary(self) -> str:
        return str(self.folder.with_name(f"{self.folder.name}-tmp"))

    def _environment(self, *, writes_byte_code: bool = False) -> dict[str, str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
        environment["PYTHONPATH"] = str(self.folder)
        if not writes_byte_code:
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        return environment
