"""Sandboxes for tests: whether this machine has them, and stand-ins for bubblewrap."""

from functools import cache
from pathlib import Path

import pytest

from engine.runtimes.runtime import Sandbox
from engine.runtimes.sandbox import check_sandbox


@cache
def _problem() -> str:
    return check_sandbox().problem


def require_sandbox() -> Sandbox:
    """Return a sandbox without network. Skips the test if bubblewrap is not usable on this machine."""
    if problem := _problem():
        pytest.skip(f"needs bubblewrap: {problem}")
    return Sandbox()


def write_bwrap(folder: Path, script: str) -> Path:
    """Write a program called bwrap into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "bwrap"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path
