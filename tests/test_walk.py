"""The path of a message: the list in docs/ARCHITECTURE.md is the path of today's code, and it is short enough."""

import subprocess
import sys

import pytest

from tests.walk import DOCUMENT, MARKER, MAX_RETURNS, ROOT

WALK_SECONDS = 120


@pytest.fixture(scope="module")
def printed() -> str:
    """What `python -m tests.walk` prints. A process of its own: the profile hook would slow down other tests."""
    command = [sys.executable, "-m", "tests.walk"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=WALK_SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_document_has_the_path_of_todays_code(printed: str) -> None:
    documented = DOCUMENT.read_text().partition(MARKER)[2].strip()
    assert documented == printed, "Run `python -m tests.walk --update-docs`."


@pytest.mark.parametrize(("title", "most"), MAX_RETURNS.items())
def test_a_path_seldom_returns_to_a_package_that_it_left(printed: str, title: str, most: int) -> None:
    line = next(each for each in printed.splitlines() if each.startswith(f"**{title}**"))
    returns = int(line.rpartition(" ")[2])
    assert returns <= most, line
