"""Calls that a runner may not make: each is refused with its code, recorded with its reason, and changes nothing."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from engine.protocol import AgentAPIException
from engine.store import storage
from engine.store.artifacts import Storage
from tests.support.access.attacks import ARTIFACTS, IDENTITIES, PLACES, Attack, Ids, Scene
from tests.support.access.attacks_by_value import NUMBERS, OPERATIONS, STATE, STORAGE
from tests.support.engines import (
    START,
    Engines,
    FakeClock,
    declares,
    done,
    forever,
    journal_of,
    message,
    perform,
    played,
    send,
    until,
)
from tests.support.own_and_foreign_data import HIDDEN, OTHERS, World, inhabit, own, raw, whole_journal, write_file

ATTACKS = [*PLACES, *ARTIFACTS, *IDENTITIES, *OPERATIONS, *STATE, *NUMBERS, *STORAGE]


async def settle(world: World) -> Ids:
    """Data of other runs, and artifacts of the run's own conversation that it must not read."""
    others = {name: await inhabit(world, place, name) for name, place in OTHERS.items()}
    await world.keep("mine", b"0123456789")
    await world.keep("expired", HIDDEN.encode(), expires_at=START)
    await world.keep("large-reply", HIDDEN.encode(), source="host", artifact_type="call.replied")
    outside = write_file(world.engines.folder / "outside.txt", HIDDEN)
    folder = world.files / "folder"
    folder.mkdir()
    for name, path in (
        ("swapped", world.files / "swapped.txt"),
        ("swapped-folder", folder / "outside.txt"),
        ("gone", world.files / "gone.txt"),
    ):
        write_file(path, "harmless")
        await world.keep(name, storage=Storage.FILE, location=str(path), root=str(world.files))
        path.unlink()
    (world.files / "swapped.txt").symlink_to(outside)
    folder.rmdir()
    folder.symlink_to(outside.parent, target_is_directory=True)
    (world.files / "notes.txt").symlink_to(outside)
    return others


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def inhabited(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[World, Ids]]:
    """One engine for the whole table: an attack that leaves a trace is found by the next one."""
    engines = Engines(tmp_path_factory.mktemp("attacks"), FakeClock())
    world = await World(engines).open()
    await world.give(lambda ctx: ctx.api.run_get())
    yield world, await settle(world)
    await engines.close_all()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
async def test_an_attack_is_refused_recorded_and_harmless(inhabited: tuple[World, Ids], attack: Attack):
    world, others = inhabited
    before = world.everything_else()

    asked = await world.ask(lambda ctx: attack.make(Scene(ctx, others)))

    assert asked.error is not None, f"it was answered: {asked.value}"
    assert (asked.error.code, asked.error.retryable) == (attack.code, False)
    assert asked.error.message.startswith(attack.words), asked.error.message
    if attack.where == "child":
        assert len(asked.run.all("call.requested")) == 1
    elif attack.where == "call.decided":
        assert (asked.decided.outcome, asked.decided.reason) == ("refused", asked.error.message)
        assert (asked.decided.data["allowed"], asked.decided.data["code"]) == (False, attack.code)
        assert asked.decided.data["clause"] == asked.error.message
    else:
        assert (asked.replied.outcome, asked.replied.reason) == ("failed", asked.error.message)
        assert asked.replied.data["error"]["code"] == attack.code
    assert HIDDEN not in await whole_journal(world.engine, asked.run)
    assert world.everything_else() == before


def test_the_table_has_no_name_twice_and_all_the_contracts_rows():
    names = [attack.name for attack in ATTACKS]
    assert len(set(names)) == len(names) > 90


# Calls that are answered without revealing anything


@pytest.mark.parametrize(
    "typed",
    ["%", "_", "wal%", "w_lnut", "'", '"', '" OR "', "walnut' OR '1'='1", "walnut OR 1", "NEAR(walnut)", "*", "§"],
)
async def test_a_search_query_has_no_operators_and_stays_in_its_conversation(world: World, typed: str):
    await settle(world)
    found = await world.give(lambda ctx: ctx.api.history_search(typed), own("nothing of theirs"))
    assert (found.items, found.total_count) == ([], 0)


@pytest.mark.parametrize(
    ("prefix", "keys"), [("%", ["%"]), ("_", ["_x"]), ("a_", []), ("A", []), ("'", []), ("", ["%", "_x", "axb"])]
)
async def test_a_prefix_is_taken_by_the_letter(world: World, prefix: str, keys: list[str]):
    async def work(ctx: Any) -> Any:
        for key in ("axb", "%", "_x"):
            await ctx.api.state_set("conversation", key, 1)
        return await ctx.api.state_list("conversation", prefix)

    page = await world.give(work)
    assert (page.keys, page.has_more) == (keys, False)


async def test_a_scope_that_is_off_or_has_no_identity_reads_as_empty(world: World):
    async def work(ctx: Any) -> Any:
        return [
            (await ctx.api.state_get(scope, "k"), (await ctx.api.state_list(scope)).keys)
            for scope in ("runner", "subject")
        ]

    asked = await world.ask(work)
    assert asked.value == [(None, []), (None, [])]
    assert asked.decided.data["clause"] == "the event has no subject, so this scope has no key; it reads as empty"


async def test_one_plugin_never_lists_the_keys_of_another(world: World):
    await settle(world)
    keys = await world.give(lambda ctx: ctx.api.get_plugin_storage_keys())
    assert keys == []


