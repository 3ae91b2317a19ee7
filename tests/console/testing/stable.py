"""Install the wheel for a project outside of this repository, and run the picture test of its runner many times.

python -m tests.console.testing.stable [--times 50]

The test must pass every time, fail after the text of the runner has changed, and name a package that hides Trackside's.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = re.compile(r"^```python\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    subprocess.run([*map(str, command)], cwd=cwd, check=True)


def install_wheel(folder: Path) -> Path:
    """Build the wheel and install it with its extra into a new environment. Returns the folder of its programs."""
    run(sys.executable, *PIP, "wheel", "--no-deps", "-w", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    run(sys.executable, "-m", "venv", folder / "venv")
    programs = folder / "venv" / "bin"
    run(programs / "python", *PIP, "install", "-c", ROOT / "constraints.txt", f"{wheel}[testing]")
    return programs


def write_project(folder: Path, programs: Path) -> None:
    """Write the example of docs/testing.md, and a runner with its tests by `trackside new`."""
    folder.mkdir()
    for name, text in EXAMPLE.findall((ROOT / "docs" / "testing.md").read_text()):
        (folder / name).write_text(text)
    run(programs / "trackside", "new", "greeter", "--with", "picture", cwd=folder)


def main() -> int:
    parser = argparse.ArgumentParser(prog="stable", description="Run a picture test of an installed wheel many times.")
    parser.add_argument("--times", type=int, default=50, help="how often the tests run (default: 50)")
    times = parser.parse_args().times
    with TemporaryDirectory(prefix="trackside-testing-") as name:
        programs = install_wheel(Path(name))
        project = Path(name) / "project"
        write_project(project, programs)

        def test(*arguments: str) -> "subprocess.CompletedProcess[str]":
            command = [str(programs / "pytest"), "-q", *arguments]
            return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)

        if (accepted := test("--snapshot-update")).returncode:
            sys.exit(accepted.stdout)
        passed = 0
        for number in range(1, times + 1):
            done = test("test_planner.py", "test_greeter_picture.py")
            passed += done.returncode == 0
            print(f"run {number} of {times}: {'failed' if done.returncode else 'passed'}", flush=True)
            if done.returncode:
                print(done.stdout, flush=True)
        print(f"{passed} of {times} passed with the same pictures")
        runner = project / "planner.py"
        runner.write_text(runner.read_text().replace("Plan:", "Journey:"))
        is_red = test("test_planner.py").returncode == 1
        print(f"after a change of the runner's text: {'failed, as it must' if is_red else 'PASSED'}")
        (project / "engine.py").touch()
        is_named = "hides the package `engine` of Trackside" in test("test_planner.py").stdout
        print(f"with a module engine.py in the project: {'named, as it must' if is_named else 'NOT NAMED'}")
    return 0 if passed == times and is_red and is_named else 1


if __name__ == "__main__":
    sys.exit(main())
