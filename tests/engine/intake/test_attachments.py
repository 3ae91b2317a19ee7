"""Attached files: small ones are sent with the event, large ones stay in place, others are refused with the reason."""

import base64
import os
import socket
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from engine.api import AttachmentProblem, IntakeError, read_attachment
from engine.intake.attachments import INLINE_LIMIT
from engine.protocol.content import Attachment
from engine.store.artifacts import Storage
from tests.support.engines import Engines, done, event, message, run_event

_numbers: Iterator[int] = count(1)


def attach(path: Path, *roots: Path) -> Attachment:
    return read_attachment(path, lambda: f"art_{next(_numbers)}", roots)


def written(path: Path, content: bytes = b"hello") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("name", "kind", "mime_type"),
    [
        ("a.PNG", "image", "image/png"),
        ("a.webp", "image", "image/webp"),
        ("a.mp3", "voice", "audio/mpeg"),
        ("a.m4a", "voice", "audio/mp4"),
        ("a.md", "file", "text/markdown"),
        ("a.tar.gz", "file", "application/gzip"),
        ("README", "file", "application/octet-stream"),
    ],
)
def test_mime_type_decides_between_image_voice_and_file(tmp_path: Path, name: str, kind: str, mime_type: str):
    found = attach(written(tmp_path / name))

    assert (found.artifact_type, found.mime_type, found.name, found.size) == (kind, mime_type, name, 5)
    assert (found.source, base64.b64decode(found.content or "")) == ("console", b"hello")


def test_empty_file_and_file_of_exactly_the_limit_are_sent_with_the_event(tmp_path: Path):
    assert attach(written(tmp_path / "empty", b"")).content == ""
    assert attach(written(tmp_path / "full", b"x" * INLINE_LIMIT)).size == INLINE_LIMIT


def test_larger_file_stays_under_its_root_and_the_runner_sees_only_its_relative_path(tmp_path: Path):
    large = written(tmp_path / "files" / "trips" / "map.pdf", b"x" * (INLINE_LIMIT + 1))

    found = attach(large, tmp_path / "elsewhere", tmp_path / "files")

    assert (found.source, found.id, found.content) == ("file_root", "trips/map.pdf", None)
    assert (found.size, found.mime_type) == (INLINE_LIMIT + 1, "application/pdf")


def test_larger_file_outside_the_roots_is_refused_with_the_limit_and_advice(tmp_path: Path):
    large = written(tmp_path / "big", b"x" * (3 << 19))
    (tmp_path / "files").mkdir()

    with pytest.raises(AttachmentProblem, match=r"big has 1\.5 MiB; an event carries files up to 1 MiB\. .*file_roots"):
        attach(large)
    with pytest.raises(AttachmentProblem, match="Move it into a folder of `file_roots`"):
        attach(large, tmp_path / "files")


def test_refusal_of_a_file_just_over_the_limit_has_its_size_in_bytes(tmp_path: Path):
    (tmp_path / "big").write_bytes(bytes(INLINE_LIMIT + 1))
    with pytest.raises(AttachmentProblem, match=r"has 1,048,577 bytes; .* up to 1 MiB \(1,048,576 bytes\)\."):
        read_attachment(tmp_path / "big", lambda: "a")


def test_link_is_resolved_before_the_root_is_checked(tmp_path: Path):
    outside = written(tmp_path / "secret", b"x" * (INLINE_LIMIT + 1))
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "innocent").symlink_to(outside)

    with pytest.raises(AttachmentProblem, match="Move it into a folder"):
        attach(tmp_path / "files" / "innocent", tmp_path / "files")


def test_a_file_that_cannot_be_read_gives_a_reason_and_never_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    long = tmp_path / ("x" * 300)

    for path, words in (
        (tmp_path / "nowhere", r"nowhere does not exist\. Check the path"),
        (tmp_path / "nowhere" / "deeper", "does not exist"),
        (tmp_path, r"is a folder\. Attach the files in it one by one"),
        (tmp_path / "pipe", "is not a regular file but a pipe, a device or a socket"),
        (tmp_path / "socket", "is not a regular file but a pipe, a device or a socket"),
        (Path("/dev/null"), "is not a regular file"),
        (tmp_path / "loop", "cannot be read: "),
        (long, "cannot be read: File name too long"),
        (Path("a\0b"), "is not a valid path"),
        (written(tmp_path / "\udcff"), "has a name that is not UTF-8"),
    ):
        with pytest.raises(AttachmentProblem, match=words):
            attach(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_read_permission_gives_a_reason(tmp_path: Path):
    path = written(tmp_path / "mine")
    path.chmod(0)
    with pytest.raises(AttachmentProblem, match="may not be read"):
        attach(path)


async def test_a_file_under_a_root_is_a_file_artifact_of_the_run(open_engine: Engines):
    seen = []

    async def looks(ctx):
        seen.extend(ctx.input.attachments)
        yield done("ok")

    engine = await open_engine(looks, file_roots=["files"])
    content = b"0123456789" * (INLINE_LIMIT // 10 + 1)
    given = await engine.runs.attach(written(open_engine.folder / "files" / "big.bin", content))

    run = await run_event(engine, message(input={"text": "see", "attachments": [given]}))

    (row,) = await engine.artifacts.list(run_id=run.run_id)
    assert (row.storage, row.size_bytes, row.name) == (Storage.FILE, len(content), "big.bin")
    assert await engine.artifacts.read_bytes(row.artifact_id, offset=5, limit=10) == b"5678901234"
    assert str(open_engine.folder) not in seen[0].model_dump_json()


async def test_file_missing_or_outside_the_roots_is_refused_before_anything_is_recorded(open_engine: Engines):
    async def looks(ctx):
        yield done("ok")

    engine = await open_engine(looks, file_roots=["files"])
    path = written(open_engine.folder / "files" / "big.bin", b"x" * (INLINE_LIMIT + 1))
    given = await engine.runs.attach(path)
    path.unlink()

    for key in ("big.bin", "../trackside.yaml", "/etc/passwd", "a\0b"):
        attachment = given.model_copy(update={"id": key})
        with pytest.raises(IntakeError, match="under the project's file_roots"):
            await engine.runs.submit(event(input={"attachments": [attachment]}))
    assert await engine.runs.list() == []


async def test_file_deleted_while_its_event_is_queued_is_left_out_with_a_warning(open_engine: Engines):
    async def looks(ctx):
        yield done("ok")

    engine = await open_engine(looks, file_roots=["files"])
    path = written(open_engine.folder / "files" / "big.bin", b"x" * (INLINE_LIMIT + 1))
    order = engine.runs.prepare(message(input={"attachments": [await engine.runs.attach(path)]}))
    path.unlink()

    run = await run_event(engine, order)  # type: ignore[arg-type]

    assert run.row.status == "completed"
    assert ["its file no longer exists" in warning for warning in run.warnings] == [True]
