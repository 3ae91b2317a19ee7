"""`--log FILE`: a log of Trackside itself, on every command, with secrets masked."""

import logging
import re
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from console.cli import open as open_command
from console.cli.log import command_log
from console.cli.main import COMMANDS, _parser
from console.cli.terminal import print_error
from console.ui.shared.crash_guard import FailureReport
from engine.api import note_process_secrets
from tests.support.commands import Trackside

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (DEBUG|INFO|WARNING|ERROR) \d+ trackside\.\w+: \S.*")


@pytest.fixture(autouse=True)
def no_earlier_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the secrets that other tests of this process have used."""
    monkeypatch.setattr("engine.journal.secret_mask._process_secrets", {})


def test_every_command_has_the_option():
    for name in COMMANDS:
        assert "--log FILE" in _help(name), name
    assert "--log FILE" in open_command.parser().format_help()


def _help(name: str) -> str:
    groups = _parser(name)._subparsers
    assert groups is not None
    return groups._group_actions[0].choices[name].format_help()  # type: ignore[index]


def test_verbs_of_a_command_have_the_option(trackside: Trackside):
    trackside("sessions", "--log", "before.log", "rename", "unknown", "x")
    trackside("sessions", "delete", "unknown", "--yes", "--log", "after.log")
    trackside("state", "clear", "unknown", "--log", "words.log")

    for name in ("before", "after", "words"):
        assert "the command has failed" in (trackside.folder / f"{name}.log").read_text()


def test_log_tells_what_a_run_did_and_is_private(trackside: Trackside):
    trackside.write("runner.py", "async def run(ctx):\n    yield {'type': 'run.completed', 'data': {}}\n")
    for _ in range(2):
        done = trackside("run", "runner.py", "-m", "a private message", "--log", "it.log")
        assert done.returncode == 0, done.stderr

    log = trackside.folder / "it.log"
    lines = log.read_text().splitlines()
    assert all(LINE.fullmatch(line) for line in lines), lines
    assert [line.split(": ", 1)[1] for line in lines if "command: " in line] == ["command: run --db -m --log"] * 2
    for words in ("host_", " starts", " is ready", " ends: completed", "exit code 0"):
        assert sum(words in line for line in lines) >= 2, words
    assert "a private message" not in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_log_that_cannot_be_written_is_refused_before_the_command_runs(trackside: Trackside):
    error = trackside.error("runs", "--log", "missing/it.log")
    assert error == ("--log missing/it.log: the file cannot be written (No such file or directory). Name another file.")


def test_error_of_a_command_is_in_the_log(trackside: Trackside):
    trackside("show", "run_unknown", "--log", "it.log")

    log = (trackside.folder / "it.log").read_text()
    assert "the command has failed" in log
    assert "Traceback" in log


def test_secrets_of_environment_arguments_and_runs_are_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SHOP_TOKEN", "from-the-environment")
    note_process_secrets({"from-a-run": "api_key"})
    path = tmp_path / "it.log"
    with suppress(ValueError), command_log(path, ["run", "--set", "password=from-an-argument"]) as log:
        log.warning("from-the-environment from-a-run from-an-argument\x1b[2J")
        raise ValueError("oh no: from-a-run")

    text = path.read_text()
    assert "‹secret SHOP_TOKEN› ‹secret api_key› ‹secret password›" in text
    assert "ValueError: oh no: ‹secret api_key›" in text
    assert "\x1b" not in text
    assert not any(secret in text for secret in ("from-the-environment", "from-a-run", "from-an-argument"))
    assert not [handler for handler in logging.getLogger("trackside").handlers if hasattr(handler, "error")]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_is_reported_at_the_end(capsys: pytest.CaptureFixture[str]):
    with command_log(Path("/dev/full"), ["runs"]):
        pass

    assert "The log is incomplete: /dev/full cannot be written (No space left on device)." in capsys.readouterr().err


def test_secrets_of_runs_are_masked_in_errors_and_reports_of_failures(capsys: pytest.CaptureFixture[str]):
    note_process_secrets({"from-a-run": "api_key"})
    print_error("cannot use from-a-run")
    assert capsys.readouterr().err == "trackside: Cannot use ‹secret api_key›\n"

    failure = FailureReport.of("The console", ValueError("cannot use from-a-run"))
    assert failure.text == "ValueError: cannot use ‹secret api_key›"
    assert "from-a-run" not in failure.report
