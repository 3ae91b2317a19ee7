"""Quitting: the question, waiting for the database and runs, and signals and crashes in a real terminal."""

import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from console.app import Trackside
from console.launch import LaunchOptions
from console.ui.main.quit import QUIT_AT_ONCE
from tests.support.console.database_lock import LOCK_SCRIPT, locked_database
from tests.support.console.pilot import Cue, at_the_screen, listener, say, sees, shown, until
from tests.support.console.sample_runs import echoes, unstoppable
from tests.support.engines import Engines, message, run_event
from tests.support.faults.faults import ROOT, other_process, read_line, wait_until
from tests.support.faults.faults import write_line as send_line

OWN_TERMINAL = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)"
"""Makes the pty the controlling terminal, so that closing it sends SIGHUP."""
CONSOLE = f"{OWN_TERMINAL}; from console.cli.main import main; import sys; sys.exit(main(sys.argv[1:]))"
CRASHING_CONSOLE = (
    f"from console.ui.main.layout import LayoutController\nLayoutController.action_zoom = lambda self: 1 / 0\n{CONSOLE}"
)


async def test_quit_asks_and_names_what_would_be_lost(open_engine: Engines):
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


async def test_quit_does_not_ask_if_nothing_would_be_lost(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app._exit)


async def test_ctrl_c_copies_selected_text_or_says_how_to_quit(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"some words", "ctrl+c")
        await sees(pilot, "^q quits; ^c copies selected text.")
        app.main.prompt.select_all()
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app.clipboard == "some words")
        assert app.is_running


RESTORED = "Your unsent text is back in the prompt"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("ed1", "fresh", f"{RESTORED} (from the session “ed1”)."),
        ("trip", "fresh", f"{RESTORED} (from the session “My holiday”)."),
        ("ed1", "ed1", f"{RESTORED}."),
        (None, "fresh", f"{RESTORED}."),
    ],
    ids=["another", "another by its title", "the same", "one without messages"],
)
async def test_restored_draft_names_its_session_if_another_is_open(
    open_engine: Engines, before: str | None, after: str, words: str
):
    async def engine_with_a_titled_session() -> Any:
        engine = await open_engine(echoes)
        await run_event(engine, message("hello", "trip"))
        await engine.sessions.rename("trip", "My holiday")
        return engine

    app = Trackside(LaunchOptions(session=before), engine_with_a_titled_session)
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: app.controllers.drafts.is_open)
        await pilot.press(*"half a word", "ctrl+q")
        await until(pilot, lambda: app._exit)

    app = Trackside(LaunchOptions(session=after), lambda: open_engine(echoes))
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: words in shown(app).splitlines())
        assert app.main.prompt.full_text == "half a word"


