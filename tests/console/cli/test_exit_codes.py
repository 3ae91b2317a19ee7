"""The exit code of each status of a run."""

import pytest

from console.cli import main as cli
from console.cli.exit_codes import exit_code_of_run


@pytest.mark.parametrize(
    ("status", "reason", "code"),
    [
        ("completed", "stop", 0),
        ("completed", "no output", 0),
        ("failed", "runner.exception", 1),
        ("failed", "runner.lost", 1),
        ("failed", "runner.not_loaded", 2),
        ("timeout", "runner.timeout", 3),
        ("cancelled", "cancelled", 4),
    ],
)
def test_status_of_a_run_gives_its_exit_code(status: str, reason: str, code: int):
    assert exit_code_of_run(status, reason) == code


def test_bug_exits_1_with_its_traceback(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    def fail() -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(cli, "_check_working_folder", fail)

    code = cli.main(["schema"])

    printed = capfd.readouterr().err
    assert code == 1
    assert printed.startswith("Traceback")
    assert printed.endswith(f"RuntimeError: broken\ntrackside: {cli.BUG}\n")


def test_interrupt_exits_130(monkeypatch: pytest.MonkeyPatch):
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_check_working_folder", interrupt)

    assert cli.main(["schema"]) == 130
