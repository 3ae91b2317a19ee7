"""Interfaces of the resources behind a grant: models, tools and knowledge bases."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.resources.catalog import KnowledgeBaseFact, ModelFact, ToolFact


class ResourceError(Exception):
    """A failure of a resource. The runner receives it with `code`."""

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
        """Convert to the exception type that a runner sees."""
        return AgentAPIException.of(self.code, str(self), retryable=self.retryable, details=self.details)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request to a model."""

    messages: Sequence[Mapping[str, Any]]
    funcs: Sequence[Mapping[str, Any]] = ()
    extra_args: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A model's complete reply."""

    message: Mapping[str, Any]
    usage: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ModelFrame:
    """A chunk of a model's reply, its usage, or both."""

    chunk: Mapping[str, Any] | None = None
    usage: Mapping[str, Any] | None = None


class Model(Protocol):
    """A language model or a reranker."""

    @property
    def fact(self) -> ModelFact: ...

    async def invoke(self, request: ModelRequest) -> ModelReply:
        """Return the complete reply. Raises ResourceError."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelFrame]:
        """Yield the reply in chunks. Raises ResourceError, also between chunks."""
        ...

    async def rerank(self, query: str, documents: Sequence[str], top_k: int | None) -> list[dict[str, Any]]:
        """Return `{index, relevance_score}` of the best documents, best first."""
        ...

    async def count_tokens(self, request: ModelRequest) -> int:
        """Return the number of tokens of a request, or an estimate."""
        ...


class Tool(Protocol):
    """A callable tool."""

    @property
    def fact(self) -> ToolFact: ...

    def detail(self) -> dict[str, Any]:
        """Return name, description, and parameters as JSON Schema."""
        ...

    async def call(self, parameters: Mapping[str, Any]) -> Any:
        """Return the tool's result. Raises ResourceError."""
        ...


class KnowledgeBase(Protocol):
    """A searchable collection of passages."""

    @property
    def fact(self) -> KnowledgeBaseFact: ...

    async def retrieve(self, query: str, top_k: int, filters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return passages, best first. Raises ResourceError."""
        ...
