"""References to artifacts in lines of the transcript: objects with what this run may know of each artifact."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from engine.store import transcript
from engine.store.transcript import MAX_REFERENCE_CHARS
from tests.engine.access.test_paging import said
from tests.support.engines import START
from tests.support.own_and_foreign_data import FOREIGN_PLACES, FOREIGN_TEXT, AccessHarness, raw_call

NOTHING = {"artifact_type": "unknown", "mime_type": None, "name": None, "size_bytes": None}


async def references(harness: AccessHarness, *artifact_ids: str) -> list[dict[str, Any]]:
    """Return the references of a line to these artifacts, by a page and by a search, which agree."""
    line = replace(said(1), content="with artifacts", artifact_refs=list(artifact_ids))
    await harness.write(lambda conn: transcript.append(conn, line))

    async def look(ctx: Any) -> Any:
        return await asyncio.gather(
            raw_call(ctx, "history_page", run_id=ctx.run_id, direction="forward", include_artifacts=True, limit=1),
            raw_call(ctx, "history_search", run_id=ctx.run_id, query="artifacts"),
        )

    page, search = await harness.do_in_run(look)
    (paged,), (found,) = page["items"], search["items"]
    assert paged["artifact_refs"] == found["artifact_refs"]
    return paged["artifact_refs"]


async def test_a_reference_has_the_facts_of_its_artifact_in_the_order_of_the_line(harness: AccessHarness):
    await harness.store_artifact("b", b"12345", artifact_type="image", mime_type="image/png", name="b.png")
    await harness.store_artifact("a", b"", artifact_type="file", expires_at=START + 1)

    assert await references(harness, "b", "a") == [
        {"artifact_id": "b", "artifact_type": "image", "mime_type": "image/png", "name": "b.png", "size_bytes": 5},
        {"artifact_id": "a", "artifact_type": "file", "mime_type": None, "name": None, "size_bytes": 0},
    ]


@pytest.mark.parametrize("where", [*FOREIGN_PLACES, "expired", "internal", "nowhere"])
async def test_a_reference_to_an_artifact_that_the_run_cannot_read_has_only_its_id(harness: AccessHarness, where: str):
    if where in FOREIGN_PLACES:
        await harness.store_artifact("x", place=FOREIGN_PLACES[where], name=FOREIGN_TEXT)
    elif where == "expired":
        await harness.store_artifact("x", expires_at=START, name=FOREIGN_TEXT)
    elif where == "internal":
        await harness.store_artifact("x", source="host", artifact_type="call.replied", name=FOREIGN_TEXT)

    assert await references(harness, "x") == [{"artifact_id": "x", **NOTHING}]


async def test_long_names_are_cut_in_references(harness: AccessHarness):
    await harness.store_artifact("x", name="n" * 1_000, mime_type="m" * 1_000, artifact_type="t" * 1_000)

    (reference,) = await references(harness, "x")

    assert [len(reference[name]) for name in ("name", "mime_type", "artifact_type")] == [MAX_REFERENCE_CHARS] * 3
