"""Names that people type: one that nothing has may have been mistyped."""

from collections.abc import Iterable
from difflib import get_close_matches

from console.model.safe import one_line


def new_session(name: str, others: Iterable[str]) -> str:
    """What is said of a session that there was not yet, beside those that there are; nothing where it is the first."""
    known = list(others)
    if not known:
        return ""
    near = get_close_matches(name, known, 1)
    meant = f" Did you mean {one_line(near[0], 128)}?" if near else ""
    return f"session {one_line(name, 128)} is new.{meant}"
