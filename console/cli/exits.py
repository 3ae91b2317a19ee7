"""How a command ends, as its exit code says it."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final


class Exit(IntEnum):
    """Exit codes; scripts rely on them."""

    OK = 0
    FAILED = 1
    USAGE = 2
    """Usage or configuration, also a runner that does not load."""
    TIMEOUT = 3
    CANCELLED = 4
    BUG = 70
    """Something in Trackside itself is broken."""
    INTERRUPTED = 130


class UsageError(Exception):
    """What a person typed cannot be done; the message says what to type instead."""


NOT_LOADED: Final = "runner.not_loaded"
BEYOND_THE_RUNNER: Final = frozenset({NOT_LOADED, "storage.failed"})
"""Reasons that a person must hear of also where only programs read the output."""
_BY_STATUS: Final[Mapping[str, Exit]] = {
    "completed": Exit.OK,
    "failed": Exit.FAILED,
    "timeout": Exit.TIMEOUT,
    "cancelled": Exit.CANCELLED,
}


def exit_of(status: str, reason: str | None) -> Exit:
    """The exit code of an ended run."""
    return Exit.USAGE if reason == NOT_LOADED else _BY_STATUS.get(status, Exit.FAILED)
