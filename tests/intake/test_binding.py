"""Exactly one binding for an event; never a silent fan-out."""

import pytest

from engine.intake.agents import AgentConfig, bind, implicit_agent
from engine.intake.binding import AmbiguousBinding, NoBinding, resolve
from engine.protocol.event import EventType
from tests.support import Engines, event, send

ECHO, OTHER = "plugin:acme/echo/default", "plugin:acme/other/default"


def agent(name: str | None, runner: str = ECHO, **fields) -> AgentConfig:
    return AgentConfig(agent_id=name, runner_id=runner, **fields)


def test_a_binding_id_is_made_of_agent_and_runner_so_that_state_survives_a_restart():
    assert bind(agent("me")).binding_id == bind(agent("me")).binding_id == f"agent_me_{ECHO}"
    assert bind(agent(None)).binding_id == f"agent_default_{ECHO}"


def test_a_binding_carries_what_its_agent_says():
    config = agent("me", runner_config={"a": 1}, state_policy={"enable_state": False})
    binding = bind(config)

    assert (binding.runner_id, binding.agent_id, binding.runner_config) == (ECHO, "me", {"a": 1})
    assert (binding.scope.type, binding.scope.id) == ("agent", "me")
    assert binding.state_policy.enable_state is False


def test_the_policies_have_the_defaults_of_the_contract():
    binding = bind(agent(None))

    assert binding.resource_policy.model_dump() == {
        "allowed_model_uuids": None,
        "allowed_tool_names": None,
        "allowed_kb_uuids": None,
        "allowed_skill_names": None,
        "allow_plugin_storage": True,
        "allow_workspace_storage": False,
    }
    assert binding.state_policy.scopes() == ("conversation", "actor")
    assert binding.delivery_policy.model_dump() == {
        "enable_streaming": True,
        "enable_reply": True,
        "max_message_size": None,
    }
    assert binding.event_types == (EventType.MESSAGE_RECEIVED,)


def test_an_implicit_agent_takes_all_six_event_types():
    implicit = implicit_agent(ECHO)

    assert len(implicit.event_types) == 6
    assert all(resolve([implicit], kind).runner_id == ECHO for kind in EventType)


def test_the_one_agent_that_takes_the_event_is_chosen():
    agents = [agent("chat"), agent("clock", OTHER, event_types=["schedule.triggered"])]

    assert resolve(agents, EventType.SCHEDULE_TRIGGERED).agent_id == "clock"
    assert resolve(agents, EventType.MESSAGE_RECEIVED).agent_id == "chat"


def test_an_agent_that_is_off_takes_nothing():
    agents = [agent("on"), agent("off", OTHER, enabled=False)]

    assert resolve(agents, EventType.MESSAGE_RECEIVED).agent_id == "on"


def test_more_than_one_is_an_error_that_names_the_candidates():
    with pytest.raises(AmbiguousBinding) as caught:
        resolve([agent("b", OTHER), agent("a"), agent("off", enabled=False)], EventType.MESSAGE_RECEIVED)

    assert str(caught.value) == f"2 agents take message.received: a ({ECHO}), b ({OTHER}). Name one with --runner."


def test_none_is_an_error_that_names_the_candidates():
    with pytest.raises(NoBinding) as caught:
        resolve([agent("a"), agent("off", OTHER, enabled=False)], EventType.API_INVOKED)

    assert str(caught.value) == (
        f"no enabled agent takes api.invoked. Known: a ({ECHO}) takes message.received; "
        f"off ({OTHER}) takes message.received (off). "
        "Add it to `events` of a in trackside.yaml, or choose a runner itself: that takes all six."
    )


def test_where_the_one_that_takes_it_is_off_it_is_said_how_to_switch_it_on():
    with pytest.raises(NoBinding) as caught:
        resolve([agent("off", enabled=False)], EventType.MESSAGE_RECEIVED)

    assert str(caught.value).endswith("Switch on off with `enabled: true` in trackside.yaml.")


def test_where_an_agent_was_named_only_that_one_is_to_be_changed():
    with pytest.raises(NoBinding) as caught:
        resolve([agent("a"), agent("b", OTHER)], EventType.API_INVOKED, agent_id="b")

    assert "Add it to `events` of b in trackside.yaml" in str(caught.value)


def test_no_agents_at_all_says_where_to_add_one():
    with pytest.raises(NoBinding) as caught:
        resolve([], EventType.MESSAGE_RECEIVED)

    assert str(caught.value) == (
        "no enabled agent takes message.received. There are no agents: add one under `agents:` in trackside.yaml."
    )


def test_naming_an_agent_narrows_the_choice_to_it():
    agents = [agent("a"), agent("b", OTHER)]

    assert resolve(agents, EventType.MESSAGE_RECEIVED, agent_id="b").runner_id == OTHER


def test_an_agent_of_an_unknown_name_is_an_error_that_names_the_known_ones():
    with pytest.raises(NoBinding) as caught:
        resolve([agent("a")], EventType.MESSAGE_RECEIVED, agent_id="z")

    assert str(caught.value) == f"no agent called 'z'. Known: a ({ECHO}) takes message.received."


async def test_an_event_that_binds_to_none_or_many_leaves_no_trace(open_engine: Engines):
    async def one(ctx):
        yield

    async def two(ctx):
        yield

    agents = [{"id": "a", "runner": "one"}, {"id": "b", "runner": "two"}]
    engine = await open_engine(one, two, agents=agents)

    with pytest.raises(AmbiguousBinding):
        await send(engine, "hi")
    with pytest.raises(NoBinding):
        await send(engine, event("api.invoked"))
    assert await engine.runs() == []
    assert await engine.sessions() == []
