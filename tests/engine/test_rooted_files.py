"""Files under a root: whatever is done to the folders during a read, no byte of another place is returned."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from engine import rooted_files
from engine.resources.files import FileProblem, file_exists, list_file_keys, read_file
from engine.rooted_files import NotRegular, OutsideRoot, open_in_root
from engine.store import artifacts
from engine.store.artifacts import ArtifactRow, Storage
from engine.store.errors import NotFound, PathEscapes

SWAP = """
import ctypes, os, sys
os.chdir(sys.argv[1])
exchange = ctypes.CDLL(None).renameat2
print("swapping", flush=True)
while True:
    exchange(-100, b"deep", -100, b"link", 2)  # AT_FDCWD, RENAME_EXCHANGE
"""
READ_SECONDS = 0.1
Read = Callable[[], bytes]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a file in a folder, and beside the folder a link to one outside with a file of the same name."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder, content in ((root / "deep", "inside"), (outside, "outside")):
        folder.mkdir(parents=True)
        (folder / "file.txt").write_text(content)
    (root / "link").symlink_to(outside)
    return root


@pytest.fixture(params=["openat2", "walk"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to open a file; the first only if this kernel has it."""
    if request.param == "walk":
        monkeypatch.setattr(rooted_files, "_has_openat2", lambda: False)
    elif not rooted_files._has_openat2():
        pytest.skip("this kernel has no openat2")
    return request.param


@contextmanager
def swapping(root: Path) -> Iterator[None]:
    """Another process that swaps the folder for the link and back, all the time."""
    with subprocess.Popen([sys.executable, "-S", "-c", SWAP, str(root)], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield
        finally:
            process.kill()


def read_as_file(root: Path) -> Read:
    return lambda: read_file("deep/file.txt", (root,))


def read_as_artifact(root: Path) -> Read:
    row = ArtifactRow(
        artifact_id="art_1",
        artifact_type="file",
        storage=Storage.FILE,
        source="console",
        created_at=1,
        root=str(root),
        location="deep/file.txt",
    )
    return lambda: artifacts._read_file(row, 0, 100)


@pytest.mark.parametrize("reader", [read_as_file, read_as_artifact])
@pytest.mark.usefixtures("way")
def test_a_folder_swapped_for_a_link_after_the_path_was_resolved_is_refused(
    root: Path, reader: Callable[[Path], Read], monkeypatch: pytest.MonkeyPatch
):
    open_now, swaps = os.open, iter([True])

    def open_later(*arguments: Any, **more: Any) -> int:
        if next(swaps, False):
            (root / "deep").rename(root / "parked")
            (root / "link").rename(root / "deep")
        return open_now(*arguments, **more)

    monkeypatch.setattr(os, "open", open_later)

    with pytest.raises((FileProblem, PathEscapes, NotFound)):
        reader(root)()
    assert (root / "parked").is_dir()


@pytest.mark.parametrize("reader", [read_as_file, read_as_artifact])
@pytest.mark.usefixtures("way")
def test_a_folder_swapped_for_a_link_during_the_read_never_leads_outside(root: Path, reader: Callable[[Path], Read]):
    read, seen = reader(root), set[bytes]()
    with swapping(root):
        until = time.monotonic() + READ_SECONDS
        while time.monotonic() < until:
            with suppress(FileProblem, PathEscapes, NotFound, OSError):
                seen.add(read())

    assert seen <= {b"inside"}


@pytest.mark.usefixtures("way")
def test_links_within_the_root_are_followed_and_others_refused(root: Path):
    (root / "relative").symlink_to("deep/file.txt")
    (root / "absolute").symlink_to(root / "deep")
    (root / "circle").symlink_to("circle")

    assert read_file("relative", (root,)) == read_file("absolute/file.txt", (root,)) == b"inside"
    for name in ("link/file.txt", "../outside/file.txt", "/etc/hostname", "deep/../.."):
        with pytest.raises(OutsideRoot):
            open_in_root(root, name)
    for name in ("gone", "deep/file.txt/more", "circle", "a\0b", "\ud800"):
        with pytest.raises(OSError):  # noqa: PT011
            open_in_root(root, name)
    with pytest.raises(NotRegular):
        open_in_root(root, "deep")
    assert [file_exists(name, (root,)) for name in ("relative", "link/file.txt", "a\0b", "deep")] == [
        True,
        *[False] * 3,
    ]
    assert list_file_keys((root,)) == ["deep/file.txt"]


@pytest.mark.usefixtures("way")
def test_no_descriptor_is_left_open(root: Path):
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for name in ("deep/file.txt", "deep", "link/file.txt", "gone"):
        file_exists(name, (root,))
    list_file_keys((root,))

    assert set(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
