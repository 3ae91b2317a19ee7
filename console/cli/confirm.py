"""The question before something is deleted."""

import sys

from console.cli.exit_codes import UsageError
from console.cli.terminal import Output
from console.model.text.safe import safe


def confirm(question: str, *, command: str) -> bool:
    """Return whether the user answers yes. Raises UsageError if there is no terminal to ask on."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(f"{command} asks before it deletes, and there is no terminal to ask on. Add --yes.")
    Output(sys.stderr).write(f"{safe(question)} [y/N] ")
    try:
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        return False
