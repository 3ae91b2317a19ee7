"""Agent configs: a user's saved choice of runner, config and policies, and the binding an event resolves to."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from engine.intake.envelope import EventEnvelope
from engine.project.event_filter import EventFilter
from engine.protocol.event import EventType

StateScope = Literal["conversation", "actor", "subject", "runner"]
ALL_EVENT_TYPES: tuple[EventType, ...] = tuple(EventType)


class _Policy(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class ResourcePolicy(_Policy):
    """What a binding grants beyond the runner's own config fields."""

    allowed_model_uuids: tuple[str, ...] | None = None
    allowed_tool_names: tuple[str, ...] | None = None
    allowed_kb_uuids: tuple[str, ...] | None = None
    allowed_skill_names: tuple[str, ...] | None = None
    """None grants every visible skill."""
    allow_plugin_storage: bool = True
    allow_workspace_storage: bool = False


class StatePolicy(_Policy):
    """Which scopes of state a run may read and write."""

    enable_state: bool = True
    state_scopes: tuple[StateScope, ...] = ("conversation", "actor")

    def scopes(self) -> tuple[StateScope, ...]:
        """The granted scopes; none if state is disabled."""
        return self.state_scopes if self.enable_state else ()


class DeliveryPolicy(_Policy):
    """Which output of a run may be delivered. All output is recorded in any case."""

    enable_streaming: bool = True
    enable_reply: bool = True
    max_message_size: Annotated[int, Field(gt=0)] | None = None


class BindingScope(_Policy):
    """Where the events of an agent come from: one bot or workspace, everywhere, or only from senders that name it."""

    type: Literal["agent", "bot", "workspace", "global"] = "global"
    id: str | None = None


class AgentConfig(_Policy):
    """A runner with its config and policies, saved under a name."""

    agent_id: str | None = None
    runner_id: str
    runner_config: dict[str, Any] = Field(default_factory=dict[str, Any])
    resource_policy: ResourcePolicy = ResourcePolicy()
    state_policy: StatePolicy = StatePolicy()
    delivery_policy: DeliveryPolicy = DeliveryPolicy()
    event_types: tuple[EventType, ...] = (EventType.MESSAGE_RECEIVED,)
    scope: BindingScope = BindingScope()
    match: dict[str, str] = Field(default_factory=dict[str, str])
    """Patterns for fields of the event, with `*`."""
    enabled: bool = True
    metadata: dict[str, Any] = Field(default_factory=dict[str, Any])

    @property
    def event_filter(self) -> EventFilter:
        return EventFilter(self.event_types, self.scope.type, self.scope.id, self.match)

    def handles(self, envelope: EventEnvelope, *, is_named: bool = False) -> bool:
        """Whether the agent is enabled and handles this event; `is_named` if the sender chose the agent by name."""
        return self.enabled and self.event_filter.accepts(envelope, is_named=is_named)


class AgentBinding(_Policy):
    """The agent config that one event resolved to, for one run."""

    binding_id: str
    scope: BindingScope
    event_types: tuple[EventType, ...]
    runner_id: str
    runner_config: dict[str, Any]
    resource_policy: ResourcePolicy
    state_policy: StatePolicy
    delivery_policy: DeliveryPolicy
    enabled: bool
    agent_id: str | None = None


def bind(agent: AgentConfig) -> AgentBinding:
    """The binding of an agent. Its id has no random part, so state keyed by it survives a restart."""
    return AgentBinding(
        binding_id=f"agent_{agent.agent_id or 'default'}_{agent.runner_id}",
        scope=agent.scope,
        event_types=agent.event_types,
        runner_id=agent.runner_id,
        runner_config=agent.runner_config,
        resource_policy=agent.resource_policy,
        state_policy=agent.state_policy,
        delivery_policy=agent.delivery_policy,
        enabled=agent.enabled,
        agent_id=agent.agent_id,
    )


def implicit_agent(runner_id: str, runner_config: dict[str, Any] | None = None) -> AgentConfig:
    """The agent of a runner that was opened by path: it handles every event type."""
    return AgentConfig(runner_id=runner_id, runner_config=runner_config or {}, event_types=ALL_EVENT_TYPES)
