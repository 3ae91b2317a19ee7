"""State updates by results: scopes, limits, and reading state as of an entry."""

import pytest

from engine.api import NotFound
from engine.store.scope_identity import Scope, scope_key
from engine.store.state import MAX_VALUE_BYTES
from tests.support.engines import (
    Engines,
    ScriptRunner,
    done,
    message,
    open_script_runner,
    run_event,
    send,
    state_updated,
    wait_for_entry,
    wait_forever,
)

ALL = ["conversation", "actor", "subject", "runner"]
EVERYONE = {"actor": {"actor_type": "user", "actor_id": "ann"}, "subject": {"subject_type": "doc", "subject_id": "7"}}


async def runner_with(open_engine: Engines, **state: object) -> ScriptRunner:
    return await open_script_runner(open_engine, agents=[{"id": "me", "runner": "play", "state": state}])


@pytest.mark.parametrize("scope", ALL)
async def test_a_value_written_in_a_scope_is_there_in_the_next_run(open_engine: Engines, scope: str):
    run_script = await runner_with(open_engine, state_scopes=ALL)
    await run_script(state_updated("k", {"n": [1]}, scope), event=message(**EVERYONE))

    run = await run_script(event=message(**EVERYONE))

    assert run.context["state"][scope]["k"] == {"n": [1]}
    others = [other for other in ALL if other != scope]
    assert all("k" not in run.context["state"][other] for other in others)


@pytest.mark.parametrize(
    ("scope", "elsewhere"),
    [
        ("conversation", {"conversation_id": "other"}),
        ("conversation", {"thread_id": "t"}),
        ("conversation", {"bot_id": "b"}),
        ("conversation", {"workspace_id": "w"}),
        ("actor", {"actor": {"actor_type": "user", "actor_id": "bob"}}),
        ("actor", {"actor": {"actor_type": "bot", "actor_id": "ann"}}),
        ("actor", {"bot_id": "b"}),
        ("subject", {"subject": {"subject_type": "doc", "subject_id": "8"}}),
        ("subject", {"subject": {"subject_type": "mail", "subject_id": "7"}}),
        ("runner", {"workspace_id": "w"}),
    ],
)
async def test_scopes_with_different_identities_are_separate(open_engine: Engines, scope: str, elsewhere: dict):
    run_script = await runner_with(open_engine, state_scopes=ALL)
    await run_script(state_updated("k", 1, scope), event=message(**EVERYONE))

    run = await run_script(event=message(**EVERYONE | elsewhere))

    assert "k" not in run.context["state"][scope]


@pytest.mark.parametrize("scope", ["actor", "subject", "runner"])
async def test_only_the_conversation_scope_differs_between_conversations(open_engine: Engines, scope: str):
    run_script = await runner_with(open_engine, state_scopes=ALL)
    await run_script(state_updated("k", 1, scope), event=message(**EVERYONE))

    run = await run_script(event=message(session="other", **EVERYONE))

    assert run.context["state"][scope]["k"] == 1


async def test_another_binding_has_its_own_state(open_engine: Engines):
    agents = [{"id": name, "runner": "play", "state": {"state_scopes": ALL}} for name in ("one", "two")]
    run_script = await open_script_runner(open_engine, agents=agents)
    await run_script(*(state_updated("k", 1, scope) for scope in ALL), event=message(**EVERYONE), runner="one")

    run = await run_script(event=message(**EVERYONE), runner="two")

    assert all("k" not in run.context["state"][scope] for scope in ALL)


async def test_the_key_of_a_scope_is_a_hash_over_sorted_compact_json(run_script: ScriptRunner):
    run = await run_script(event=message(actor=None))

    parts = {
        "runner_id": "plugin:local/play/default",
        "binding_id": "agent_default_plugin:local/play/default",
        "bot_id": None,
        "workspace_id": None,
        "conversation_id": "s",
        "thread_id": None,
    }
    assert run.row.authorization["state_scopes"]["conversation"] == scope_key(Scope.CONVERSATION, parts)


async def test_state_survives_a_restart(open_engine: Engines):
    run_script = await open_script_runner(open_engine)
    await run_script(state_updated("k", 1))
    await open_engine.close(run_script.engine)

    run_script = await open_script_runner(open_engine)

    assert (await run_script()).context["state"]["conversation"]["k"] == 1


async def test_by_default_conversation_and_actor_are_on(run_script: ScriptRunner):
    run = await run_script(*(state_updated("k", 1, scope) for scope in ALL), event=message(**EVERYONE))

    assert [entry.outcome for entry in run.all("state.updated")] == [None, None, "dropped", "dropped"]
    assert run.all("state.updated")[2].reason == "scope subject is not in state_policy.state_scopes"