async def test_without_a_conversation_a_run_reads_its_own_artifacts_and_event_only(world: World):
    await world.keep("nobodys", HIDDEN.encode(), OTHERS["conversation"], conversation_id=None)
    alone = own("alone", conversation_id=None, thread_id=None, bot_id=None, workspace_id=None)
    refused = await world.ask(lambda ctx: ctx.api.artifact_read("nobodys"), alone)
    assert refused.error is not None
    assert (refused.error.code, refused.error.message) == (
        "not_found",
        "this run can read no artifact 'nobodys'",
    )

    alone = own("alone", conversation_id=None, thread_id=None, bot_id=None, workspace_id=None)
    assert (await world.give(lambda ctx: ctx.api.event_get(ctx.event.event_id), alone)).event_id == alone.event_id
    for call in ("history_page", "event_page", "steering_pull"):
        alone = own("alone", conversation_id=None, thread_id=None, bot_id=None, workspace_id=None)
        asked = await world.ask(lambda ctx, c=call: getattr(ctx.api, c)(), alone)
        assert asked.error is not None
        assert (asked.error.code, asked.error.message) == ("unauthorized", "the event has no conversation")


async def test_storage_ends_at_its_quota_and_what_was_there_stays(world: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(storage, "QUOTA", 10)
    monkeypatch.setattr(storage, "MAX_KEYS", 2)

    async def work(ctx: Any) -> Any:
        await ctx.api.set_plugin_storage("a", b"12345")
        await ctx.api.set_plugin_storage("a", b"1234567890")
        await ctx.api.set_plugin_storage("b", b"1")

    asked = await world.ask(work)
    assert asked.error is not None
    assert (asked.error.code, asked.error.message) == (
        "payload_too_large", "11 bytes are more than may be kept in all (10)",
    )  # fmt: skip
    assert await world.give(lambda ctx: ctx.api.get_plugin_storage("a")) == b"1234567890"
    assert await world.give(lambda ctx: ctx.api.set_workspace_storage("b", b"1")) is None

    async def many(ctx: Any) -> Any:
        for key in "abc":
            await ctx.api.set_plugin_storage(key, b"")

    asked = await world.ask(many)
    assert asked.error is not None
    assert (asked.error.code, asked.error.message) == ("payload_too_large", "more than 2 keys")


# Another live run, and calls at the wrong time


async def test_another_live_runs_id_opens_nothing(world: World):
    async def wait(ctx: Any) -> None:
        await ctx.api.state_set("conversation", "k", HIDDEN)
        await forever()

    event = own("theirs", OTHERS["conversation"])
    world._works[event.event_id] = wait
    live = await send(world.engine, event, runner="asks")
    await until(world.engine, live, "call.replied")

    for action, data in (
        ("state_get", {"scope": "conversation", "key": "k"}),
        ("run_get", {}),
        ("run_events_page", {}),
    ):
        asked = await world.ask(lambda ctx, a=action, d=data: raw(ctx, a, run_id=live, **d))
        assert asked.error is not None
        assert (asked.error.code, asked.error.message) == ("unauthorized", "the call has the run_id of another run")
    await world.engine.runs.cancel(live)
    await world.engine.runs.wait_for_end(live)


@pytest.mark.parametrize(
    ("how", "code", "words"),
    [
        ("deadline", "deadline_exceeded", "the run's deadline has passed"),
        ("cancel", "cancelled", "the run was stopped"),
    ],
)
async def test_a_stopped_run_has_its_call_interrupted_and_may_only_look_at_itself(
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
    await until(engine, run_id, "call.decided")
    if how == "deadline":
        clock.advance(61)
    else:
        await engine.runs.cancel(run_id)
    run = await played(engine, run_id)

    assert run.row.status == {"deadline": "timeout", "cancel": "cancelled"}[how]
    assert seen["in flight"] == seen["after"] == (code, words)
    assert seen["run"].run_id == run_id
    assert (seen["run"].cancel_requested_at is not None) == (how == "cancel")
    assert [(e.outcome, e.data["error"]["code"]) for e in run.all("call.replied")[:1]] == [("failed", code)]
    assert [(e.outcome, e.data.get("code")) for e in run.all("call.decided")] == [
        (None, None), ("refused", code), (None, None),
    ]  # fmt: skip
    assert await engine.state.read(conversation_id="s") == []


async def test_after_its_last_result_a_run_is_answered_nothing(world: World):
    seen: list[tuple[str, str]] = []

    async def late(ctx: Any):
        yield done("bye")
        for call in (ctx.api.run_get, lambda: ctx.api.state_set("conversation", "k", 1)):
            try:
                await call()
            except AgentAPIException as refusal:
                seen.append((refusal.error.code, refusal.error.message))

    engine = await world.engines(late, agents=[])
    run = await perform(engine, "go", runner="late")
    assert seen == [("unauthorized", "the run has ended; its id is no longer valid")] * 2
    assert [entry.outcome for entry in run.all("call.decided")] == ["refused"] * 2
    assert run.types[-1] == "run.finished"


async def test_after_its_end_nothing_is_answered_and_nothing_recorded(open_engine):
    kept: list[Any] = []

    async def leaks(ctx: Any):
        kept.append(ctx.api)
        yield {"type": "message.completed", "data": {"message": {"role": "assistant", "content": "bye"}}}

    engine = await open_engine(leaks)
    run = await perform(engine, "go")
    for call in (kept[0].run_get, lambda: kept[0].state_set("conversation", "k", 1)):
        with pytest.raises(AgentAPIException) as refused:
            await call()
        assert refused.value.error.code == "unauthorized"
    assert [entry.type for entry in await journal_of(engine, run.run_id)] == run.types
    assert await engine.state.read(conversation_id="s") == []
