"""Run every test that depends on timing many times beside busy loops, and list those that failed.

python -m tests.stable [--times 20] [--busy 2] [PATH …]
"""

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

WORKERS = 2


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Keep this many processor cores busy."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def run_once(paths: list[str], report: Path) -> list[str]:
    """Run the marked tests once. Returns the names of those that failed."""
    command = [sys.executable, "-m", "pytest", "-m", "timing", "-n", str(WORKERS), "--no-header", "--tb=short"]
    done = subprocess.run([*command, f"--junit-xml={report}", *paths], check=False, capture_output=True, text=True)
    if not report.exists():
        sys.exit(done.stdout + done.stderr)
    cases = ET.parse(report).iter("testcase")
    failed = [
        f"{case.get('classname')}::{case.get('name')}"
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    ]
    if failed:
        print(done.stdout)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.stable", description="Run tests that depend on timing many times.")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="only tests of these files or folders (default: all)")
    parser.add_argument("--times", type=int, default=20, help="how often each test runs (default: 20)")
    parser.add_argument("--busy", type=int, default=2, help="busy loops beside them (default: 2)")
    options = parser.parse_args()
    failures: Counter[str] = Counter()
    with TemporaryDirectory(prefix="trackside-stable-") as folder, busy_loops(options.busy):
        for number in range(1, options.times + 1):
            failed = run_once(options.paths, Path(folder) / f"{number}.xml")
            failures.update(failed)
            print(f"run {number} of {options.times}: {len(failed)} failed", flush=True)
    for name, times in failures.most_common():
        print(f"{times:3} of {options.times} failed: {name}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
