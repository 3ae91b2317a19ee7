"""The one gate: every call is checked against what was frozen when the run began, and against nothing else."""

from typing import Any, Final, cast

from engine.access.action import Action, Arguments, Decision
from engine.protocol.errors import ErrorCode
from engine.run.grants import Grants

PLACE: Final = ("conversation_id", "thread_id", "bot_id", "workspace_id")
"""What a filter may repeat, but not change."""


def decide(action: Action, grants: Grants, arguments: Arguments) -> Decision:
    """The first rule that has something to say decides; two dictionary look-ups where none has."""
    allowed, words = grants.apis[action.name]
    if not allowed:
        return Decision(False, words)
    for rule in action.rules:
        if (decision := rule(grants, arguments)) is not None:
            return decision
    return Decision(True, words)


def of_resource(kind: str, field: str, *operations: str):
    """A rule: the named resource is granted, with one of these operations."""

    def rule(grants: Grants, arguments: Arguments) -> Decision:
        ident: str = getattr(arguments, field)
        name = f"{kind}:{ident}"
        granted = grants.operations.get(name)
        if granted is None:
            return Decision(
                False, f"{kind.replace('_', ' ')} {ident!r:.80} was not granted to this run", resource=name[:100]
            )
        if granted.isdisjoint(operations):
            wanted = " or ".join(operations)
            return Decision(
                False, f"{kind.replace('_', ' ')} {ident!r:.80} was granted without {wanted}", resource=name
            )
        return Decision(True, grants.clauses[name], resource=name)

    return rule


def of_scope(grants: Grants, arguments: Arguments) -> Decision:
    """A rule: the state scope is on and the event has what identifies it."""
    scope: str = getattr(arguments, "scope")  # noqa: B009  (every caller's arguments have it)
    if scope in grants.state_scopes:
        return Decision(True, f"state_policy.state_scopes has {scope}", resource=f"state:{scope}")
    reason = grants.scopes_off.get(scope)
    if reason is None:
        return Decision(False, f"{scope!r:.40} is no state scope", ErrorCode.INVALID_ARGUMENT)
    return Decision(False, reason, resource=f"state:{scope}")


def of_readable_scope(grants: Grants, arguments: Arguments) -> Decision:
    """A rule: what a scope that is off, or has no key, holds is nothing, and that may be read."""
    decision = of_scope(grants, arguments)
    if decision.allowed or decision.code is not ErrorCode.UNAUTHORIZED:
        return decision
    return Decision(True, f"{decision.clause}; it reads as empty", resource=decision.resource)


def of_own_conversation(grants: Grants, arguments: Arguments) -> Decision | None:
    """A rule: only the run's own conversation may be named."""
    named: str | None = getattr(arguments, "conversation_id", None)
    if named is not None and named != grants.conversation_id:
        return Decision(False, "a run reads its own conversation only", resource=f"conversation:{named[:80]}")
    return None


def of_own_filters(grants: Grants, arguments: Arguments) -> Decision | None:
    """A rule: a filter that names another place than the run's own is no way around the scope."""
    filters: dict[str, Any] = getattr(arguments, "filters", None) or {}
    for name, value in filters.items():
        if name in PLACE and value != getattr(grants, name):
            return Decision(False, f"filters.{name} names another than the run's own")
        if name not in PLACE and name not in ("roles", "item_types"):
            return Decision(False, f"filters.{name:.80}: only roles and item_types filter", ErrorCode.INVALID_ARGUMENT)
        if name not in PLACE and not _is_list_of_texts(value):
            return Decision(False, f"filters.{name}: a list of texts", ErrorCode.INVALID_ARGUMENT)
    return None


def _is_list_of_texts(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, list) and all(isinstance(one, str) for one in cast("list[object]", value))
