"""The question before something is deleted."""

import sys

from console.cli.exits import UsageError
from console.cli.terminal import Output
from console.model.safe import safe


def agreed(question: str, *, command: str) -> bool:
    """Whether a person says yes; where there is none to ask, nothing is taken for agreed."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(f"{command} asks before it deletes, and there is no terminal to ask on. Add --yes.")
    Output(sys.stderr).write(f"{safe(question)} [y/N] ")
    try:
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        return False
