"""Artifacts: ranges are read without the whole, and files must be under their root."""

import hashlib
import os
import tracemalloc
from pathlib import Path

import pytest
from sqlalchemy import Connection

from engine.store import artifacts, tables
from engine.store.artifacts import ArtifactRow, Storage
from engine.store.database import Database
from engine.store.errors import ArtifactTaken, NotFound, PathEscapes


def row(artifact_id: str = "art_1", storage: str = Storage.BLOB, **more: object) -> ArtifactRow:
    return ArtifactRow(
        artifact_id=artifact_id, artifact_type="file", storage=storage, source="runner", created_at=1, **more
    )  # type: ignore[arg-type]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "inside.txt").write_bytes(b"0123456789")
    (tmp_path / "outside.txt").write_bytes(b"secret")
    return folder


def read(conn: Connection, artifact_id: str = "art_1", offset: int = 0, limit: int = artifacts.READ) -> bytes:
    return artifacts.read_range(conn, artifact_id, offset, limit, now=5)


def test_size_and_digest_of_a_blob_are_computed_by_the_host(conn: Connection):
    kept = artifacts.register(conn, row(size_bytes=7, sha256="no"), b"hello")
    assert (kept.size_bytes, kept.sha256) == (5, hashlib.sha256(b"hello").hexdigest())
    assert artifacts.get(conn, "art_1", now=5) == kept


@pytest.mark.parametrize(
    ("offset", "limit", "expected"),
    [(0, 4, b"0123"), (4, 4, b"4567"), (8, 100, b"89"), (10, 5, b""), (99, 5, b""), (3, 0, b"")],
)
@pytest.mark.parametrize("storage", [Storage.BLOB, Storage.FILE])
def test_range_is_read_up_to_the_end(
    conn: Connection, root: Path, storage: Storage, offset: int, limit: int, expected: bytes
):
    place = {"root": str(root), "location": "deep/inside.txt"} if storage == Storage.FILE else {}
    artifacts.register(conn, row(storage=storage, **place), b"0123456789" if storage == Storage.BLOB else None)
    assert read(conn, offset=offset, limit=limit) == expected


def test_a_range_does_not_load_the_whole_blob(database: Database, conn: Connection):
    artifacts.register(conn, row(), b"x" * (32 << 20) + b"end")
    tracemalloc.start()
    end = database.read_now(lambda reader: read(reader, offset=32 << 20, limit=10))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert end == b"end"
    assert peak < 1 << 20


def test_a_read_returns_one_mebibyte_by_default_and_ten_at_most(conn: Connection):
    artifacts.register(conn, row(), b"x" * (11 << 20))
    assert len(read(conn)) == 1 << 20
    assert len(read(conn, limit=100 << 20)) == 10 << 20


def test_a_range_counts_from_the_start(conn: Connection):
    artifacts.register(conn, row(), b"abc")
    with pytest.raises(ValueError, match="must not be negative"):
        read(conn, offset=-1)


@pytest.mark.parametrize("storage", [Storage.URL, Storage.PLATFORM, Storage.METADATA])
def test_an_artifact_stored_elsewhere_reads_as_no_content(conn: Connection, storage: Storage):
    artifacts.register(conn, row(storage=storage, location="https://example.org/a"))
    assert read(conn) == b""
    assert artifacts.get(conn, "art_1", now=5).location == "https://example.org/a"


def test_duplicate_artifact_id_is_refused_and_the_first_one_stays(conn: Connection):
    artifacts.register(conn, row(), b"first")
    with pytest.raises(ArtifactTaken, match="artifact art_1 exists already"):
        artifacts.register(conn, row(), b"second")
    assert read(conn) == b"first"


def test_expired_artifact_is_not_found(conn: Connection):
    artifacts.register(conn, row(expires_at=5), b"gone")
    artifacts.register(conn, row("art_2", expires_at=6), b"here")
    for look in (lambda: artifacts.get(conn, "art_1", now=5), lambda: read(conn)):
        with pytest.raises(NotFound, match="no artifact art_1"):
            look()
    assert read(conn, "art_2") == b"here"
    assert [each.artifact_id for each in artifacts.page(conn, now=5)] == ["art_2"]


def test_a_text_is_searched_in_name_type_and_id_in_any_case(conn: Connection):
    for artifact_id, name, kind in (("a", "ÄRGER 京都.md", "text/markdown"), ("b", "100%.png", "image/png")):
        artifacts.register(conn, row(artifact_id, Storage.METADATA, name=name, mime_type=kind))

    def found(text: str) -> list[str]:
        return [each.artifact_id for each in artifacts.page(conn, now=5, text=text)]

    assert found("ärger") == found("京都") == found("MARKDOWN") == ["a"]
    assert found("0%.") == found("image") == ["b"]
    assert (found("_"), found("file")) == ([], ["b", "a"])


