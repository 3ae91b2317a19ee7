"""The artifact calls: metadata, and ranges of bytes."""

import base64
import tracemalloc
from typing import Any

import pytest

from engine.store.artifacts import Storage
from tests.support.engines import START, artifact_created, declares, message, run_event
from tests.support.own_and_foreign_data import AccessHarness, raw_call, write_file

METADATA = {
    "artifact_id", "artifact_type", "mime_type", "name", "size_bytes", "sha256", "source", "conversation_id", "run_id",
    "runner_id", "created_at", "expires_at", "metadata",
}  # fmt: skip
READ = {"artifact_id", "mime_type", "size_bytes", "offset", "length", "content_base64", "file_key", "has_more"}
DIGITS = b"0123456789"


@pytest.fixture
async def kept(harness: AccessHarness) -> AccessHarness:
    await harness.store_artifact(
        "digits", DIGITS, mime_type="text/plain", name="d.txt", expires_at=START + 1, metadata={"a": 1}
    )
    return harness


async def test_metadata_has_the_fields_of_the_contract_and_no_path(kept: AccessHarness):
    reply = await kept.do_in_run(
        lambda ctx: raw_call(ctx, "artifact_metadata", run_id=ctx.run_id, artifact_id="digits")
    )
    assert set(reply) == METADATA
    assert (reply["size_bytes"], reply["name"], reply["metadata"]) == (10, "d.txt", {"a": 1})
    assert (reply["created_at"], reply["expires_at"]) == (START // 1_000_000, START // 1_000_000)


@pytest.mark.parametrize(
    ("call", "arguments", "offset", "content", "has_more"),
    [
        ("artifact_read", {}, 0, DIGITS, False),
        ("artifact_read", {"limit": 4}, 0, b"0123", True),
        ("artifact_read", {"offset": 6, "limit": 4}, 6, b"6789", False),
        ("artifact_read", {"offset": 10}, 10, b"", False),
        ("artifact_read", {"offset": 2**64 - 1}, 2**64 - 1, b"", False),
        ("artifact_read", {"limit": 10**12}, 0, DIGITS, False),
        ("artifact_read_range", {}, 0, DIGITS, False),
        ("artifact_read_range", {"offset": 3, "length": 2}, 3, b"34", True),
    ],
)
@pytest.mark.parametrize("storage", [Storage.BLOB, Storage.FILE])
async def test_read_range_returns_exactly_the_requested_bytes(
    kept: AccessHarness, storage: str, call: str, arguments: Any, offset: int, content: bytes, has_more: bool
):
    name = "digits"
    if storage == Storage.FILE:
        name = "file"
        path = write_file(kept.files / "digits.txt", DIGITS)
        await kept.store_artifact("file", storage=Storage.FILE, location=str(path), root=str(kept.files))
    reply = await kept.do_in_run(lambda ctx: raw_call(ctx, call, run_id=ctx.run_id, artifact_id=name, **arguments))
    assert set(reply) == READ
    assert base64.b64decode(reply["content_base64"]) == content
    assert (reply["offset"], reply["length"], reply["size_bytes"]) == (offset, len(content), 10)
    assert (reply["has_more"], reply["file_key"]) == (has_more, None)
    assert str(kept.files) not in repr(reply)


@pytest.mark.parametrize(("storage", "location"), [("url", "https://x/y"), ("platform", "key-1"), ("metadata", None)])
async def test_artifact_stored_elsewhere_is_read_as_its_key_without_content(
    harness: AccessHarness, storage: str, location: Any
):
    await harness.store_artifact("elsewhere", storage=storage, location=location)
    got = await harness.do_in_run(lambda ctx: ctx.api.artifact_read("elsewhere"))
    assert (got.content_base64, got.length, got.file_key, got.has_more) == (None, 0, location, False)


async def test_a_read_returns_one_mebibyte_by_default_and_ten_at_most(harness: AccessHarness):
    await harness.store_artifact("large", bytes(12 << 20))
    for limit, length in ((None, 1 << 20), (2 << 20, 2 << 20), (11 << 20, 10 << 20)):
        got = await harness.do_in_run(lambda ctx, limit=limit: ctx.api.artifact_read("large", limit=limit))
        assert (got.length, got.has_more) == (length, True)


async def test_read_range_does_not_load_the_whole_artifact(harness: AccessHarness):
    await harness.store_artifact("large", bytes(30 << 20))
    tracemalloc.start()
    try:
        got = await harness.do_in_run(lambda ctx: ctx.api.artifact_read_range("large", offset=29 << 20, length=100))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert got.length == 100
    assert peak < 10 << 20


async def test_run_can_read_its_new_artifacts_and_its_attachments(open_engine):
    seen: list[Any] = []

    @declares(permissions={"artifacts": ["metadata", "read"]})
    async def makes(ctx: Any):
        yield artifact_created("file", artifact_id="fresh", content_base64=base64.b64encode(b"new").decode())
        seen.append((await ctx.api.artifact_read("fresh")).content_base64)
        seen.append((await ctx.api.artifact_metadata("fresh")).run_id == ctx.run_id)
        seen.append((await ctx.api.artifact_read(ctx.input.attachments[0].artifact_id)).content_base64)

    engine = await open_engine(makes)
    attachment = {"artifact_type": "file", "source": "user", "artifact_id": "att", "content": "aGk="}
    run = await run_event(engine, message("look", input={"text": "look", "attachments": [attachment]}))
    assert run.row.status == "completed", run.finished
    assert seen == ["bmV3", True, "aGk="]
