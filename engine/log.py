"""The log of Trackside itself, for bug reports. It is written only if a command was started with `--log`."""

import logging
from typing import Final

NAME: Final = "trackside"

_root = logging.getLogger(NAME)
_root.addHandler(logging.NullHandler())  # otherwise Python prints warnings on the screen if no log is written


def get_log(part: str) -> logging.Logger:
    """Return the logger of a part of Trackside. Texts of messages and values of settings are never logged."""
    return _root.getChild(part)
