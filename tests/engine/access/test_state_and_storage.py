"""State and storage calls: a value is on disk before the reply is sent, and is read back unchanged."""

from typing import Any

import pytest
from sqlalchemy import select

from engine.store import tables
from tests.support.engines import declares, done, read_database, run_event, send, state_updated, wait_for_run
from tests.support.own_and_foreign_data import AccessHarness, own_message


@pytest.mark.parametrize("value", [None, 0, False, "", "text 天", [1, 2.5], {"a": {"b": [None]}}, "x" * 262_142])
async def test_state_value_is_read_back_unchanged(harness: AccessHarness, value: Any):
    async def work(ctx: Any) -> Any:
        await ctx.api.state_set("conversation", "k", value)
        return await ctx.api.state_get("conversation", "k")

    assert await harness.do_in_run(work) == value


async def test_a_missing_value_is_null_and_delete_returns_whether_it_existed(harness: AccessHarness):
    async def work(ctx: Any) -> Any:
        missing = await ctx.api.state_get("actor", "k")
        await ctx.api.state_set("actor", "k", 1)
        return (
            missing,
            [await ctx.api.state_delete("actor", "k") for _ in range(2)],
            await ctx.api.state_get("actor", "k"),
        )

    assert await harness.do_in_run(work) == (None, [True, False], None)


async def test_alias_conversation_id_reads_as_the_conversation_until_it_is_set(harness: AccessHarness):
    async def work(ctx: Any) -> Any:
        names = ("conversation_id", "external.conversation_id")
        before = [await ctx.api.state_get("conversation", name) for name in names]
        await ctx.api.state_set("conversation", "conversation_id", "abc")
        return before, [await ctx.api.state_get("conversation", name) for name in names]

    assert await harness.do_in_run(work) == (["ours", "ours"], ["abc", "abc"])


async def test_keys_are_sorted_and_paged_by_a_hundred(harness: AccessHarness):
    async def work(ctx: Any) -> Any:
        for number in range(101):
            await ctx.api.state_set("conversation", f"k{number:03}", number)
        return await ctx.api.state_list("conversation"), await ctx.api.state_list("conversation", "k09")

    whole, some = await harness.do_in_run(work)
    assert (whole.keys, whole.has_more) == ([f"k{number:03}" for number in range(100)], True)
    assert (some.keys, some.has_more) == ([f"k{number:03}" for number in range(90, 100)], False)


async def test_a_run_sees_its_own_earlier_results_and_the_next_run_sees_its_calls(open_engine):
    seen: list[Any] = []

    async def writes(ctx: Any):
        seen.append(ctx.state.conversation.get("by_call"))
        for number in range(50):
            yield state_updated("by_result", number)
        seen.append(await ctx.api.state_get("conversation", "by_result"))
        await ctx.api.state_set("conversation", "by_call", "kept")

    engine = await open_engine(writes)
    for _ in range(2):
        run = await run_event(engine, "go")
        assert run.row.status == "completed", run.finished
    assert seen == [None, 49, "kept", 49]


async def test_the_reply_to_a_write_leaves_after_the_commit(harness: AccessHarness):
    def on_disk(table: Any) -> int:
        return read_database(harness.engine, lambda conn: len(conn.execute(select(table)).all()))

    async def work(ctx: Any) -> Any:
        counts = []
        await ctx.api.state_set("conversation", "k", 1)
        counts.append(on_disk(tables.state))
        await ctx.api.state_delete("conversation", "k")
        counts.append(on_disk(tables.state))
        await ctx.api.set_plugin_storage("k", b"1")
        counts.append(on_disk(tables.storage))
        await ctx.api.delete_plugin_storage("k")
        counts.append(on_disk(tables.storage))
        return counts

    assert await harness.do_in_run(work) == [1, 0, 1, 0]


async def test_state_change_has_the_run_and_entry_of_its_call(harness: AccessHarness):
    outcome = await harness.try_in_run(lambda ctx: ctx.api.state_set("conversation", "k", 1))
    (change,) = read_database(harness.engine, lambda conn: conn.execute(select(tables.state_changes)).all())
    assert (change.run_id, change.position, change.editor) == (outcome.run.run_id, outcome.decision.position, "runner")
    before = await harness.engine.state.read_at(outcome.run.run_id, outcome.decision.position - 1)
    after = await harness.engine.state.read_at(outcome.run.run_id, outcome.reply.position)
    assert ["k" in keys for scopes in (before, after) for scope, keys in scopes.items() if "conversation" in scope] == [
        False, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ({"enable_state": False}, "state is off: state_policy.enable_state is false"),
        ({"state_scopes": []}, "state_policy.state_scopes is empty"),
    ],
)
async def test_state_calls_are_refused_if_the_policy_turns_state_off(open_engine, policy: Any, words: str):
    harness = await AccessHarness(open_engine).open(state=policy)
    for call in (
        lambda ctx: ctx.api.state_get("conversation", "k"),
        lambda ctx: ctx.api.state_set("conversation", "k", 1),
        lambda ctx: ctx.api.state_list("conversation"),
        lambda ctx: ctx.api.state_delete("conversation", "k"),
    ):
        outcome = await harness.try_in_run(call)
        assert outcome.error is not None
        assert (outcome.error.code, outcome.error.message) == ("unauthorized", words)


# Storage


