"""The scopes of state, the ids that identify each, and the key made of them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Scope(StrEnum):
    """What a piece of state belongs to."""

    CONVERSATION = "conversation"
    ACTOR = "actor"
    SUBJECT = "subject"
    RUNNER = "runner"


_OWNER: Final = ("runner_id", "binding_id", "bot_id", "workspace_id")
PARTS: Final[Mapping[Scope, tuple[str, ...]]] = {
    Scope.CONVERSATION: (*_OWNER, "conversation_id", "thread_id"),
    Scope.ACTOR: (*_OWNER, "actor_type", "actor_id"),
    Scope.SUBJECT: (*_OWNER, "subject_type", "subject_id"),
    Scope.RUNNER: _OWNER,
}
"""The ids that make up a scope's key. A runner can set none of them."""

NEEDED: Final[Mapping[Scope, str]] = {
    Scope.CONVERSATION: "conversation_id",
    Scope.ACTOR: "actor_id",
    Scope.SUBJECT: "subject_id",
}
"""The id without which a scope has no key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeIdentity:
    """One scope of one binding, with only the ids that make up its key."""

    scope: Scope
    runner_id: str
    binding_id: str
    bot_id: str | None = None
    workspace_id: str | None = None
    conversation_id: str | None = None
    thread_id: str | None = None
    actor_type: str | None = None
    actor_id: str | None = None
    subject_type: str | None = None
    subject_id: str | None = None

    @property
    def key(self) -> str:
        return scope_key(self.scope, {part: getattr(self, part) for part in PARTS[self.scope]})


def scope_key(scope: Scope, parts: Mapping[str, str | None]) -> str:
    """Return `<scope>:v2:<sha256>` over sorted compact JSON, which unlike separators cannot make two scopes collide."""
    text = json.dumps(dict(parts), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    # Lone surrogates have no UTF-8 encoding, but must still give different keys.
    return f"{scope}:v2:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def identify(
    scope: Scope,
    *,
    runner_id: str,
    binding_id: str,
    bot_id: str | None = None,
    workspace_id: str | None = None,
    conversation_id: str | None = None,
    thread_id: str | None = None,
    actor_type: str | None = None,
    actor_id: str | None = None,
    subject_type: str | None = None,
    subject_id: str | None = None,
) -> ScopeIdentity | None:
    """Return the identity of a scope for an event; None if the event lacks the id that the scope needs."""
    known: dict[str, str | None] = {
        "bot_id": bot_id,
        "workspace_id": workspace_id,
        "conversation_id": conversation_id,
        "thread_id": thread_id,
        "actor_type": actor_type or "user",
        "actor_id": actor_id,
        "subject_type": subject_type or "unknown",
        "subject_id": subject_id,
    }
    needed = NEEDED.get(scope)
    if needed is not None and not known[needed]:
        return None
    parts = {part: known[part] for part in PARTS[scope] if part in known}
    return ScopeIdentity(scope=scope, runner_id=runner_id, binding_id=binding_id, **parts)
