"""The types of a call of the run-scoped API: its arguments, its rules, its decision and its handler."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.run.grants import Grants
from engine.runtimes.runtime import ConfirmedReply
from engine.runtimes.wire import MAX_REPLY
from engine.store.errors import StoreError

MAX_REPLY_BYTES: Final = MAX_REPLY - 4096
"""The most bytes of a reply that fit into a frame of the wire."""


class Arguments(BaseModel):
    """The arguments of a call. Validation is strict: a number sent as text is an error in the runner."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, protected_namespaces=())


class NoArguments(Arguments):
    """The arguments of a call that has none."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The gate's decision about one call."""

    allowed: bool
    clause: str
    """The manifest or policy clause that decided it."""
    code: ErrorCode = ErrorCode.UNAUTHORIZED
    resource: str | None = None
    """What the call uses, if it names something: `model:ID`, `state:actor` …"""

    def refusal(self) -> AgentAPIException:
        """Return the exception that the runner gets."""
        retryable = self.code is ErrorCode.RATE_LIMITED
        return AgentAPIException.of(self.code, self.clause, retryable=retryable)


class CallRefused(AgentAPIException):
    """Raised by a handler that refuses a call, because the owner of a row or cursor is known only once it is read."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.refusal().error)
        self.decision = decision


Rule = Callable[[Grants, Any], "Decision | None"]
"""Returns a decision, or None to leave it to the next rule."""
Reply = Mapping[str, Any] | ConfirmedReply | AsyncGenerator[Mapping[str, Any], None]


@dataclass(frozen=True, slots=True)
class CallType:
    """One call of the run-scoped API."""

    name: str
    arguments: type[Arguments]
    rules: tuple[Rule, ...]
    """Applied in order. If none decides, the grant of the call itself does."""
    handler: Callable[..., Awaitable[Reply]]
    """Called with `(services, run, arguments)`."""
    reads_much: bool = False
    """Whether its reply may be large. A run gets few such replies at a time, and as encoded text."""
    leaves_host: bool = False
    """Whether a model, tool or knowledge base is used. Such a call is on disk in the journal before it is made."""

    def as_api_error(self, error: Exception) -> AgentAPIException:
        """Return the exception that the runner gets for an error of a handler, also for a bug in the host."""
        if isinstance(error, AgentAPIException):
            return error
        if isinstance(error, StoreError):
            return AgentAPIException.of(ErrorCode.RUNTIME_ERROR, str(error), retryable=True)
        return AgentAPIException.of(ErrorCode.RUNTIME_ERROR, f"{self.name} failed: {error!r:.300}")
