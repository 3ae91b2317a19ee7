"""A disk of a few bytes, for tests that fill it."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str | int) -> Iterator[Path]:
    """Mount a disk of this size, such as `2m`, on a new folder. Skips the test if that is not permitted."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk is not permitted here; other tests fill one by SQLite's own limit")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
