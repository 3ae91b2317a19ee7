"""Calls that a runner may not make: each is refused with its code, recorded with its reason, and changes nothing."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from engine.protocol import AgentAPIException
from engine.store import storage
from engine.store.artifacts import Storage
from tests.support.access.attacks import ARTIFACTS, IDENTITIES, PLACES, Attack, AttackInput, Ids
from tests.support.access.attacks_by_value import NUMBERS, OPERATIONS, STATE, STORAGE
from tests.support.engines import (
    START,
    Engines,
    FakeClock,
    declares,
    done,
    journal_of,
    message,
    run_event,
    send,
    wait_for_entry,
    wait_for_run,
    wait_forever,
)
from tests.support.own_and_foreign_data import (
    FOREIGN_PLACES,
    FOREIGN_TEXT,
    AccessHarness,
    add_foreign_conversation,
    own_message,
    raw_call,
    whole_journal,
    write_file,
)

ATTACKS = [*PLACES, *ARTIFACTS, *IDENTITIES, *OPERATIONS, *STATE, *NUMBERS, *STORAGE]


async def settle(harness: AccessHarness) -> Ids:
    """Data of other runs, and artifacts of the run's own conversation that it must not read."""
    others = {name: await add_foreign_conversation(harness, place, name) for name, place in FOREIGN_PLACES.items()}
    await harness.store_artifact("mine", b"0123456789")
    await harness.store_artifact("expired", FOREIGN_TEXT.encode(), expires_at=START)
    await harness.store_artifact("large-reply", FOREIGN_TEXT.encode(), source="host", artifact_type="call.replied")
    outside = write_file(harness.engines.folder / "outside.txt", FOREIGN_TEXT)
    folder = harness.files / "folder"
    folder.mkdir()
    for name, path in (
        ("swapped", harness.files / "swapped.txt"),
        ("swapped-folder", folder / "outside.txt"),
        ("gone", harness.files / "gone.txt"),
    ):
        write_file(path, "harmless")
        await harness.store_artifact(name, storage=Storage.FILE, location=str(path), root=str(harness.files))
        path.unlink()
    (harness.files / "swapped.txt").symlink_to(outside)
    folder.rmdir()
    folder.symlink_to(outside.parent, target_is_directory=True)
    (harness.files / "notes.txt").symlink_to(outside)
    return others


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def inhabited(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[AccessHarness, Ids]]:
    """One engine for the whole table: an attack that leaves a trace is found by the next one."""
    engines = Engines(tmp_path_factory.mktemp("attacks"), FakeClock())
    harness = await AccessHarness(engines).open()
    await harness.do_in_run(lambda ctx: ctx.api.run_get())
    yield harness, await settle(harness)
    await engines.close_all()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
async def test_attack_is_refused_and_recorded_and_changes_nothing(inhabited: tuple[AccessHarness, Ids], attack: Attack):
    harness, others = inhabited
    before = harness.digest_foreign_data()

    outcome = await harness.try_in_run(lambda ctx: attack.make(AttackInput(ctx, others)))

    assert outcome.error is not None, f"it was answered: {outcome.value}"
    assert (outcome.error.code, outcome.error.retryable) == (attack.code, False)
    assert outcome.error.message.startswith(attack.words), outcome.error.message
    if attack.where == "child":
        assert len(outcome.run.all("call.requested")) == 1
    elif attack.where == "call.decided":
        assert (outcome.decision.outcome, outcome.decision.reason) == ("refused", outcome.error.message)
        assert (outcome.decision.data["allowed"], outcome.decision.data["code"]) == (False, attack.code)
        assert outcome.decision.data["clause"] == outcome.error.message
    else:
        assert (outcome.reply.outcome, outcome.reply.reason) == ("failed", outcome.error.message)
        assert outcome.reply.data["error"]["code"] == attack.code
    assert FOREIGN_TEXT not in await whole_journal(harness.engine, outcome.run)
    assert harness.digest_foreign_data() == before


def test_attack_names_are_unique_and_cover_the_contract():
    names = [attack.name for attack in ATTACKS]
    assert len(set(names)) == len(names) > 90


# Calls that are answered without revealing anything


