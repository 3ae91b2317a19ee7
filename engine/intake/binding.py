"""Exactly one binding for an event; never a silent fan-out."""

from collections.abc import Iterable

from engine.intake.agents import AgentBinding, AgentConfig, bind
from engine.intake.errors import IntakeError
from engine.protocol.event import EventType


class NoBinding(IntakeError):
    """No agent takes this event."""


class AmbiguousBinding(IntakeError):
    """More than one agent takes this event."""

    def __init__(self, found: str) -> None:
        super().__init__(f"{found}. Name one with --runner.")
        self.found = found
        """The same without what to do: that is another thing at a screen."""


def resolve(agents: Iterable[AgentConfig], event_type: EventType, *, agent_id: str | None = None) -> AgentBinding:
    """The one binding that takes the event; `agent_id` narrows the choice to one agent by name."""
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
        raise NoBinding(f"no enabled agent takes {event_type}. {_known(agents)}{advice if agents else ''}")
    if len(candidates) > 1:
        names = ", ".join(sorted(_name(agent) for agent in candidates))
        raise AmbiguousBinding(f"{len(candidates)} agents take {event_type}: {names}")
    return bind(candidates[0])


def _name(agent: AgentConfig) -> str:
    return f"{agent.agent_id} ({agent.runner_id})" if agent.agent_id else agent.runner_id


def _advice(agents: list[AgentConfig], event_type: EventType) -> str:
    """What makes one of them take it: those that would are switched on, else it is added to what they take."""
    off = [_called(agent) for agent in agents if event_type in agent.event_types]
    if off:
        return f"Switch on {' or '.join(off)} with `enabled: true` in trackside.yaml."
    able = [_called(agent) for agent in agents if agent.enabled] or [_called(agent) for agent in agents]
    return (
        f"Add it to `events` of {' or '.join(able)} in trackside.yaml, or choose a runner itself: that takes all six."
    )


def _called(agent: AgentConfig) -> str:
    return agent.agent_id or agent.runner_id


def _known(agents: tuple[AgentConfig, ...]) -> str:
    if not agents:
        return "There are no agents: add one under `agents:` in trackside.yaml."
    listed = (
        f"{_name(agent)} takes {', '.join(agent.event_types)}{'' if agent.enabled else ' (off)'}" for agent in agents
    )
    return f"Known: {'; '.join(sorted(listed))}."
