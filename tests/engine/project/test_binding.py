"""An event resolves to exactly one binding, or to an error."""

import pytest

from engine.api import ConfigError
from engine.project.agents import AgentConfig, bind, implicit_agent
from engine.project.binding import AmbiguousBinding, NoBinding, resolve_binding
from engine.project.event_filter import matches_pattern
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
    assert (binding.scope.type, binding.scope.id) == ("global", None)
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
    assert all(resolve_binding([implicit], event(kind)).runner_id == ECHO for kind in EventType)


def test_the_one_agent_that_handles_the_event_is_chosen():
    agents = [agent("chat"), agent("clock", OTHER, event_types=["schedule.triggered"])]

    assert resolve_binding(agents, event("schedule.triggered")).agent_id == "clock"
    assert resolve_binding(agents, event()).agent_id == "chat"


def test_disabled_agent_handles_nothing():
    agents = [agent("on"), agent("off", OTHER, enabled=False)]

    assert resolve_binding(agents, event()).agent_id == "on"


def test_several_matching_agents_raise_an_error_with_their_names():
    with pytest.raises(AmbiguousBinding) as caught:
        resolve_binding([agent("b", OTHER), agent("a"), agent("off", enabled=False)], event())

    assert str(caught.value) == f"2 agents handle message.received: a ({ECHO}), b ({OTHER}). Name one with --runner."


def test_no_matching_agent_raises_an_error_with_all_names():
    with pytest.raises(NoBinding) as caught:
        resolve_binding([agent("a"), agent("off", OTHER, enabled=False)], event("api.invoked"))

    assert str(caught.value) == (
        f"no enabled agent handles api.invoked. Known: a ({ECHO}) handles message.received; "
        f"off ({OTHER}) handles message.received (off). "
        "Add it to `events` of a in trackside.yaml, or choose a runner, which handles every event."
    )


def test_error_advises_to_enable_a_disabled_agent():
    with pytest.raises(NoBinding) as caught:
        resolve_binding([agent("off", enabled=False)], event())

    assert str(caught.value).endswith("Enable off with `enabled: true` in trackside.yaml.")


def test_error_advises_only_about_the_named_agent():
    with pytest.raises(NoBinding) as caught:
        resolve_binding([agent("a"), agent("b", OTHER)], event("api.invoked"), agent_id="b")

    assert "Add it to `events` of b in trackside.yaml" in str(caught.value)


def test_error_without_agents_says_where_to_add_one():
    with pytest.raises(NoBinding) as caught:
        resolve_binding([], event())

    assert str(caught.value) == (
        "no enabled agent handles message.received. There are no agents: add one under `agents:` in trackside.yaml."
    )


def test_agent_id_limits_candidates_to_one_agent():
    agents = [agent("a"), agent("b", OTHER)]

    assert resolve_binding(agents, event(), agent_id="b").runner_id == OTHER


def test_unknown_agent_name_raises_an_error_with_known_names():
    with pytest.raises(NoBinding) as caught:
        resolve_binding([agent("a")], event(), agent_id="z")

    assert str(caught.value) == f"no agent called 'z'. Known: a ({ECHO}) handles message.received."


# Scope and match


BOT = {"type": "bot", "id": "b1"}


@pytest.mark.parametrize(
    ("scope", "chosen"),
    [
        (BOT, {"b1"}),
        ({"type": "workspace", "id": "w1"}, {"w1"}),
        ({"type": "agent", "id": "me"}, set()),
        ({"type": "global"}, {"b1", "b2", "w1", "nowhere"}),
    ],
)
def test_scope_limits_an_agent_to_a_bot_a_workspace_or_to_senders_that_name_it(scope: dict, chosen: set):
    events = {
        "b1": event(bot_id="b1"),
        "b2": event(bot_id="b2", workspace_id="b1"),
        "w1": event(workspace_id="w1"),
        "nowhere": event(),
    }
    scoped = agent("me", scope=scope)

    assert {name for name, one in events.items() if scoped.handles(one)} == chosen
    assert all(scoped.handles(one, is_named=True) for one in events.values())
    assert bind(scoped).scope == scoped.scope


