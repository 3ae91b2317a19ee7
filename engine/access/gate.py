"""The access gate: decides every call by the grants that were frozen when the run started, and nothing else."""

from typing import Any, Final, cast

from engine.access.call import Arguments, CallType, Decision
from engine.protocol.errors import ErrorCode
from engine.run.grants import Grants

CONVERSATION_FIELDS: Final = ("conversation_id", "thread_id", "bot_id", "workspace_id")
"""Filters that may repeat the run's own value, but not name another."""

SEARCH_FILTERS: Final = ("roles", "item_types")
"""The other filters of a search. Unknown ones have no effect."""


def decide_call(call_type: CallType, grants: Grants, arguments: Arguments) -> Decision:
    """Return the decision of the first rule that makes one. Costs two dictionary look-ups if there is no rule."""
    allowed, clause = grants.apis[call_type.name]
    if not allowed:
        return Decision(False, clause)
    for rule in call_type.rules:
        if (decision := rule(grants, arguments)) is not None:
            return decision
    return Decision(True, clause)


def require_resource(kind: str, field: str, *operations: str):
    """Return a rule: the named resource is granted with one of these operations."""

    def rule(grants: Grants, arguments: Arguments) -> Decision:
        ident: str = getattr(arguments, field)
        name = f"{kind}:{ident}"
        granted = grants.operations.get(name)
        if granted is None:
            return Decision(
                False, f"{kind.replace('_', ' ')} {ident!r:.80} was not granted to this run", resource=name[:100]
            )
        if granted.isdisjoint(operations):
            names = " or ".join(operations)
            return Decision(False, f"{kind.replace('_', ' ')} {ident!r:.80} was granted without {names}", resource=name)
        return Decision(True, grants.clauses[name], resource=name)

    return rule


def require_scope(grants: Grants, arguments: Arguments) -> Decision:
    """A rule: the state scope is enabled, and the event identifies it."""
    scope: str = getattr(arguments, "scope")  # noqa: B009  (the arguments of all its calls have it)
    if scope in grants.state_scopes:
        return Decision(True, f"state_policy.state_scopes has {scope}", resource=f"state:{scope}")
    reason = grants.scopes_off.get(scope)
    if reason is None:
        return Decision(False, f"{scope!r:.40} is not a state scope", ErrorCode.INVALID_ARGUMENT)
    return Decision(False, reason, resource=f"state:{scope}")


def require_readable_scope(grants: Grants, arguments: Arguments) -> Decision:
    """A rule: a scope that is disabled or has no identity may be read, and is empty."""
    decision = require_scope(grants, arguments)
    if decision.allowed or decision.code is not ErrorCode.UNAUTHORIZED:
        return decision
    return Decision(True, f"{decision.clause}; it reads as empty", resource=decision.resource)


def require_own_conversation(grants: Grants, arguments: Arguments) -> Decision | None:
    """A rule: the call may name only the run's own conversation."""
    named: str | None = getattr(arguments, "conversation_id", None)
    if named is not None and named != grants.conversation_id:
        return Decision(False, "a run can read only its own conversation", resource=f"conversation:{named[:80]}")
    return None


def require_own_filters(grants: Grants, arguments: Arguments) -> Decision | None:
    """A rule: filters may not name another conversation, thread, bot or workspace than the run's own."""
    filters: dict[str, Any] = getattr(arguments, "filters", None) or {}
    for name, value in filters.items():
        if name in CONVERSATION_FIELDS and value != getattr(grants, name):
            return Decision(False, f"filters.{name} is not the run's own")
        if name in SEARCH_FILTERS and not _is_list_of_strings(value):
            return Decision(False, f"filters.{name} must be a list of strings", ErrorCode.INVALID_ARGUMENT)
    return None


def _is_list_of_strings(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, list) and all(isinstance(one, str) for one in cast("list[object]", value))
