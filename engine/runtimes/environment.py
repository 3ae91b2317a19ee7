"""The environment of a child: a small base plus named variables."""

import os
from collections.abc import Mapping
from typing import Final

from engine.runtimes.runtime import Launch
from engine.runtimes.seeds import HASH_SEED

MARK: Final = "TRACKSIDE_CHILD"
"""The variable by which processes of a child are found, also those that left its session."""
TEMPORARY: Final = "/tmp"  # noqa: S108 - a file system of the sandbox, not the folder of the host
"""The temporary folder of a sandboxed child. It is in memory and ends with the child."""
BASE: Final = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "SYSTEMROOT")


def environment_of(
    launch: Launch, mark: str, hash_seed: int | None = None, host: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Build the child's whole environment. PYTHONPATH and secrets of the host are not passed on."""
    small = {name: value for name, value in host.items() if _is_in_base(name)}
    # The user's own folders do not exist in a sandbox.
    moved = {} if launch.sandbox is None else {"HOME": TEMPORARY, "TMPDIR": TEMPORARY}
    return {
        **small,
        **moved,
        "PYTHONUNBUFFERED": "1",  # printed lines arrive at once
        "PYTHONIOENCODING": "utf-8:backslashreplace",
        "PYTHONFAULTHANDLER": "1",  # a crash in C leaves its Python stack in the output
        **({} if hash_seed is None else {HASH_SEED: str(hash_seed)}),
        **dict(launch.env),
        MARK: mark,
    }


def passed_variables(launch: Launch, host: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the names of the host's variables that a child gets, in order."""
    return tuple(sorted({*filter(_is_in_base, host), *dict(launch.env)}))


def _is_in_base(name: str) -> bool:
    return name in BASE or name.startswith("LC_")
