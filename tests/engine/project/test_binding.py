"""An event resolves to exactly one binding, or to an error."""

import pytest

from engine.project.agents import AgentConfig, bind, implicit_agent
from engine.project.binding import AmbiguousBinding, NoBinding, resolve_binding
from engine.protocol.event import EventType
from tests.support.engines import Engines, event, send

ECHO, OTHER = "plugin:acme/echo/default", "plugin:acme/other/default"


def agent(name: str | None, runner: str = ECHO, **fields) -> AgentConfig:
    return AgentConfig(agent_id=name, runner_id=runner, **fields)


def test_binding_id_is_derived_from_agent_and_runner():
    assert bind(agent("me")).binding_id == bind(agent("me")).binding_id == f"agent_me_{ECHO}"
    assert bind(agent(None)).binding_id == f"agent_default_{ECHO}"


def test_binding_copies_its_agent_config():
    config = agent("me", runner_config={"a": 1}, state_policy={"enable_state": False})
    binding = bind(config)

    assert (binding.runner_id, binding.agent_id, binding.runner_config) == (ECHO, "me", {"a": 1})
    assert (binding.scope.type, binding.scope.id) == ("agent", "me")
    assert binding.state_policy.enable_state is False


def test_policies_have_the_default_values_of_the_contract():
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


def test_implicit_agent_handles_all_six_event_types():
    implicit = implicit_agent(ECHO)

    assert len(implicit.event_types) == 6
    assert all(resolve_binding([implicit], kind).runner_id == ECHO for kind in EventType)


def test_the_one_agent_that_handles_the_event_is_chosen():
    agents = [agent("chat"), agent("clock", OTHER, event_types=["schedule.triggered"])]

    assert resolve_binding(agents, EventType.SCHEDULE_TRIGGERED).agent_id == "clock"
    assert resolve_binding(agents, EventType.MESSAGE_RECEIVED).agent_id == "chat"


def test_disabled_agent_handles_nothing():
    agents = [agent("on"), agent("off", OTHER, enabled=False)]

    assert resolve_binding(agents, EventType.MESSAGE_RECEIVED).agent_id == "on"


def test_several_matching_agents_raise_an_error_with_their_names():
    with pytest.raises(AmbiguousBinding) as caught:
        resolve_binding([agent("b", OTHER), agent("a"), agent("off", enabled=False)], EventType.MESSAGE_RECEIVED)

    assert str(caught.value) == f"2 agents handle message.received: a ({ECHO}), b ({OTHER}). Name one with --runner."


def test_no_matching_agent_raises_an_error_with_all_names():
    with pytest.raises(NoBinding) as caught:
        resolve_binding([agent("a"), agent("off", OTHER, enabled=False)], EventType.API_INVOKED)

    assert str(caught.value) == (
        f"no enabled agent handles api.invoked. Known: a ({ECHO}) handles message.received; "
        f"off ({OTHER}) handles message.received (off). "
        "Add it to `events` of a in trackside.yaml, or choose a runner, which handles every event."
    )


def test_error_advises_to_enable_a_disabled_agent():
    with pytest.raises(NoBinding) as caught:
        resolve_binding([agent("off", enabled=False)], EventType.MESSAGE_RECEIVED)

    assert str(caught.value).endswith("Enable off with `enabled: true` in trackside.yaml.")


def test_error_advises_only_about_the_named_agent():
    with pytest.raises(NoBinding) as caught:
        resolve_binding([agent("a"), agent("b", OTHER)], EventType.API_INVOKED, agent_id="b")

    assert "Add it to `events` of b in trackside.yaml" in str(caught.value)


def test_error_without_agents_says_where_to_add_one():
    with pytest.raises(NoBinding) as caught:
        resolve_binding([], EventType.MESSAGE_RECEIVED)

    assert str(caught.value) == (
        "no enabled agent handles message.received. There are no agents: add one under `agents:` in trackside.yaml."
    )


def test_agent_id_limits_candidates_to_one_agent():
    agents = [agent("a"), agent("b", OTHER)]

    assert resolve_binding(agents, EventType.MESSAGE_RECEIVED, agent_id="b").runner_id == OTHER


def test_unknown_agent_name_raises_an_error_with_known_names():
    with pytest.raises(NoBinding) as caught:
        resolve_binding([agent("a")], EventType.MESSAGE_RECEIVED, agent_id="z")

    assert str(caught.value) == f"no agent called 'z'. Known: a ({ECHO}) handles message.received."


async def test_event_without_exactly_one_binding_records_nothing(open_engine: Engines):
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
    assert await engine.runs.list() == []
    assert await engine.sessions.list() == []