async def test_a_scope_that_is_off_by_policy_reads_empty_and_refuses_writes(open_engine: Engines):
    run_script = await runner_with(open_engine, state_scopes=["conversation", "actor"])
    await run_script(state_updated("k", 1))
    await open_engine.close(run_script.engine)
    run_script = await runner_with(open_engine, state_scopes=["actor"])

    run = await run_script(state_updated("k", 2))

    assert run.context["state"]["conversation"] == {}
    assert run.one("state.updated").reason == "scope conversation is not in state_policy.state_scopes"
    assert [row.value for row in await run_script.engine.state.read()] == [1]


async def test_state_that_is_off_reads_empty_and_refuses_writes(open_engine: Engines):
    run_script = await runner_with(open_engine, enable_state=False)
    run = await run_script(state_updated("k", 1))

    assert run.context["state"] == {scope: {} for scope in ALL}
    assert run.one("state.updated").reason == "state is off: state_policy.enable_state is false"
    assert run.row.status == "completed"


@pytest.mark.parametrize(
    ("scope", "lacking"),
    [("conversation", {"session": None}), ("actor", {"actor": None}), ("subject", {"subject": None})],
)
async def test_a_scope_whose_identity_the_event_lacks_reads_empty_and_refuses_writes(
    open_engine: Engines, scope: str, lacking: dict
):
    run_script = await runner_with(open_engine, state_scopes=ALL)
    run = await run_script(state_updated("k", 1, scope), event=message(**EVERYONE | lacking))

    assert run.context["state"][scope] == {}
    entry = run.one("state.updated")
    assert (entry.outcome, entry.reason) == ("dropped", f"the event has no {scope}, so this scope has no key")


async def test_alias_conversation_id_reads_as_that_of_the_event_until_it_is_set(run_script: ScriptRunner):
    first = await run_script(state_updated("conversation_id", "theirs-7"))
    second = await run_script()

    assert first.context["state"]["conversation"] == {"external.conversation_id": "s"}
    assert second.context["state"]["conversation"] == {"external.conversation_id": "theirs-7"}


async def test_a_value_over_256_kib_is_dropped_with_its_size(run_script: ScriptRunner):
    run = await run_script(
        state_updated("k", "x" * (MAX_VALUE_BYTES - 2)), state_updated("big", "x" * (MAX_VALUE_BYTES - 1)), done()
    )

    fits, large = run.all("state.updated")
    assert fits.outcome is None
    assert large.outcome == "dropped"
    assert f"{MAX_VALUE_BYTES + 1} bytes" in large.reason
    assert [row.key for row in await run_script.engine.state.read()] == ["k"]


async def test_write_replaces_the_previous_value(run_script: ScriptRunner):
    await run_script(state_updated("k", 1), state_updated("k", None), state_updated("k", 3))

    assert [(row.key, row.value) for row in await run_script.engine.state.read(conversation_id="s")] == [("k", 3)]


async def test_rows_have_runner_binding_scope_and_identity(run_script: ScriptRunner):
    await run_script(state_updated("k", 1, "actor"), event=message(bot_id="b", workspace_id="w"))

    (row,) = await run_script.engine.state.read(runner_id="plugin:local/play/default")
    identity = row.identity
    assert (identity.scope, identity.binding_id) == ("actor", "agent_default_plugin:local/play/default")
    assert (identity.bot_id, identity.workspace_id, identity.actor_type, identity.actor_id) == ("b", "w", "user", "ann")


async def test_scope_can_be_read_as_of_any_entry_with_its_writer(run_script: ScriptRunner):
    first = await run_script(state_updated("k", 1), state_updated("k", 2), state_updated("me", "x", "actor"))
    second = await run_script(state_updated("k", 3))
    engine = run_script.engine

    before = await engine.state.read_at(first.run_id, 1)
    one = await engine.state.read_at(first.run_id, 2)
    two = await engine.state.read_at(first.run_id, 4)
    start = await engine.state.read_at(second.run_id, 1)
    three = await engine.state.read_at(second.run_id, 2)

    assert before == {"conversation": {}, "actor": {}}
    assert one["conversation"]["k"][:3] == (1, first.run_id, 2)
    assert two["conversation"]["k"][:3] == (2, first.run_id, 3)
    assert (two["actor"]["me"].value, two["actor"]["me"].editor) == ("x", "runner")
    assert start["conversation"]["k"].value == 2
    assert three["conversation"]["k"][:3] == (3, second.run_id, 2)


async def test_state_as_of_a_missing_entry_is_not_found(run_script: ScriptRunner):
    run = await run_script()

    with pytest.raises(NotFound, match="has no entry at position 99"):
        await run_script.engine.state.read_at(run.run_id, 99)


async def test_state_written_during_a_run_takes_effect_at_once(open_engine: Engines):
    async def writes(ctx):
        yield state_updated("k", ctx.input.to_text(), "actor")
        if ctx.conversation.conversation_id == "one":
            await wait_forever()

    engine = await open_engine(writes)
    held = await send(engine, message("first", session="one"))
    await wait_for_entry(engine, held, "state.updated")

    run = await run_event(engine, message("second", session="two"))

    assert run.context["state"]["actor"]["k"] == "first"
