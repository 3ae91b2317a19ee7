"""Exit codes, on which scripts rely."""

import pytest

from console.cli.exits import exit_of


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
def test_every_end_of_a_run_has_its_exit_code(status: str, reason: str, code: int):
    assert exit_of(status, reason) == code
