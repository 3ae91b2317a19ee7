"""Checks that apply even if another check would refuse most of the same calls."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from engine.api import Engine
from engine.protocol import AgentAPIException
from tests.support.engines import declares, done, read_database, run_event, state_updated
from tests.support.own_and_foreign_data import (
    FOREIGN_PLACES,
    FOREIGN_TEXT,
    OWN_PLACE,
    AccessHarness,
    base64_of,
    own_message,
    raw_call,
    write_file,
)

HELLO = [{"role": "user", "content": "hi"}]
NOWHERE = {"conversation_id": None, "thread_id": None, "bot_id": None, "workspace_id": None}


@contextmanager
def nothing_commits(engine: Engine) -> Iterator[None]:
    """Another process has the database's write lock."""
    other = sqlite3.connect(engine.database_path, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        yield
    finally:
        other.close()


async def is_answered_while_nothing_commits(harness: AccessHarness, call: Any) -> bool:
    """Return whether the reply came while nothing could be written; then let the writer continue."""

    async def work(ctx: Any) -> bool:
        await ctx.api.run_events_page()  # everything before is on disk
        with nothing_commits(harness.engine):
            task = asyncio.create_task(call(ctx))
            for _ in range(500):
                await asyncio.sleep(0)
            answered = task.done()
        await task
        return answered

    return await harness.do_in_run(work)


@pytest.mark.parametrize(
    "call",
    [
        lambda ctx: ctx.api.state_set("conversation", "k", 1),
        lambda ctx: ctx.api.state_delete("conversation", "k"),
        lambda ctx: ctx.api.set_plugin_storage("k", b"1"),
        lambda ctx: ctx.api.delete_plugin_storage("k"),
    ],
    ids=["state_set", "state_delete", "set_plugin_storage", "delete_plugin_storage"],
)
async def test_a_write_is_not_answered_before_its_commit(harness: AccessHarness, call: Any):
    assert not await is_answered_while_nothing_commits(harness, call)


async def test_tokens_are_counted_without_waiting_for_a_write(harness: AccessHarness):
    long = [{"role": "user", "content": f"{number} " + "x" * 200} for number in range(500)]
    assert await is_answered_while_nothing_commits(harness, lambda ctx: ctx.api.count_tokens("m", long))


@pytest.mark.parametrize(
    "call",
    [
        lambda ctx: ctx.api.invoke_llm("m", HELLO),
        lambda ctx: anext(ctx.api.invoke_llm_stream("m", HELLO)),
        lambda ctx: ctx.api.invoke_rerank("rank", "q", ["d"]),
        lambda ctx: ctx.api.call_tool("weather", {}),
        lambda ctx: ctx.api.retrieve_knowledge("notes", "umbrella"),
    ],
    ids=["invoke_llm", "invoke_llm_stream", "invoke_rerank", "call_tool", "retrieve_knowledge"],
)
async def test_nothing_leaves_the_host_before_the_call_is_in_the_journal(harness: AccessHarness, call: Any):
    assert not await is_answered_while_nothing_commits(harness, call)


async def test_read_waits_for_earlier_results_of_the_same_run(open_engine):
    seen: list[Any] = []

    async def writes(ctx: Any):
        await ctx.api.run_events_page()  # everything before is on disk
        with nothing_commits(engine):
            yield state_updated("k", "new")
            task = asyncio.create_task(ctx.api.state_get("conversation", "k"))
            for _ in range(20):  # enough for a read that does not wait
                await asyncio.to_thread(read_database, engine, lambda conn: conn.exec_driver_sql("SELECT 1").scalar())
        seen.append(await task)

    engine = await open_engine(writes)
    run = await run_event(engine, "go")
    assert run.row.status == "completed", run.finished
    assert seen == ["new"]


async def test_call_may_name_its_own_plugin_identity(harness: AccessHarness):
    identity = {"plugin_identity": "local/asks", "caller_plugin_identity": "local/asks"}
    got = await harness.do_in_run(lambda ctx: raw_call(ctx, "run_get", run_id=ctx.run_id, **identity))
    assert got["status"] == "running"


async def test_streams_count_as_in_flight_until_they_end(harness: AccessHarness, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("engine.access.rate_limit.MAX_CALLS_IN_FLIGHT", 2)

    async def work(ctx: Any) -> list[str]:
        seen: list[str] = []
        for _ in range(2):
            streams = [ctx.api.invoke_llm_stream("m", HELLO) for _ in range(2)]
            for stream in streams:
                await anext(stream)
            try:
                await ctx.api.run_get()
            except AgentAPIException as refusal:
                seen.append(refusal.error.code)
            for stream in streams:
                async for _ in stream:
                    pass
        return seen

    assert await harness.do_in_run(work) == ["rate_limited"] * 2


@pytest.mark.parametrize("place", [OWN_PLACE, *FOREIGN_PLACES.values()], ids=["own", *FOREIGN_PLACES])
async def test_run_reads_only_lines_and_events_of_its_own_conversation_key(harness: AccessHarness, place: Any):
    """Every part of a conversation key counts, and a missing part matches only a missing part."""
    for name, each in {"own": OWN_PLACE, **FOREIGN_PLACES}.items():
        await harness.do_in_run(lambda ctx: ctx.api.run_get(), own_message(f"said in {name}", each), "other")

    async def look(ctx: Any) -> Any:
        lines = [item.content for item in (await ctx.api.history_page()).items if item.role == "user"]
        found = [item.content for item in (await ctx.api.history_search("said")).items]
        return lines, found, [item.input_summary for item in (await ctx.api.event_page()).items if item.input_summary]

    lines, found, events = await harness.do_in_run(look, own_message("asked", place))
    (name,) = [name for name, each in {"own": OWN_PLACE, **FOREIGN_PLACES}.items() if each == place]
    assert lines == events == ["asked", f"said in {name}"]
    assert found == [f"said in {name}"]


async def test_run_without_conversation_cannot_read_artifacts_of_another_such_run(harness: AccessHarness):
    await harness.store_artifact("elsewhere", FOREIGN_TEXT.encode(), run_id="another", **NOWHERE)
    for call in ("artifact_read", "artifact_metadata"):
        outcome = await harness.try_in_run(
            lambda ctx, c=call: getattr(ctx.api, c)("elsewhere"), own_message("alone", **NOWHERE)
        )
        assert outcome.error is not None
        assert (outcome.error.code, outcome.error.message) == (
            "not_found",
            "this run can read no artifact 'elsewhere'",
        )


async def test_a_foreign_id_and_one_that_does_not_exist_look_the_same(harness: AccessHarness):
    """Neither the reply nor the journal, which a runner can read, tells whether an id exists."""
    await harness.store_artifact("art-there", FOREIGN_TEXT.encode(), FOREIGN_PLACES["conversation"])

    async def look(ctx: Any, artifact_id: str) -> Any:
        with pytest.raises(AgentAPIException) as refusal:
            await ctx.api.artifact_read(artifact_id)
        entries = (await ctx.api.run_events_page(limit=100)).items
        told = [(entry.type, entry.data) for entry in entries if entry.type in ("call.decided", "call.replied")]
        return str((refusal.value.error.model_dump(), told)).replace(artifact_id, "ID").replace(ctx.run_id, "RUN")

    assert await harness.do_in_run(lambda ctx: look(ctx, "art-there")) == await harness.do_in_run(
        lambda ctx: look(ctx, "art-never")
    )


@pytest.mark.parametrize("more", ["x", " ", "\n", "f" * 20])
async def test_cursor_with_trailing_text_is_invalid(harness: AccessHarness, more: str):
    async def work(ctx: Any) -> Any:
        page = await ctx.api.history_page(limit=1)
        return await ctx.api.history_page(before_cursor=page.items[0].cursor + more)

    outcome = await harness.try_in_run(work)
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.message) == ("invalid_argument", "this is not a cursor")


async def test_page_of_the_journal_stays_between_both_cursors(harness: AccessHarness):
    async def work(ctx: Any) -> Any:
        first = await ctx.api.run_events_page(direction="backward")
        for _ in range(3):
            await ctx.api.run_get()
        last = await ctx.api.run_events_page(direction="backward")
        edges = {"before_cursor": last.prev_cursor, "after_cursor": first.prev_cursor}
        forward = await ctx.api.run_events_page(**edges, direction="forward")
        backward = await ctx.api.run_events_page(**edges, direction="backward")
        return first.items[0].position, last.items[0].position, forward, backward

    low, high, forward, backward = await harness.do_in_run(work)
    assert [item.position for item in forward.items] == list(range(low + 1, high))
    assert [item.position for item in backward.items] == list(range(high - 1, low, -1))


async def test_invalid_base64_is_refused_and_not_stored_in_part(harness: AccessHarness):
    outcome = await harness.try_in_run(
        lambda ctx: raw_call(
            ctx, "set_plugin_storage", run_id=ctx.run_id, key="k", value_base64=f"@{base64_of(b'abc')}!"
        )
    )
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.message) == ("invalid_argument", "value_base64 is not valid base64")
    assert await harness.do_in_run(lambda ctx: ctx.api.get_plugin_storage_keys()) == []


