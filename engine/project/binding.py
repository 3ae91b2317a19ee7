"""Resolves an event to exactly one binding; never to several silently."""

from collections.abc import Iterable

from engine.intake.errors import IntakeError
from engine.project.agents import AgentBinding, AgentConfig, bind
from engine.protocol.event import EventType


class NoBinding(IntakeError):
    """No agent handles this event."""


class AmbiguousBinding(IntakeError):
    """More than one agent handles this event."""

    def __init__(self, found: str) -> None:
        super().__init__(f"{found}. Name one with --runner.")
        self.found = found
        """The message without the advice, which is different on a screen."""


def resolve_binding(
    agents: Iterable[AgentConfig], event_type: EventType, *, agent_id: str | None = None
) -> AgentBinding:
    """The one binding that handles the event; `agent_id` limits the candidates to one agent."""
    agents = tuple(agents)
    if agent_id is not None and all(agent.agent_id != agent_id for agent in agents):
        raise NoBinding(f"no agent called {agent_id!r}. {_known(agents)}")
    candidates = [
        agent
        for agent in agents
        if agent.enabled and event_type in agent.event_types and agent_id in (None, agent.agent_id)
    ]
    if not candidates:
        advice = f" {_advice([agent for agent in agents if agent_id in (None, agent.agent_id)], event_type)}"
        raise NoBinding(f"no enabled agent handles {event_type}. {_known(agents)}{advice if agents else ''}")
    if len(candidates) > 1:
        names = ", ".join(sorted(_name(agent) for agent in candidates))
        raise AmbiguousBinding(f"{len(candidates)} agents handle {event_type}: {names}")
    return bind(candidates[0])


def _name(agent: AgentConfig) -> str:
    return f"{agent.agent_id} ({agent.runner_id})" if agent.agent_id else agent.runner_id


def _advice(agents: list[AgentConfig], event_type: EventType) -> str:
    """How to make an agent handle the event: enable one that lists it, or add the event to one."""
    disabled = [_short_name(agent) for agent in agents if event_type in agent.event_types]
    if disabled:
        return f"Enable {' or '.join(disabled)} with `enabled: true` in trackside.yaml."
    enabled = [_short_name(agent) for agent in agents if agent.enabled] or [_short_name(agent) for agent in agents]
    names = " or ".join(enabled)
    return f"Add it to `events` of {names} in trackside.yaml, or choose a runner, which handles every event."


def _short_name(agent: AgentConfig) -> str:
    return agent.agent_id or agent.runner_id


def _known(agents: tuple[AgentConfig, ...]) -> str:
    if not agents:
        return "There are no agents: add one under `agents:` in trackside.yaml."
    listed = (
        f"{_name(agent)} handles {', '.join(agent.event_types)}{'' if agent.enabled else ' (off)'}" for agent in agents
    )
    return f"Known: {'; '.join(sorted(listed))}."
