"""State updates by results: scopes, limits, and reading state as of an entry."""

import pytest

from engine.api import NotFound
from engine.store.scope_identity import Scope, scope_key
from engine.store.state import MAX_VALUE_BYTES
from tests.support.engines import Engines, Stage, done, forever, kept, message, open_stage, perform, send, until

ALL = ["conversation", "actor", "subject", "runner"]
EVERYONE = {"actor": {"actor_type": "user", "actor_id": "ann"}, "subject": {"subject_type": "doc", "subject_id": "7"}}


async def stage_with(open_engine: Engines, **state: object) -> Stage:
    return await open_stage(open_engine, agents=[{"id": "me", "runner": "play", "state": state}])


@pytest.mark.parametrize("scope", ALL)
async def test_a_value_written_in_a_scope_is_there_in_the_next_run(open_engine: Engines, scope: str):
    play = await stage_with(open_engine, state_scopes=ALL)
    await play(kept("k", {"n": [1]}, scope), event=message(**EVERYONE))

    run = await play(event=message(**EVERYONE))

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
async def test_a_scope_is_another_where_any_part_of_its_identity_is(open_engine: Engines, scope: str, elsewhere: dict):
    play = await stage_with(open_engine, state_scopes=ALL)
    await play(kept("k", 1, scope), event=message(**EVERYONE))

    run = await play(event=message(**EVERYONE | elsewhere))

    assert "k" not in run.context["state"][scope]


@pytest.mark.parametrize("scope", ["actor", "subject", "runner"])
async def test_a_scope_is_the_same_in_another_conversation_unless_it_is_the_conversations(
    open_engine: Engines, scope: str
):
    play = await stage_with(open_engine, state_scopes=ALL)
    await play(kept("k", 1, scope), event=message(**EVERYONE))

    run = await play(event=message(session="other", **EVERYONE))

    assert run.context["state"][scope]["k"] == 1


async def test_another_binding_has_its_own_state(open_engine: Engines):
    agents = [{"id": name, "runner": "play", "state": {"state_scopes": ALL}} for name in ("one", "two")]
    play = await open_stage(open_engine, agents=agents)
    await play(*(kept("k", 1, scope) for scope in ALL), event=message(**EVERYONE), runner="one")

    run = await play(event=message(**EVERYONE), runner="two")

    assert all("k" not in run.context["state"][scope] for scope in ALL)


async def test_the_key_of_a_scope_is_a_hash_over_sorted_compact_json(play: Stage):
    run = await play(event=message(actor=None))

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
    play = await open_stage(open_engine)
    await play(kept("k", 1))
    await open_engine.close(play.engine)

    play = await open_stage(open_engine)

    assert (await play()).context["state"]["conversation"]["k"] == 1


async def test_by_default_conversation_and_actor_are_on(play: Stage):
    run = await play(*(kept("k", 1, scope) for scope in ALL), event=message(**EVERYONE))

    assert [entry.outcome for entry in run.all("state.updated")] == [None, None, "dropped", "dropped"]
    assert run.all("state.updated")[2].reason == "scope subject is not in state_policy.state_scopes"


async def test_a_scope_that_is_off_by_policy_reads_empty_and_refuses_writes(open_engine: Engines):
    play = await stage_with(open_engine, state_scopes=["conversation", "actor"])
    await play(kept("k", 1))
    await open_engine.close(play.engine)
    play = await stage_with(open_engine, state_scopes=["actor"])

    run = await play(kept("k", 2))

    assert run.context["state"]["conversation"] == {}
    assert run.one("state.updated").reason == "scope conversation is not in state_policy.state_scopes"
    assert [row.value for row in await play.engine.state.read()] == [1]


async def test_state_that_is_off_reads_empty_and_refuses_writes(open_engine: Engines):
    play = await stage_with(open_engine, enable_state=False)
    run = await play(kept("k", 1))

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
    play = await stage_with(open_engine, state_scopes=ALL)
    run = await play(kept("k", 1, scope), event=message(**EVERYONE | lacking))

    assert run.context["state"][scope] == {}
    entry = run.one("state.updated")
    assert (entry.outcome, entry.reason) == ("dropped", f"the event has no {scope}, so this scope has no key")


async def test_the_alias_conversation_id_reads_as_the_events_until_it_is_set(play: Stage):
    first = await play(kept("conversation_id", "theirs-7"))
    second = await play()

    assert first.context["state"]["conversation"] == {"external.conversation_id": "s"}
    assert second.context["state"]["conversation"] == {"external.conversation_id": "theirs-7"}


async def test_a_value_over_256_kib_is_dropped_with_its_size(play: Stage):
    run = await play(kept("k", "x" * (MAX_VALUE_BYTES - 2)), kept("big", "x" * (MAX_VALUE_BYTES - 1)), done())

    fits, large = run.all("state.updated")
    assert fits.outcome is None
    assert large.outcome == "dropped"
    assert f"{MAX_VALUE_BYTES + 1} bytes" in large.reason
    assert [row.key for row in await play.engine.state.read()] == ["k"]


async def test_a_write_replaces_what_was_there(play: Stage):
    await play(kept("k", 1), kept("k", None), kept("k", 3))

    assert [(row.key, row.value) for row in await play.engine.state.read(conversation_id="s")] == [("k", 3)]


async def test_rows_remember_runner_binding_scope_and_identity(play: Stage):
    await play(kept("k", 1, "actor"), event=message(bot_id="b", workspace_id="w"))

    (row,) = await play.engine.state.read(runner_id="plugin:local/play/default")
    identity = row.identity
    assert (identity.scope, identity.binding_id) == ("actor", "agent_default_plugin:local/play/default")
    assert (identity.bot_id, identity.workspace_id, identity.actor_type, identity.actor_id) == ("b", "w", "user", "ann")


async def test_any_scope_can_be_read_as_of_any_entry_with_who_wrote_it(play: Stage):
    first = await play(kept("k", 1), kept("k", 2), kept("me", "x", "actor"))
    second = await play(kept("k", 3))
    engine = play.engine

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


async def test_state_as_of_an_entry_that_is_not_there_is_not_found(play: Stage):
    run = await play()

    with pytest.raises(NotFound, match="has no entry at position 99"):
        await play.engine.state.read_at(run.run_id, 99)


async def test_state_written_during_a_run_is_in_force_at_once(open_engine: Engines):
    async def writes(ctx):
        yield kept("k", ctx.input.to_text(), "actor")
        if ctx.conversation.conversation_id == "one":
            await forever()

    engine = await open_engine(writes)
    held = await send(engine, message("first", session="one"))
    await until(engine, held, "state.updated")

    run = await perform(engine, message("second", session="two"))

    assert run.context["state"]["actor"]["k"] == "first"
