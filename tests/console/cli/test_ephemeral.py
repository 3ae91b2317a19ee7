"""`--ephemeral`: a private temporary database that is gone at the end, or with the next start after a kill."""

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from console.cli.ephemeral import PREFIX, ephemeral_database, remove_abandoned
from tests.support.commands import Trackside
from tests.support.limits import MAX_WAIT_SECONDS

LISTER = """
from pathlib import Path
from engine.protocol import AgentRunner, AgentRunResult, Message

class Lister(AgentRunner):
    async def run(self, ctx):
        (folder,) = Path({temporary!r}).glob("trackside-ephemeral-*")
        names = sorted(path.name for path in folder.iterdir() if "lock" not in path.name)
        text = f"{{folder.stat().st_mode & 0o777:o}} {{' '.join(names)}}"
        yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content=text))
        yield AgentRunResult.run_completed(ctx.run_id)
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files, of this process and of its commands."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    monkeypatch.undo()


def line(*typed: str) -> list[str]:
    return [sys.executable, "-m", "console", *typed]


def run(trackside: Trackside, temporary: Path, *typed: str) -> "subprocess.CompletedProcess[str]":
    environment = trackside.environment | {"TMPDIR": str(temporary)}
    return subprocess.run(
        line(*typed), cwd=trackside.folder, env=environment, capture_output=True, encoding="utf-8", check=False
    )


def folders(temporary: Path) -> list[str]:
    return sorted(path.name for path in temporary.iterdir() if path.name.startswith(PREFIX))


def test_run_uses_a_private_folder_that_is_removed_at_the_end(trackside: Trackside, temporary: Path):
    trackside.write("lister.py", LISTER.format(temporary=str(temporary)))

    done = run(trackside, temporary, "run", "lister.py", "-m", "x", "--ephemeral")

    assert done.returncode == 0, done.stderr
    assert "700 trackside.db trackside.db-shm trackside.db-wal" in done.stdout
    assert "Show it again" not in done.stdout
    assert folders(temporary) == []
    assert not list(Path(trackside.environment["XDG_DATA_HOME"]).glob("**/*.db"))


def test_console_removes_its_folder_when_it_quits(trackside: Trackside, temporary: Path):
    ours, theirs = pty.openpty()
    environment = trackside.environment | {"TMPDIR": str(temporary), "TERM": "xterm-256color"}
    console = subprocess.Popen(
        line("--ephemeral", "--runner", "echo"),
        cwd=trackside.folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    os.set_blocking(ours, False)
    try:
        wait_while(lambda: not list(temporary.glob(f"{PREFIX}*/*.lock")), ours)
        console.send_signal(signal.SIGTERM)
        wait_while(lambda: console.poll() is None, ours)
    finally:
        console.kill()
        console.wait()
        os.close(ours)
    assert folders(temporary) == []


def wait_while(condition: Callable[[], bool], terminal: int | None = None) -> None:
    """Wait, and read what a console draws on the terminal, so that it never waits for us."""
    until = time.monotonic() + MAX_WAIT_SECONDS
    while condition():
        assert time.monotonic() < until
        if terminal is not None:
            with suppress(OSError):
                os.read(terminal, 65_536)
        time.sleep(0.01)


def test_database_and_ephemeral_exclude_each_other(trackside: Trackside):
    assert "not allowed with argument" in trackside.error("run", "--ephemeral", "-m", "x")


def test_folder_of_a_killed_process_is_removed_by_the_next_start_and_that_of_a_live_one_is_not(
    trackside: Trackside, temporary: Path
):
    typed = line("run", "--runner", "chaos", "-m", "hang", "--timeout", "0", "--ephemeral")
    environment = trackside.environment | {"TMPDIR": str(temporary)}
    running = subprocess.Popen(
        typed, cwd=trackside.folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_while(lambda: not list(temporary.glob(f"{PREFIX}*/trackside.db")))
        (folder,) = folders(temporary)

        beside = run(trackside, temporary, "run", "--runner", "echo", "-m", "x")
        assert (beside.returncode, folders(temporary)) == (0, [folder])
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
    assert folders(temporary) == [folder]

    assert run(trackside, temporary, "run", "--runner", "echo", "-m", "x").returncode == 0
    assert folders(temporary) == []


def test_only_abandoned_folders_of_this_program_are_removed(temporary: Path, tmp_path: Path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").touch()
    (temporary / f"{PREFIX}link").symlink_to(precious)
    (temporary / "trackside-other").mkdir()
    for name, age in (("abandoned", 0), ("young.new", 0), ("old.new", 7_200)):
        (temporary / f"{PREFIX}{name}").mkdir()
        os.utime(temporary / f"{PREFIX}{name}", (time.time() - age,) * 2)

    with ephemeral_database() as path:
        remove_abandoned()
        assert path.parent.is_dir()
        assert folders(temporary) == sorted([path.parent.name, f"{PREFIX}link", f"{PREFIX}young.new"])
    assert not path.parent.exists()
    assert (precious / "file").exists()
    assert (temporary / "trackside-other").exists()