@pytest.mark.parametrize(
    "typed",
    ["%", "_", "wal%", "w_lnut", "'", '"', '" OR "', "walnut' OR '1'='1", "walnut OR 1", "NEAR(walnut)", "*", "§"],
)
async def test_a_search_query_has_no_operators_and_stays_in_its_conversation(harness: AccessHarness, typed: str):
    await settle(harness)
    found = await harness.do_in_run(lambda ctx: ctx.api.history_search(typed), own_message("nothing of theirs"))
    assert (found.items, found.total_count) == ([], 0)


@pytest.mark.parametrize(
    ("prefix", "keys"), [("%", ["%"]), ("_", ["_x"]), ("a_", []), ("A", []), ("'", []), ("", ["%", "_x", "axb"])]
)
async def test_prefix_is_matched_literally(harness: AccessHarness, prefix: str, keys: list[str]):
    async def work(ctx: Any) -> Any:
        for key in ("axb", "%", "_x"):
            await ctx.api.state_set("conversation", key, 1)
        return await ctx.api.state_list("conversation", prefix)

    page = await harness.do_in_run(work)
    assert (page.keys, page.has_more) == (keys, False)


async def test_a_scope_that_is_off_or_has_no_identity_reads_as_empty(harness: AccessHarness):
    async def work(ctx: Any) -> Any:
        return [
            (await ctx.api.state_get(scope, "k"), (await ctx.api.state_list(scope)).keys)
            for scope in ("runner", "subject")
        ]

    outcome = await harness.try_in_run(work)
    assert outcome.value == [(None, []), (None, [])]
    assert outcome.decision.data["clause"] == "the event has no subject, so this scope has no key; it reads as empty"


async def test_plugin_cannot_list_storage_keys_of_another_plugin(harness: AccessHarness):
    await settle(harness)
    keys = await harness.do_in_run(lambda ctx: ctx.api.get_plugin_storage_keys())
    assert keys == []


async def test_run_without_conversation_reads_only_its_own_artifacts_and_event(harness: AccessHarness):
    await harness.store_artifact("nobodys", FOREIGN_TEXT.encode(), FOREIGN_PLACES["conversation"], conversation_id=None)
    alone = own_message("alone", conversation_id=None, thread_id=None, bot_id=None, workspace_id=None)
    refused = await harness.try_in_run(lambda ctx: ctx.api.artifact_read("nobodys"), alone)
    assert refused.error is not None
    assert (refused.error.code, refused.error.message) == (
        "not_found",
        "this run can read no artifact 'nobodys'",
    )

    alone = own_message("alone", conversation_id=None, thread_id=None, bot_id=None, workspace_id=None)
    assert (
        await harness.do_in_run(lambda ctx: ctx.api.event_get(ctx.event.event_id), alone)
    ).event_id == alone.event_id
    for call in ("history_page", "event_page", "steering_pull"):
        alone = own_message("alone", conversation_id=None, thread_id=None, bot_id=None, workspace_id=None)
        outcome = await harness.try_in_run(lambda ctx, c=call: getattr(ctx.api, c)(), alone)
        assert outcome.error is not None
        assert (outcome.error.code, outcome.error.message) == ("unauthorized", "the event has no conversation")


async def test_storage_over_its_quota_is_refused_and_existing_values_stay(
    harness: AccessHarness, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(storage, "QUOTA", 10)
    monkeypatch.setattr(storage, "MAX_KEYS", 2)

    async def work(ctx: Any) -> Any:
        await ctx.api.set_plugin_storage("a", b"12345")
        await ctx.api.set_plugin_storage("a", b"1234567890")
        await ctx.api.set_plugin_storage("b", b"1")

    outcome = await harness.try_in_run(work)
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.message) == (
        "payload_too_large", "all values together would have 11 bytes; the limit is 10",
    )  # fmt: skip
    assert await harness.do_in_run(lambda ctx: ctx.api.get_plugin_storage("a")) == b"1234567890"
    assert await harness.do_in_run(lambda ctx: ctx.api.set_workspace_storage("b", b"1")) is None

    async def many(ctx: Any) -> Any:
        for key in "abc":
            await ctx.api.set_plugin_storage(key, b"")

    outcome = await harness.try_in_run(many)
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.message) == (
        "payload_too_large",
        "there are 2 keys already; the limit is 2",
    )


# Another live run, and calls at the wrong time


