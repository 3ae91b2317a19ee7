"""The environment of a child: a small base plus named variables."""

import os
from collections.abc import Mapping
from typing import Final

from engine.runtimes.runtime import Launch

MARK: Final = "TRACKSIDE_CHILD"
"""The variable by which processes of a child are found, also those that left its session."""
BASE: Final = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "SYSTEMROOT")


def environment_of(launch: Launch, mark: str, host: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Build the child's whole environment. PYTHONPATH and secrets of the host are not passed on."""
    small = {name: value for name, value in host.items() if name in BASE or name.startswith("LC_")}
    return {
        **small,
        "PYTHONUNBUFFERED": "1",  # printed lines arrive at once
        "PYTHONIOENCODING": "utf-8:backslashreplace",
        "PYTHONFAULTHANDLER": "1",  # a crash in C leaves its Python stack in the output
        **dict(launch.env),
        MARK: mark,
    }
