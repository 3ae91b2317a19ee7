"""Exit codes of all commands, and the error for wrong usage."""

from enum import IntEnum
from typing import Final


class ExitCode(IntEnum):
    """The meaning of each exit code is the same for every command; scripts rely on it."""

    OK = 0
    """Yes, or done."""
    NO = 1
    """No: the run failed, problems or differences were found, or nothing was found. Also an error in Trackside."""
    USAGE = 2
    """Wrong usage or configuration, or the command cannot begin (a runner that does not load)."""
    TIMEOUT = 3
    STOPPED = 4
    """The run was stopped."""
    INTERRUPTED = 130
    """SIGINT (ctrl+c), SIGTERM or SIGHUP ended the command."""


class UsageError(Exception):
    """The command cannot be carried out as typed. The message says what to type instead."""


NOT_LOADED: Final = "runner.not_loaded"
HOST_REASONS: Final = frozenset({NOT_LOADED, "storage.failed"})
"""Reasons that are not the runner's. They go to standard error too if the output is read by a program."""


def exit_code_of_run(status: str, reason: str | None) -> ExitCode:
    """Return the exit code for the status of an ended run."""
    from engine.events import Status

    if reason == NOT_LOADED:
        return ExitCode.USAGE
    codes = {
        Status.COMPLETED: ExitCode.OK,
        Status.TIMEOUT: ExitCode.TIMEOUT,
        Status.CANCELLED: ExitCode.STOPPED,
    }
    return codes.get(Status(status), ExitCode.NO)