async def test_granted_file_that_is_replaced_by_a_link_is_not_read(harness: AccessHarness):
    path = write_file(harness.files / "notes.txt", "harmless")
    outside = write_file(harness.engines.folder / "outside.txt", FOREIGN_TEXT)

    def after_it_was_swapped(ctx):
        path.unlink()
        path.symlink_to(outside)
        return ctx.api.get_file("notes.txt")

    outcome = await harness.try_in_run(after_it_was_swapped)
    assert outcome.error is not None
    assert outcome.error.code == "unauthorized"
    assert outcome.error.message == "file 'notes.txt' is outside the file roots"


async def test_file_over_the_size_limit_fails_as_payload_too_large(
    harness: AccessHarness, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("engine.resources.files.MAX_FILE_BYTES", 4)
    write_file(harness.files / "notes.txt", b"12345")
    outcome = await harness.try_in_run(lambda ctx: ctx.api.get_file("notes.txt"))
    assert outcome.error is not None
    assert outcome.error.code == "payload_too_large"


async def test_allowed_plugin_storage_does_not_allow_workspace_storage(open_engine):
    seen: list[str] = []

    @declares(permissions={"storage": ["plugin", "workspace"]})
    async def stores(ctx: Any):
        assert await ctx.api.get_plugin_storage_keys() == []
        try:
            await ctx.api.get_workspace_storage_keys()
        except AgentAPIException as refusal:
            seen.append(refusal.error.message)
        yield done("stored")

    run = await run_event(await open_engine(stores), "go")
    assert run.row.status == "completed", run.finished
    assert seen == ["resource_policy.allow_workspace_storage is false"]


async def test_refused_model_call_does_not_count_as_a_turn(harness: AccessHarness):
    result = {"role": "tool", "tool_call_id": "1", "content": "9"}

    async def work(ctx: Any) -> None:
        await ctx.api.invoke_llm("m", HELLO)
        with contextlib.suppress(AgentAPIException):
            await ctx.api.invoke_llm("unknown", [*HELLO, result])

    outcome = await harness.try_in_run(work)
    assert {entry.turn for entry in outcome.run.journal} == {1}
