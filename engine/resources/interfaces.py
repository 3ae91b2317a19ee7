"""What stands behind a grant: models, tools and knowledge bases, whoever provides them."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.resources.catalog import KnowledgeBaseFact, ModelFact, ToolFact


class ResourceError(Exception):
    """A resource that failed; it reaches the runner as a runtime error or what `code` says."""

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode = ErrorCode.RUNTIME_ERROR,
        retryable: bool = False,
        details: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable
        self.details = details or {}

    def as_refusal(self) -> AgentAPIException:
        """The one exception that a runner sees."""
        return AgentAPIException.of(self.code, str(self), retryable=self.retryable, details=self.details)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked."""

    messages: Sequence[Mapping[str, Any]]
    funcs: Sequence[Mapping[str, Any]] = ()
    extra_args: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A model's whole answer."""

    message: Mapping[str, Any]
    usage: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ModelFrame:
    """A piece of a model's answer, usage, or both."""

    chunk: Mapping[str, Any] | None = None
    usage: Mapping[str, Any] | None = None


class Model(Protocol):
    """A language model or a reranker."""

    @property
    def fact(self) -> ModelFact: ...

    async def invoke(self, request: ModelRequest) -> ModelReply:
        """The whole answer; raises ResourceError."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelFrame]:
        """The answer in pieces; raises ResourceError, also in the middle."""
        ...

    async def rerank(self, query: str, documents: Sequence[str], top_k: int | None) -> list[dict[str, Any]]:
        """`{index, relevance_score}` of the best documents, best first."""
        ...

    async def count_tokens(self, request: ModelRequest) -> int:
        """How many tokens it would read, or an estimate."""
        ...


class Tool(Protocol):
    """Something that can be called."""

    @property
    def fact(self) -> ToolFact: ...

    def detail(self) -> dict[str, Any]:
        """Name, description and parameters as JSON Schema."""
        ...

    async def call(self, parameters: Mapping[str, Any]) -> Any:
        """What it answers; raises ResourceError."""
        ...


class KnowledgeBase(Protocol):
    """Something that can be asked for passages."""

    @property
    def fact(self) -> KnowledgeBaseFact: ...

    async def retrieve(self, query: str, top_k: int, filters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Passages, best first; raises ResourceError."""
        ...