@pytest.mark.parametrize("kind", ["plugin", "workspace"])
async def test_bytes_are_stored_listed_and_deleted(harness: AccessHarness, kind: str):
    async def work(ctx: Any) -> Any:
        get, put, delete, keys = (
            getattr(ctx.api, name)
            for name in (
                f"get_{kind}_storage",
                f"set_{kind}_storage",
                f"delete_{kind}_storage",
                f"get_{kind}_storage_keys",
            )
        )
        await put("b", bytes(range(256)))
        await put("a", b"")
        await put("a", b"over")
        listed = await keys()
        values = [await get(key) for key in listed]
        await delete("b")
        await delete("never was")
        return listed, values, await keys()

    assert await harness.do_in_run(work) == (["a", "b"], [b"over", bytes(range(256))], ["a"])


async def test_plugin_storage_spans_conversations_and_workspace_storage_spans_plugins(
    harness: AccessHarness,
):
    async def put(ctx: Any) -> None:
        await ctx.api.set_plugin_storage("mine", b"1")
        await ctx.api.set_workspace_storage("ours", b"2")

    async def keys(ctx: Any) -> Any:
        return await ctx.api.get_plugin_storage_keys(), await ctx.api.get_workspace_storage_keys()

    await harness.do_in_run(put)
    assert await harness.do_in_run(keys, own_message("elsewhere", conversation_id="theirs", workspace_id="w2")) == (
        ["mine"],
        [],
    )
    assert await harness.do_in_run(keys, runner="other") == ([], ["ours"])


async def test_storage_change_has_the_run_and_entry_of_its_call(harness: AccessHarness):
    outcome = await harness.try_in_run(lambda ctx: ctx.api.set_plugin_storage("k", b"1"))
    gone = await harness.try_in_run(lambda ctx: ctx.api.delete_plugin_storage("k"))
    await harness.try_in_run(lambda ctx: ctx.api.delete_plugin_storage("k"))
    stored, deleted = read_database(harness.engine, lambda conn: conn.execute(select(tables.storage_changes)).all())
    assert (stored.owner, stored.key, stored.value, stored.editor) == ("plugin:local/asks", "k", b"1", "runner")
    assert (stored.run_id, stored.position) == (outcome.run.run_id, outcome.decision.position)
    assert (deleted.value, deleted.run_id, deleted.position) == (None, gone.run.run_id, gone.decision.position)


async def test_storage_is_read_as_of_the_start_of_a_run(harness: AccessHarness):
    first = await harness.try_in_run(lambda ctx: ctx.api.set_plugin_storage("k", b"1"))
    second = await harness.try_in_run(lambda ctx: ctx.api.set_plugin_storage("k", b"2" * 50_000))
    third = await harness.try_in_run(lambda ctx: ctx.api.set_workspace_storage("w", b"3"))
    last = await harness.try_in_run(lambda ctx: ctx.api.delete_plugin_storage("k"))

    then = harness.engine.storage
    starts = [await then.plugin_at_start(each.run.run_id) for each in (first, second, third, last)]
    assert [each.values for each in starts] == [{}, {"k": b"1"}, {"k": b"2" * 50_000}, {"k": b"2" * 50_000}]
    assert all(each.is_known for each in starts)
    assert (await then.workspace_at_start(third.run.run_id)).values == {}
    assert (await then.workspace_at_start(last.run.run_id)).values == {"w": b"3"}


async def test_stored_secret_is_in_no_part(open_engine):
    secret = "sk-0123456789"

    @declares(permissions={"storage": ["plugin"]}, config=[{"name": "api_key", "type": "string"}])
    async def keeps(ctx: Any):
        await ctx.api.set_plugin_storage("k", secret.encode() + b"x" * 20_000)
        yield done("kept")

    agent = {"id": "a", "runner": "keeps", "config": {"api_key": secret}}
    engine = await open_engine(keeps, agents=[agent])
    assert (await run_event(engine, "go", runner="a")).row.status == "completed"
    contents = read_database(engine, lambda conn: conn.exec_driver_sql("SELECT content FROM parts").scalars().all())
    assert [content for content in contents if secret.encode() in content] == []
    (logged,) = read_database(engine, lambda conn: conn.execute(select(tables.storage_changes.c.value)).scalars().all())
    assert logged.startswith(secret.encode())


async def test_stored_values_count_to_the_limit_of_the_journal(harness: AccessHarness, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("engine.journal.recorder.JOURNAL_LIMIT", 300_000)

    async def fill(ctx: Any) -> None:
        for number in range(1_000):
            await ctx.api.set_plugin_storage("k", f"{number:04}".encode() * 5_000)

    event = own_message("fill it")
    harness._works[event.event_id] = fill
    run = await wait_for_run(harness.engine, await send(harness.engine, event, runner="asks"))
    assert (run.row.status, run.row.status_reason) == ("failed", "journal.full")
    written = read_database(
        harness.engine, lambda conn: conn.exec_driver_sql("SELECT count(*) FROM storage_changes").scalar_one()
    )
    # A value of 20,000 bytes is in its call as base64 too: 27,000 bytes.
    assert written <= 300_000 // 46_000 + 1


async def test_storage_value_of_one_mebibyte_is_accepted(harness: AccessHarness):
    async def work(ctx: Any) -> int:
        await ctx.api.set_plugin_storage("k", bytes(1 << 20))
        return len(await ctx.api.get_plugin_storage("k"))

    assert await harness.do_in_run(work) == 1 << 20
