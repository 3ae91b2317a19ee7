"""The `trackside` command in a real terminal: the first run, resizing, quitting, signals and crashes."""

import random
import signal
import sqlite3
import sys
from pathlib import Path

import pytest

from tests.support.console.pilot import NARROW, WIDE, at_both_sizes
from tests.support.console.terminal import TRACKSIDE, Terminal

ENTER, CTRL_Q, F2 = "\r", "\x11", "\x1bOQ"
CRASHING_CONSOLE = """
import sys

from console.cli.main import main
from console.ui.main.layout import LayoutController


def breaks(self):
    raise RuntimeError("broken on purpose")


LayoutController.action_zoom = breaks
sys.argv[0] = "trackside"
sys.exit(main())
"""
REQUIRED_MODES = {"1049", "1003", "1006", "2004"}
"""Terminal modes that the console turns on: the alternate screen, the mouse and bracketed pastes."""


def query_database(folder: Path, query: str) -> list[tuple[object, ...]]:
    """Query the database of the console."""
    (path,) = folder.rglob("trackside.db")
    with sqlite3.connect(path) as database:
        return database.execute(query).fetchall()


def check_terminal_restored(terminal: Terminal) -> None:
    assert terminal.turned_on() >= REQUIRED_MODES
    assert terminal.left_on() == set()


@at_both_sizes
def test_first_run_can_be_steered_and_quit_restores_the_terminal(tmp_path: Path, size: tuple[int, int]):
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
        assert query_database(folder, "select status from runs") == [("completed",)]
        assert query_database(folder, "select text, fate from queue") == [("use Fahrenheit", "injected")]

        terminal.type(CTRL_Q)
        assert terminal.ends() == 0
        check_terminal_restored(terminal)


def test_screen_after_a_hundred_resizes_is_the_same_as_a_new_one(tmp_path: Path):
    rng = random.Random(7)
    with Terminal([TRACKSIDE], tmp_path / "home", WIDE) as terminal:
        terminal.sees("Plan a day in Kyoto")
        terminal.type(ENTER)
        terminal.sees("● running")
        for _ in range(100):
            terminal.resize(rng.randint(60, 200), rng.randint(15, 60))
            terminal._read(0.01)
        terminal.resize(*WIDE)
        terminal.sees("✓ completed", "f1 help")
        settled = _wait_until_still(terminal)

        terminal.forget()
        terminal.resize(WIDE[0] - 1, WIDE[1])
        terminal.sees("f1 help")
        terminal.forget()
        terminal.resize(*WIDE)
        terminal.sees("✓ completed", "f1 help")
        assert _wait_until_still(terminal) == settled
        assert settled.splitlines()[0].lstrip().startswith("trackside")
        assert "f1 help" in settled.splitlines()[-1]


def _wait_until_still(terminal: Terminal) -> str:
    """Wait until nothing more is drawn, and return the text of the screen."""
    while terminal._read(1.5):
        pass
    return terminal.text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
def test_signal_stops_the_run_and_restores_the_terminal(tmp_path: Path, number: signal.Signals):
    folder = tmp_path / "home"
    with Terminal([TRACKSIDE], folder, NARROW) as terminal:
        terminal.sees("Plan a day in Kyoto")
        terminal.type(ENTER)
        terminal.sees("● running", "steer ▸")
        terminal.kill(number)
        assert terminal.ends() == 128 + number
        assert query_database(folder, "select status from runs") == [("cancelled",)]
        if number is not signal.SIGHUP:  # after SIGHUP there is no terminal to restore
            check_terminal_restored(terminal)


def test_crash_restores_the_terminal_and_is_reported(tmp_path: Path):
    folder = tmp_path / "home"
    folder.mkdir()
    (tmp_path / "broken.py").write_text(CRASHING_CONSOLE)
    with Terminal([sys.executable, tmp_path / "broken.py"], folder, WIDE) as terminal:
        terminal.sees("Plan a day in Kyoto")
        terminal.type(F2)
        assert terminal.ends() == 1
        check_terminal_restored(terminal)
        after = terminal.sent.rpartition(b"\x1b[?1049l")[2].decode()
        assert "The console failed (RuntimeError: broken on purpose)" in after
        assert "The full report is in" in after
