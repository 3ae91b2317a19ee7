"""The state scopes of one event: which are on, whose they are, and why the others are not there."""

from engine.facts.scopes import Scope, ScopeIdentity, identify
from engine.intake.agents import AgentBinding
from engine.intake.envelope import EventEnvelope


def identities(envelope: EventEnvelope, binding: AgentBinding) -> tuple[dict[str, ScopeIdentity], dict[str, str]]:
    """Identity by scope, and the reason by scope for those that cannot be used."""
    policy = binding.state_policy
    actor, subject = envelope.actor, envelope.subject
    on: dict[str, ScopeIdentity] = {}
    off: dict[str, str] = {}
    for scope in Scope:
        identity = identify(
            scope,
            runner_id=binding.runner_id,
            binding_id=binding.binding_id,
            bot_id=envelope.bot_id,
            workspace_id=envelope.workspace_id,
            conversation_id=envelope.conversation_id,
            thread_id=envelope.thread_id,
            actor_type=actor.actor_type if actor else None,
            actor_id=actor.actor_id if actor else None,
            subject_type=subject.subject_type if subject else None,
            subject_id=subject.subject_id if subject else None,
        )
        if not policy.enable_state:
            off[scope] = "state is off: state_policy.enable_state is false"
        elif scope not in policy.state_scopes:
            off[scope] = f"scope {scope} is not in state_policy.state_scopes"
        elif identity is None:
            off[scope] = f"the event has no {scope}, so this scope has no key"
        else:
            on[scope] = identity
    return on, off
