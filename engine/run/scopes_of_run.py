"""The state scopes of one event: which are usable, by which identity, and why the others are not."""

from engine.intake.envelope import EventEnvelope
from engine.project.agents import AgentBinding
from engine.store.scope_identity import Scope, ScopeIdentity, identify


def resolve_scopes(envelope: EventEnvelope, binding: AgentBinding) -> tuple[dict[str, ScopeIdentity], dict[str, str]]:
    """Return the identity of each usable scope, and the reason for each other scope."""
    policy = binding.state_policy
    actor, subject = envelope.actor, envelope.subject
    usable: dict[str, ScopeIdentity] = {}
    unusable: dict[str, str] = {}
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
            unusable[scope] = "state is off: state_policy.enable_state is false"
        elif scope not in policy.state_scopes:
            unusable[scope] = f"scope {scope} is not in state_policy.state_scopes"
        elif identity is None:
            unusable[scope] = f"the event has no {scope}, so this scope has no key"
        else:
            usable[scope] = identity
    return usable, unusable
