"""The ways out: a person is asked what would be lost; a signal or a fault leaves the terminal as it was."""

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from console.app import Trackside
from console.opening import Opening
from tests.console.driving import Cue, at_the_screen, listener, say, sees, shown, until
from tests.faults.support import ROOT, wait_until
from tests.support import Engines

OWN_TERMINAL = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)"
"""So that its closing is heard of."""
CONSOLE = f"{OWN_TERMINAL}; from console.cli.main import main; import sys; sys.exit(main(sys.argv[1:]))"
BREAKS = f"from console.app import Trackside\nTrackside.action_zoom = lambda self: 1 / 0\n{CONSOLE}"


async def test_leaving_asks_and_names_what_would_be_lost(open_engine: Engines):
    app = Trackside(Opening(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await pilot.press("ctrl+q")
        await sees(pilot, "A run is at work: it is stopped.")
        assert "dropped" not in shown(app)
        await pilot.press("escape")
        await say(pilot, "one")
        await say(pilot, "two")
        await sees(pilot, "2 queued")
        await pilot.press(*"three", "ctrl+q")
        await sees(pilot, "2 messages wait: they are dropped, not said.", "What is in the prompt is kept.")
        await pilot.press("n")
        await until(pilot, lambda: app.screen is app.main)
        assert app.is_running
        await pilot.press("ctrl+q", "ctrl+q")
        await until(pilot, lambda: app._exit)
    assert app.return_code == 0


async def test_with_nothing_to_lose_nobody_is_asked(open_engine: Engines):
    app = Trackside(Opening(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app._exit)


async def test_ctrl_c_copies_what_is_marked_and_else_says_how_to_leave(open_engine: Engines):
    app = Trackside(Opening(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"some words", "ctrl+c")
        await sees(pilot, "^q quits; ^c copies what is marked")
        app.main.prompt.select_all()
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app.clipboard == "some words")
        assert app.is_running


# In a terminal


@contextmanager
def terminal(code: str, db: Path) -> Iterator[tuple["subprocess.Popen[bytes]", int, bytearray]]:
    """The console in a terminal of its own: its process, the terminal's other end, and what was drawn so far."""
    ours, theirs = pty.openpty()
    drawn = bytearray()
    process = subprocess.Popen(
        [sys.executable, "-c", code, "--db", str(db), "--runner", "echo"],
        cwd=db.parent, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"},
    )  # fmt: skip
    os.close(theirs)
    os.set_blocking(ours, False)
    try:
        yield process, ours, drawn
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(ours)


def read(terminal_end: int, drawn: bytearray) -> bytes:
    try:
        while piece := os.read(terminal_end, 65_536):
            drawn += piece
    except OSError:
        pass
    return bytes(drawn)


def draft_of(db: Path) -> str:
    return "".join(path.read_text("utf-8") for path in db.parent.glob(f"{db.name}.draft-*"))


def typed(process: "subprocess.Popen[bytes]", end: int, drawn: bytearray, db: Path) -> None:
    """Wait until it is open, type something, and wait until that is safe."""
    wait_until(lambda: b"send" in read(end, drawn) and db.exists() and b"echo" in drawn, 60)
    wait_until(lambda: (os.write(end, b"k"), read(end, drawn), time.sleep(0.1), draft_of(db))[-1], 60)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_a_signal_ends_it_in_order(tmp_path: Path, number: signal.Signals):
    db = tmp_path / "facts.db"
    with terminal(CONSOLE, db) as (process, end, drawn):
        typed(process, end, drawn, db)
        process.send_signal(number)
        wait_until(lambda: (read(end, drawn), process.poll() is not None)[-1], 30)
        assert process.returncode == 128 + number
        assert b"\x1b[?1049l" in read(end, drawn), "the terminal is itself again"
    assert draft_of(db).startswith("k")
    assert list(tmp_path.glob("*.lock")) == [], "the host took its leave"


def test_a_terminal_that_is_closed_ends_it_in_order(tmp_path: Path):
    db = tmp_path / "facts.db"
    with terminal(CONSOLE, db) as (process, end, drawn):
        typed(process, end, drawn, db)
        spare = os.dup(os.open(os.devnull, os.O_RDONLY))
        os.dup2(spare, end)  # the last end of the terminal is gone
        os.close(spare)
        wait_until(lambda: process.poll() is not None, 30)
        assert process.returncode == 128 + signal.SIGHUP
    assert draft_of(db).startswith("k")
    assert list(tmp_path.glob("*.lock")) == []


def test_a_fault_is_told_in_two_lines(tmp_path: Path):
    db = tmp_path / "facts.db"
    with terminal(BREAKS, db) as (process, end, drawn):
        typed(process, end, drawn, db)
        os.write(end, b"\x1bOQ")  # f2
        wait_until(lambda: (read(end, drawn), process.poll() is not None)[-1], 30)
        said = read(end, drawn).rpartition(b"\x1b[?1049l")[2].decode()
        assert process.returncode == 1
    assert "trackside: the console broke (ZeroDivisionError: division by zero)." in said
    assert "Traceback" not in said
    (report,) = tmp_path.glob("facts.db.crash-*.txt")
    assert str(report) in said
    assert "Traceback" in report.read_text("utf-8")
    assert draft_of(db).startswith("k")
    assert list(tmp_path.glob("*.lock")) == []