@pytest.mark.usefixtures("long_lock_timeout")
async def test_quit_shows_that_it_waits_for_the_database(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        async with locked_database(open_engine.db):
            await pilot.press(*"half a word", "ctrl+q")
            await sees(pilot, "Quitting: waiting for the database…", "^q again quits now; unsent text is saved.")
            await sees(pilot, "locked")
        await until(pilot, lambda: app._exit)
    assert (app.return_code, app.controllers.quit.is_at_once) == (0, False)
    assert draft_of(open_engine.db).startswith("half a word")


@pytest.mark.usefixtures("long_lock_timeout")
async def test_second_ctrl_q_quits_without_waiting_for_the_database(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with AsyncExitStack() as stack:
        async with at_the_screen(app) as pilot:
            await stack.enter_async_context(locked_database(open_engine.db))
            await pilot.press(*"half a word", "ctrl+q")
            await sees(pilot, "Quitting: waiting for the database…")
            await pilot.press("ctrl+q")
            await until(pilot, lambda: app._exit)
        assert app.controllers.quit.is_at_once
        assert app.controllers.quit.exit_messages == (QUIT_AT_ONCE,)
    assert draft_of(open_engine.db).startswith("half a word")


async def test_quit_shows_that_it_waits_for_the_run(open_engine: Engines):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: open_engine(unstoppable(cue)))
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
    """Run the console in a pty. Yields its process, our end of the pty, and a buffer for what it draws."""
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


def read(our_end: int, drawn: bytearray) -> bytes:
    """Add new output to the buffer, and return all of it."""
    try:
        while piece := os.read(our_end, 65_536):
            drawn += piece
    except OSError:
        pass
    return bytes(drawn)


def without_escapes(drawn: bytes) -> str:
    """Return the drawn text without escape sequences."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", drawn.decode("utf-8", "replace"))


def draft_of(db: Path) -> str:
    """Return the text of all saved drafts."""
    return "".join(path.read_text("utf-8") for path in db.parent.glob(f"{db.name}.draft-*"))


def type_draft(process: "subprocess.Popen[bytes]", end: int, drawn: bytearray, db: Path) -> None:
    """Wait until the console is open, type a draft, and wait until it is on disk."""
    wait_until(lambda: b"send" in read(end, drawn) and db.exists() and b"echo" in drawn, 60)
    wait_until(lambda: (os.write(end, b"k"), read(end, drawn), time.sleep(0.1), draft_of(db))[-1], 60)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_signal_quits_cleanly(tmp_path: Path, number: signal.Signals):
    db = tmp_path / "facts.db"
    with terminal(CONSOLE, db) as (process, end, drawn):
        type_draft(process, end, drawn, db)
        process.send_signal(number)
        wait_until(lambda: (read(end, drawn), process.poll() is not None)[-1], 30)
        assert process.returncode == 128 + number
        assert b"\x1b[?1049l" in read(end, drawn), "the terminal is restored"
    assert draft_of(db).startswith("k")
    assert list(tmp_path.glob("*.lock")) == [], "the host has removed its lock"


def test_closed_terminal_quits_cleanly(tmp_path: Path):
    db = tmp_path / "facts.db"
    with terminal(CONSOLE, db) as (process, end, drawn):
        type_draft(process, end, drawn, db)
        spare = os.dup(os.open(os.devnull, os.O_RDONLY))
        os.dup2(spare, end)  # closes the last descriptor of our end
        os.close(spare)
        wait_until(lambda: process.poll() is not None, 30)
        assert process.returncode == 128 + signal.SIGHUP
    assert draft_of(db).startswith("k")
    assert list(tmp_path.glob("*.lock")) == []


def test_crash_is_reported_in_two_lines(tmp_path: Path):
    db = tmp_path / "facts.db"
    with terminal(CRASHING_CONSOLE, db) as (process, end, drawn):
        type_draft(process, end, drawn, db)
        os.write(end, b"\x1bOQ")  # f2
        wait_until(lambda: (read(end, drawn), process.poll() is not None)[-1], 30)
        output = read(end, drawn).rpartition(b"\x1b[?1049l")[2].decode()
        assert process.returncode == 1
    assert "trackside: The console failed (ZeroDivisionError: division by zero)." in output
    assert "Traceback" not in output
    (report,) = tmp_path.glob("facts.db.crash-*.txt")
    assert str(report) in output
    assert "Traceback" in report.read_text("utf-8")
    assert {path.stat().st_mode & 0o777 for path in tmp_path.glob("facts.db*")} == {0o600}
    assert draft_of(db).startswith("k")
    assert list(tmp_path.glob("*.lock")) == []


def test_second_ctrl_q_exits_while_the_database_is_locked(tmp_path: Path):
    db = tmp_path / "facts.db"
    with terminal(CONSOLE, db) as (process, end, drawn):
        type_draft(process, end, drawn, db)
        with other_process(LOCK_SCRIPT, db) as other:
            assert read_line(other) == "locked"
            os.write(end, b"\x11")
            wait_until(lambda: "waiting for the database" in without_escapes(read(end, drawn)), 30)
            os.write(end, b"\x11")
            wait_until(lambda: (read(end, drawn), process.poll() is not None)[-1], 20)
            output = read(end, drawn).rpartition(b"\x1b[?1049l")[2].decode()
            send_line(other)
        assert process.returncode == 0
    assert f"trackside: {QUIT_AT_ONCE}" in output
    assert draft_of(db).startswith("k")