def test_pages_are_newest_first_and_of_one_conversation_or_run(conn: Connection):
    for number in range(1, 6):
        artifacts.register(conn, row(f"art_{number}", conversation_id="ab"[number % 2], run_id=f"run_{number}"), b"")
    assert [each.artifact_id for each in artifacts.page(conn, now=5, limit=2)] == ["art_5", "art_4"]
    assert [each.artifact_id for each in artifacts.page(conn, now=5, before="art_4")] == ["art_3", "art_2", "art_1"]
    assert [each.artifact_id for each in artifacts.page(conn, now=5, conversation_id="a")] == ["art_4", "art_2"]
    assert [each.artifact_id for each in artifacts.page(conn, now=5, run_id="run_3")] == ["art_3"]


@pytest.mark.parametrize(
    "location", ["../outside.txt", "deep/../../outside.txt", "{outside}", "link.txt", "linked/outside.txt", "deep"]
)
def test_a_file_outside_its_root_is_refused_at_registration_and_never_shown(
    conn: Connection, root: Path, location: str
):
    (root / "link.txt").symlink_to(root.parent / "outside.txt")
    (root / "linked").symlink_to(root.parent)
    place = location.format(outside=root.parent / "outside.txt")
    with pytest.raises(PathEscapes) as caught:
        artifacts.register(conn, row(storage=Storage.FILE, root=str(root), location=place))
    assert str(root.parent) not in str(caught.value)
    assert "outside.txt" not in str(caught.value)
    assert artifacts.page(conn, now=5) == []


def test_folder_whose_name_starts_with_the_root_is_outside_it(conn: Connection, root: Path):
    beside = root.with_name("root-but-not")
    beside.mkdir()
    (beside / "file").write_bytes(b"secret")
    with pytest.raises(PathEscapes):
        artifacts.register(conn, row(storage=Storage.FILE, root=str(root), location="../root-but-not/file"))


def test_link_within_the_root_is_accepted(conn: Connection, root: Path):
    (root / "short.txt").symlink_to(root / "deep" / "inside.txt")
    artifacts.register(conn, row(storage=Storage.FILE, root=str(root), location="short.txt"))
    assert read(conn, limit=3) == b"012"


def test_a_file_swapped_for_a_link_after_registration_is_refused(conn: Connection, root: Path):
    artifacts.register(conn, row(storage=Storage.FILE, root=str(root), location="deep/inside.txt"))
    (root / "deep" / "inside.txt").unlink()
    (root / "deep" / "inside.txt").symlink_to(root.parent / "outside.txt")
    with pytest.raises(PathEscapes, match="art_1 is outside its root"):
        read(conn)


def test_a_folder_swapped_for_a_link_after_registration_is_refused(conn: Connection, root: Path):
    artifacts.register(conn, row(storage=Storage.FILE, root=str(root), location="deep/inside.txt"))
    (root / "deep").rename(root / "moved")
    other = root.parent / "other"
    other.mkdir()
    (other / "inside.txt").write_bytes(b"secret")
    (root / "deep").symlink_to(other)
    with pytest.raises(PathEscapes):
        read(conn)


def test_a_file_that_is_gone_is_not_found(conn: Connection, root: Path):
    artifacts.register(conn, row(storage=Storage.FILE, root=str(root), location="deep/inside.txt"))
    (root / "deep" / "inside.txt").unlink()
    with pytest.raises(NotFound, match="the file of artifact art_1 is gone"):
        read(conn)


def test_a_pipe_in_place_of_a_file_does_not_hang(conn: Connection, root: Path):
    os.mkfifo(root / "pipe")
    with pytest.raises(PathEscapes):
        artifacts.register(conn, row(storage=Storage.FILE, root=str(root), location="pipe"))


def test_equal_bytes_are_stored_once_and_deleted_with_the_last_artifact(conn: Connection):
    artifacts.register(conn, row("art_1"), b"same")
    artifacts.register(conn, row("art_2"), b"same")
    assert artifacts.delete_where(conn, tables.artifacts.c.artifact_id == "art_1") == (1, 0)
    assert artifacts.read_range(conn, "art_2", now=1) == b"same"
    assert artifacts.delete_where(conn, tables.artifacts.c.artifact_id == "art_2") == (1, 1)