@pytest.mark.parametrize(
    ("match", "fields", "is_handled"),
    [
        ({"thread_id": "t*"}, {"thread_id": "t1"}, True),
        ({"thread_id": "t*"}, {"thread_id": "at1"}, False),
        ({"thread_id": "*"}, {}, False),
        ({"thread_id": "t?"}, {"thread_id": "t1"}, False),
        ({"thread_id": "a*b*c"}, {"thread_id": "axxbxxbc"}, True),
        ({"thread_id": "ab*bc"}, {"thread_id": "abc"}, False),
        ({"source": "platform"}, {}, True),
        ({"actor.actor_id": "ann"}, {"actor": {"actor_type": "user", "actor_id": "ann"}}, True),
        ({"actor.actor_id": "ann"}, {}, False),
        ({"data.room.number": "7"}, {"data": {"room": {"number": 7}}}, True),
        ({"data.is_vip": "true"}, {"data": {"is_vip": True}}, True),
        ({"data.room": "*"}, {"data": {"room": {"number": 7}}}, False),
        ({"thread_id": "t1", "bot_id": "b1"}, {"thread_id": "t1", "bot_id": "b2"}, False),
    ],
)
def test_every_pattern_must_fit_a_whole_field_of_the_event(match: dict, fields: dict, is_handled: bool):
    assert agent("me", match=match).handles(event(**fields)) is is_handled


def test_a_pattern_takes_linear_time():
    assert matches_pattern("ab" * 50_000, "*".join(["a"] * 2_000) + "*b")
    assert not matches_pattern("ab" * 50_000, "*".join(["a"] * 2_000) + "*c")


def test_a_narrower_scope_does_not_win_over_a_wider_one():
    agents = [agent("wide"), agent("narrow", OTHER, scope=BOT)]

    assert resolve_binding(agents, event(bot_id="b2")).agent_id == "wide"
    with pytest.raises(AmbiguousBinding) as caught:
        resolve_binding(agents, event(bot_id="b1"))
    assert str(caught.value).startswith(f"2 agents handle message.received, bot 'b1': narrow ({OTHER}), wide ({ECHO}).")


def test_error_names_scope_and_patterns_and_how_to_choose_the_agent():
    with pytest.raises(NoBinding) as caught:
        resolve_binding([agent("me", scope=BOT, match={"thread_id": "t*"})], event(bot_id="b2"))

    assert str(caught.value) == (
        "no enabled agent handles message.received, bot 'b2'. "
        f"Known: me ({ECHO}) handles message.received (bot b1, thread_id t*). "
        "Choose me by name, or change `scope` and `match` of me in trackside.yaml."
    )


async def test_scope_and_match_of_trackside_yaml_choose_the_agent(open_engine: Engines):
    async def one(ctx):
        yield

    async def two(ctx):
        yield

    agents = [
        {"id": "a", "runner": "one", "scope": {"bot": "b1"}, "match": {"thread_id": "t*"}},
        {"id": "b", "runner": "two", "scope": {"bot": "b2"}},
        {"id": "broken", "runner": "nobody", "scope": {"bot": "b3"}},
    ]
    engine = await open_engine(one, two, agents=agents)

    first = await engine.runs.get(await send(engine, event(bot_id="b1", thread_id="t9")))
    second = await engine.runs.get(await send(engine, event(bot_id="b2")))
    named = await engine.runs.get(await send(engine, event(), runner="a"))
    assert [run.agent_id for run in (first, second, named)] == ["a", "b", "a"]
    with pytest.raises(NoBinding):
        await send(engine, event(bot_id="b1", thread_id="x"))
    with pytest.raises(ConfigError, match="no runner called 'nobody'"):
        await send(engine, event(bot_id="b3"))


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
