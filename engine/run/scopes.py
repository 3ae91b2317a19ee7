"""The state scopes of one event: which are on, whose they are, and why the others are not there."""

from engine.facts.state import ScopeIdentity
from engine.intake.agents import AgentBinding
from engine.intake.envelope import EventEnvelope

SCOPES = ("conversation", "actor", "subject", "runner")


def identities(
    envelope: EventEnvelope, binding: AgentBinding
) -> tuple[dict[str, ScopeIdentity], dict[str, str]]:
    """Identity by scope, and the reason by scope for those that cannot be used."""
    policy = binding.state_policy
    on: dict[str, ScopeIdentity] = {}
    off: dict[str, str] = {}
    for scope in SCOPES:
        if not policy.enable_state:
            off[scope] = "state is off (state_policy.enable_state)"
        elif scope not in policy.state_scopes:
            off[scope] = f"scope {scope} is not in state_policy.state_scopes"
        elif (identity := _identity(scope, envelope, binding)) is None:
            off[scope] = f"the event has no {scope}"
        else:
            on[scope] = identity
    return on, off


def _identity(scope: str, envelope: EventEnvelope, binding: AgentBinding) -> ScopeIdentity | None:
    base = {
        "scope": scope,
        "runner_id": binding.runner_id,
        "binding_id": binding.binding_id,
        "bot_id": envelope.bot_id,
        "workspace_id": envelope.workspace_id,
    }
    match scope:
        case "conversation":
            if envelope.conversation_id is None:
                return None
            own = {"conversation_id": envelope.conversation_id, "thread_id": envelope.thread_id}
        case "actor":
            actor = envelope.actor
            if actor is None or not actor.actor_id:
                return None
            own = {"actor_type": actor.actor_type or "user", "actor_id": actor.actor_id}
        case "subject":
            subject = envelope.subject
            if subject is None or not subject.subject_id:
                return None
            own = {"subject_type": subject.subject_type or "unknown", "subject_id": subject.subject_id}
        case _:
            own = {}
    return ScopeIdentity(**base, **own)
