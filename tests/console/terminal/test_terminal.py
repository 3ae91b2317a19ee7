"""The `trackside` command in a real terminal: the first minute, sizes that change, and every way out."""

import random
import signal
import sqlite3
import sys
from pathlib import Path

import pytest

from tests.support.console.pilot import NARROW, WIDE, at_both_sizes
from tests.support.console.terminal import TRACKSIDE, Terminal

ENTER, LEAVE, ZOOM = "\r", "\x11", "\x1bOQ"
BROKEN = """
import sys

from console.cli.main import main
from console.ui.main.layout import LayoutController


def breaks(self):
    raise RuntimeError("broken on purpose")


LayoutController.action_zoom = breaks
sys.argv[0] = "trackside"
sys.exit(main())
"""
DRAWN = {"1049", "1003", "1006", "2004"}
"""The other screen, the mouse and pastes in brackets: what drawing cannot do without."""


def recorded(folder: Path, query: str) -> list[tuple[object, ...]]:
    """What the database says that the program left behind."""
    (path,) = folder.rglob("trackside.db")
    with sqlite3.connect(path) as database:
        return database.execute(query).fetchall()


def check_left_as_found(terminal: Terminal) -> None:
    assert terminal.turned_on() >= DRAWN
    assert terminal.left_on() == set()


@at_both_sizes
def test_a_newcomer_steers_within_the_first_minute_and_leaves_the_terminal_as_it_was(
    tmp_path: Path, size: tuple[int, int]
):
    folder = tmp_path / "home"
    with Terminal([TRACKSIDE], folder, size) as terminal:
        terminal.sees("run the example: plan a day", "Plan a day in Kyoto")
        terminal.type(ENTER)
        terminal.sees("● running", "Kyoto", "steer ▸")
        terminal.until(lambda: "run the example" not in terminal.text, "the conversation")

        terminal.type(f"use Fahrenheit{ENTER}")
        terminal.sees("queued", "use Fahrenheit")
        terminal.sees("delivered")
        terminal.sees("✓ completed")
        assert recorded(folder, "select status from runs") == [("completed",)]
        assert recorded(folder, "select text, fate from queue") == [("use Fahrenheit", "injected")]

        terminal.type(LEAVE)
        assert terminal.ends() == 0
        check_left_as_found(terminal)


def test_a_terminal_that_changes_its_size_a_hundred_times_shows_the_same_as_one_that_did_not(tmp_path: Path):
    sizes = random.Random(7)
    with Terminal([TRACKSIDE], tmp_path / "home", WIDE) as terminal:
        terminal.sees("Plan a day in Kyoto")
        terminal.type(ENTER)
        terminal.sees("● running")
        for _ in range(100):
            terminal.resize(sizes.randint(60, 200), sizes.randint(15, 60))
            terminal._read(0.01)
        terminal.resize(*WIDE)
        terminal.sees("✓ completed", "f1 help")
        settled = _still(terminal)

        terminal.forget()
        terminal.resize(WIDE[0] - 1, WIDE[1])
        terminal.sees("f1 help")
        terminal.forget()
        terminal.resize(*WIDE)
        terminal.sees("✓ completed", "f1 help")
        assert _still(terminal) == settled
        assert settled.splitlines()[0].lstrip().startswith("trackside")
        assert "f1 help" in settled.splitlines()[-1]


def _still(terminal: Terminal) -> str:
    """The screen, once nothing more is drawn."""
    while terminal._read(1.5):
        pass
    return terminal.text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
def test_a_signal_ends_the_run_and_leaves_the_terminal_as_it_was(tmp_path: Path, number: signal.Signals):
    folder = tmp_path / "home"
    with Terminal([TRACKSIDE], folder, NARROW) as terminal:
        terminal.sees("Plan a day in Kyoto")
        terminal.type(ENTER)
        terminal.sees("● running", "steer ▸")
        terminal.kill(number)
        assert terminal.ends() == 128 + number
        assert recorded(folder, "select status from runs") == [("cancelled",)]
        if number is not signal.SIGHUP:  # there, nobody is left to look at it
            check_left_as_found(terminal)


def test_a_console_that_breaks_leaves_the_terminal_as_it_was_and_says_what_happened(tmp_path: Path):
    folder = tmp_path / "home"
    folder.mkdir()
    (tmp_path / "broken.py").write_text(BROKEN)
    with Terminal([sys.executable, tmp_path / "broken.py"], folder, WIDE) as terminal:
        terminal.sees("Plan a day in Kyoto")
        terminal.type(ZOOM)
        assert terminal.ends() == 1
        check_left_as_found(terminal)
        after = terminal.sent.rpartition(b"\x1b[?1049l")[2].decode()
        assert "The console failed (RuntimeError: broken on purpose)" in after
        assert "The full report is in" in after
