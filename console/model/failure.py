"""Something of ours that broke: one line for the screen, and the whole of it for whoever mends it."""

import platform
import traceback
from typing import NamedTuple

from console.model.safe import one_line, safe
from engine.version import VERSION


class Failure(NamedTuple):
    """What broke, and how."""

    words: str
    """`ValueError: no such thing`, on one line and harmless."""
    report: str
    """Where it happened, without the values of variables: they may be secrets."""

    @classmethod
    def of(cls, what: str, error: BaseException) -> "Failure":
        """What failed, by which error."""
        told = traceback.format_exception(error)
        words = one_line(f"{type(error).__name__}: {_said(error)}".removesuffix(": "), 200)
        about = f"Trackside {VERSION}, Python {platform.python_version()}, {platform.system()}"
        return cls(words, safe(f"{what} failed\n{about}\n\n{''.join(told)}"))


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  (an error that cannot even be told)
        return ""