async def test_id_of_another_live_run_is_refused(harness: AccessHarness):
    async def wait(ctx: Any) -> None:
        await ctx.api.state_set("conversation", "k", FOREIGN_TEXT)
        await wait_forever()

    event = own_message("theirs", FOREIGN_PLACES["conversation"])
    harness._works[event.event_id] = wait
    live = await send(harness.engine, event, runner="asks")
    await wait_for_entry(harness.engine, live, "call.replied")

    for action, data in (
        ("state_get", {"scope": "conversation", "key": "k"}),
        ("run_get", {}),
        ("run_events_page", {}),
    ):
        outcome = await harness.try_in_run(lambda ctx, a=action, d=data: raw_call(ctx, a, run_id=live, **d))
        assert outcome.error is not None
        assert (outcome.error.code, outcome.error.message) == ("unauthorized", "the call has the run_id of another run")
    await harness.engine.runs.cancel(live)
    await harness.engine.runs.wait_for_end(live)


@pytest.mark.parametrize(
    ("how", "code", "words"),
    [
        ("deadline", "deadline_exceeded", "the run's deadline has passed"),
        ("cancel", "cancelled", "the run was stopped"),
    ],
)
async def test_stopped_run_has_its_call_interrupted_and_may_only_call_run_get(
    open_engine, clock, how: str, code: str, words: str
):
    seen: dict[str, Any] = {}

    @declares(permissions={"tools": ["call"]}, capabilities={"tool_calling": True})
    async def stubborn(ctx: Any):
        for name, call in (
            ("in flight", lambda: ctx.api.call_tool("slow", {})),
            ("after", lambda: ctx.api.state_set("conversation", "k", 1)),
            ("run", ctx.api.run_get),
        ):
            try:
                seen[name] = await call()
            except AgentAPIException as refusal:
                seen[name] = (refusal.error.code, refusal.error.message)
        yield {"type": "state.updated", "data": {"scope": "conversation", "key": "k", "value": 1}}

    tool = {"name": "slow", "kind": "scripted", "otherwise": {"result": 1, "delay": 3_600}}
    agent = {"id": "a", "runner": "stubborn", "config": {"timeout": 60}, "resources": {"allowed_tool_names": ["slow"]}}
    engine = await open_engine(stubborn, agents=[agent], tools=[tool])
    run_id = await send(engine, message("go"), runner="a")
    await wait_for_entry(engine, run_id, "call.decided")
    if how == "deadline":
        clock.advance(61)
    else:
        await engine.runs.cancel(run_id)
    run = await wait_for_run(engine, run_id)

    assert run.row.status == {"deadline": "timeout", "cancel": "cancelled"}[how]
    assert seen["in flight"] == seen["after"] == (code, words)
    assert seen["run"].run_id == run_id
    assert (seen["run"].cancel_requested_at is not None) == (how == "cancel")
    assert [(e.outcome, e.data["error"]["code"]) for e in run.all("call.replied")[:1]] == [("failed", code)]
    assert [(e.outcome, e.data.get("code")) for e in run.all("call.decided")] == [
        (None, None), ("refused", code), (None, None),
    ]  # fmt: skip
    assert await engine.state.read(conversation_id="s") == []


async def test_calls_after_the_terminal_result_are_refused(harness: AccessHarness):
    seen: list[tuple[str, str]] = []

    async def late(ctx: Any):
        yield done("bye")
        for call in (ctx.api.run_get, lambda: ctx.api.state_set("conversation", "k", 1)):
            try:
                await call()
            except AgentAPIException as refusal:
                seen.append((refusal.error.code, refusal.error.message))

    engine = await harness.engines(late, agents=[])
    run = await run_event(engine, "go", runner="late")
    assert seen == [("unauthorized", "the run has ended; its id is no longer valid")] * 2
    assert [entry.outcome for entry in run.all("call.decided")] == ["refused"] * 2
    assert run.types[-1] == "run.finished"


async def test_calls_after_the_end_of_the_run_are_refused_and_not_recorded(open_engine):
    kept: list[Any] = []

    async def leaks(ctx: Any):
        kept.append(ctx.api)
        yield {"type": "message.completed", "data": {"message": {"role": "assistant", "content": "bye"}}}

    engine = await open_engine(leaks)
    run = await run_event(engine, "go")
    for call in (kept[0].run_get, lambda: kept[0].state_set("conversation", "k", 1)):
        with pytest.raises(AgentAPIException) as refused:
            await call()
        assert refused.value.error.code == "unauthorized"
    assert [entry.type for entry in await journal_of(engine, run.run_id)] == run.types
    assert await engine.state.read(conversation_id="s") == []
