"""What one call of the run-scoped API is: its arguments, its rules, and who answers it."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from engine.facts.errors import FactsError
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.run.grants import Grants
from engine.runtimes.runtime import Receipted
from engine.runtimes.wire import MAX_REPLY

LARGEST: Final = MAX_REPLY - 4096
"""Bytes of a reply that still fit into a frame with all that goes around it."""


class Arguments(BaseModel):
    """The arguments of a call, taken strictly: a runner that sends a number as text has a fault to find."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, protected_namespaces=())


class NoArguments(Arguments):
    """A call that takes none."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The gate's answer to one call."""

    allowed: bool
    clause: str
    """What decided it, in the author's words."""
    code: ErrorCode = ErrorCode.UNAUTHORIZED
    resource: str | None = None
    """`model:ID`, `state:actor` …; what the call touches, where it names something."""

    def refusal(self) -> AgentAPIException:
        """The exception that the runner sees."""
        retryable = self.code is ErrorCode.RATE_LIMITED
        return AgentAPIException.of(self.code, self.clause, retryable=retryable)


class Refused(AgentAPIException):
    """A decision that an answer came to: whose a row or a cursor is shows only when it is read."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.refusal().error)
        self.decision = decision


Rule = Callable[[Grants, Any], "Decision | None"]
"""A decision where this rule has one to make; nothing where it leaves the call to the next."""
Reply = Mapping[str, Any] | Receipted | AsyncGenerator[Mapping[str, Any], None]


@dataclass(frozen=True, slots=True)
class Action:
    """One call."""

    name: str
    arguments: type[Arguments]
    rules: tuple[Rule, ...]
    """The last one must decide."""
    answer: Callable[..., Awaitable[Reply]]
    """`(desk, run, arguments)`."""
    leaves_the_host: bool = False
    """A model, a tool or a knowledge base is asked: the journal has the call before it is made."""

    def failure(self, error: Exception) -> AgentAPIException:
        """What went wrong with an answer, as the runner sees it.

        A fault of ours or of a resource is told like any other, and the journal has it.
        """
        if isinstance(error, AgentAPIException):
            return error
        if isinstance(error, FactsError):
            return AgentAPIException.of(ErrorCode.RUNTIME_ERROR, str(error), retryable=True)
        return AgentAPIException.of(ErrorCode.RUNTIME_ERROR, f"{self.name} failed: {error!r:.300}")
