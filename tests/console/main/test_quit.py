"""The ways out: a person is asked what would be lost; a signal or a fault leaves the terminal as it was."""

import asyncio
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from console.app import Trackside
from console.launch import LaunchOptions
from console.ui.main.quit import QUIT_AT_ONCE
from tests.console.health.test_database_problems import LOCKER
from tests.console.main.test_run_control import echoes
from tests.console.main.test_stop import deaf
from tests.console.prompt.test_sending import patient
from tests.support.console.pilot import Cue, at_the_screen, listener, say, sees, shown, until
from tests.support.engines import Engines, message, perform
from tests.support.faults.faults import ROOT, line_of, other_process, wait_until
from tests.support.faults.faults import say as tell

__all__ = ["patient"]
OWN_TERMINAL = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)"
"""So that its closing is heard of."""
CONSOLE = f"{OWN_TERMINAL}; from console.cli.main import main; import sys; sys.exit(main(sys.argv[1:]))"
BREAKS = (
    f"from console.ui.main.layout import LayoutController\nLayoutController.action_zoom = lambda self: 1 / 0\n{CONSOLE}"
)


async def test_leaving_asks_and_names_what_would_be_lost(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await pilot.press("ctrl+q")
        await sees(pilot, "A run is in progress. Quitting stops it")
        assert "dropped" not in shown(app)
        await pilot.press("escape")
        await say(pilot, "one")
        await say(pilot, "two")
        await sees(pilot, "2 queued")
        await pilot.press(*"three", "ctrl+q")
        await sees(pilot, "2 queued", "will not be delivered", "The text in the prompt is saved.")
        await pilot.press("n")
        await until(pilot, lambda: app.screen is app.main)
        assert app.is_running
        await pilot.press("ctrl+q", "ctrl+q")
        await until(pilot, lambda: app._exit)
    assert app.return_code == 0


async def test_with_nothing_to_lose_nobody_is_asked(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app._exit)


async def test_ctrl_c_copies_what_is_marked_and_else_says_how_to_leave(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"some words", "ctrl+c")
        await sees(pilot, "^q quits; ^c copies selected text.")
        app.main.prompt.select_all()
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app.clipboard == "some words")
        assert app.is_running


BACK = "Your unsent text is back in the prompt"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("ed1", "fresh", f"{BACK} (from the session “ed1”)."),
        ("trip", "fresh", f"{BACK} (from the session “My holiday”)."),
        ("ed1", "ed1", f"{BACK}."),
        (None, "fresh", f"{BACK}."),
    ],
    ids=["another", "another by its title", "the same", "one in which nothing was said"],
)
async def test_what_comes_back_says_from_which_session(
    open_engine: Engines, before: str | None, after: str, words: str
):
    async def with_a_title() -> Any:
        engine = await open_engine(echoes)
        await perform(engine, message("hello", "trip"))
        await engine.sessions.rename("trip", "My holiday")
        return engine

    app = Trackside(LaunchOptions(session=before), with_a_title)
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: app.controllers.drafts.is_open)
        await pilot.press(*"half a word", "ctrl+q")
        await until(pilot, lambda: app._exit)

    app = Trackside(LaunchOptions(session=after), lambda: open_engine(echoes))
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: words in shown(app).splitlines())
        assert app.main.prompt.full_text == "half a word"


@pytest.mark.usefixtures("patient")
async def test_leaving_says_that_it_waits_for_the_database(open_engine: Engines, tmp_path: Path):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    (script := tmp_path / "locker.py").write_text(LOCKER)
    async with at_the_screen(app) as pilot:
        with other_process(script, open_engine.db) as other:
            assert await asyncio.to_thread(line_of, other) == "locked"
            await pilot.press(*"half a word", "ctrl+q")
            await sees(pilot, "Quitting: waiting for the database…", "^q again quits now; unsent text is kept.")
            await sees(pilot, "locked")
            tell(other)
            await asyncio.to_thread(other.wait)
        await until(pilot, lambda: app._exit)
    assert (app.return_code, app.controllers.quit.is_at_once) == (0, False)
    assert draft_of(open_engine.db).startswith("half a word")


@pytest.mark.usefixtures("patient")
async def test_who_does_not_want_to_wait_leaves_at_once(open_engine: Engines, tmp_path: Path):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    (script := tmp_path / "locker.py").write_text(LOCKER)
    with ExitStack() as stack:
        async with at_the_screen(app) as pilot:
            other = stack.enter_context(other_process(script, open_engine.db))
            assert await asyncio.to_thread(line_of, other) == "locked"
            await pilot.press(*"half a word", "ctrl+q")
            await sees(pilot, "Quitting: waiting for the database…")
            await pilot.press("ctrl+q")
            await until(pilot, lambda: app._exit)
        assert app.controllers.quit.is_at_once
        assert app.controllers.quit.exit_messages == (QUIT_AT_ONCE,)
        tell(other)
    assert draft_of(open_engine.db).startswith("half a word")


async def test_leaving_says_that_it_waits_for_a_run(open_engine: Engines):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: open_engine(deaf(cue)))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "Here I am.")
        await pilot.press("ctrl+q", "ctrl+q")
        await sees(pilot, "Quitting: waiting for the run to end…")
        cue.go()
        await until(pilot, lambda: app._exit)


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


def plain(drawn: bytes) -> str:
    """What was drawn, without colours and places."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", drawn.decode("utf-8", "replace"))


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
    assert "trackside: The console failed (ZeroDivisionError: division by zero)." in said
    assert "Traceback" not in said
    (report,) = tmp_path.glob("facts.db.crash-*.txt")
    assert str(report) in said
    assert "Traceback" in report.read_text("utf-8")
    assert {path.stat().st_mode & 0o777 for path in tmp_path.glob("facts.db*")} == {0o600}
    assert draft_of(db).startswith("k")
    assert list(tmp_path.glob("*.lock")) == []


def test_who_does_not_wait_for_a_locked_database_is_out_at_once(tmp_path: Path):
    db = tmp_path / "facts.db"
    (script := tmp_path / "locker.py").write_text(LOCKER)
    with terminal(CONSOLE, db) as (process, end, drawn):
        typed(process, end, drawn, db)
        with other_process(script, db) as other:
            assert line_of(other) == "locked"
            os.write(end, b"\x11")
            wait_until(lambda: "waiting for the database" in plain(read(end, drawn)), 30)
            os.write(end, b"\x11")
            wait_until(lambda: (read(end, drawn), process.poll() is not None)[-1], 20)
            said = read(end, drawn).rpartition(b"\x1b[?1049l")[2].decode()
            tell(other)
        assert process.returncode == 0
    assert f"trackside: {QUIT_AT_ONCE}" in said
    assert draft_of(db).startswith("k")
