"""Resolves an event to exactly one binding; never to several silently."""

from collections.abc import Iterable

from engine.intake.envelope import EventEnvelope
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
    agents: Iterable[AgentConfig], envelope: EventEnvelope, *, agent_id: str | None = None
) -> AgentBinding:
    """The one binding that handles the event; `agent_id` limits the candidates to one agent.

    A narrower scope does not win over a wider one: two agents that handle the event are an error.
    """
    agents, event_type = tuple(agents), envelope.event_type
    if agent_id is not None and all(agent.agent_id != agent_id for agent in agents):
        raise NoBinding(f"no agent called {agent_id!r}. {_known(agents)}")
    named = [agent for agent in agents if agent_id in (None, agent.agent_id)]
    candidates = [agent for agent in named if agent.handles(envelope, is_named=agent_id is not None)]
    if not candidates:
        advice = f" {_advice(named, event_type)}" if agents else ""
        raise NoBinding(f"no enabled agent handles {_described(envelope)}. {_known(agents)}{advice}")
    if len(candidates) > 1:
        names = ", ".join(sorted(_name(agent) for agent in candidates))
        raise AmbiguousBinding(f"{len(candidates)} agents handle {_described(envelope)}: {names}")
    return bind(candidates[0])


def _name(agent: AgentConfig) -> str:
    return f"{agent.agent_id} ({agent.runner_id})" if agent.agent_id else agent.runner_id


def _described(envelope: EventEnvelope) -> str:
    """The type of an event, and its bot, workspace and thread if it has them, because agents are chosen by those."""
    parts = {"bot": envelope.bot_id, "workspace": envelope.workspace_id, "thread": envelope.thread_id}
    return ", ".join([str(envelope.event_type), *(f"{name} {ident!r:.60}" for name, ident in parts.items() if ident)])


def _advice(agents: list[AgentConfig], event_type: EventType) -> str:
    """How to make an agent handle the event: name one, enable one that lists its type, or add the type to one."""
    listing = [agent for agent in agents if event_type in agent.event_types]
    limited = [_short_name(agent) for agent in listing if agent.enabled]
    if limited:
        names = " or ".join(limited)
        return f"Choose {names} by name, or change `scope` and `match` of {names} in trackside.yaml."
    disabled = [_short_name(agent) for agent in listing]
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
    return f"Known: {'; '.join(sorted(map(_known_agent, agents)))}."


def _known_agent(agent: AgentConfig) -> str:
    limits = f" ({limits})" if (limits := agent.event_filter.limits()) else ""
    return f"{_name(agent)} handles {', '.join(agent.event_types)}{limits}{'' if agent.enabled else ' (off)'}"
