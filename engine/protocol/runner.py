"""The base class for runners."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from engine.protocol.context import AgentRunContext
from engine.protocol.results import AgentRunResult

if TYPE_CHECKING:
    from engine.protocol.api import RunnerAPI


class AgentRunner:
    """An async generator from a context to results.

    The class attributes replace a manifest if there is none beside the file. They must be literals, because the host
    reads them without running the code.
    """

    label: ClassVar[str | Mapping[str, str]] = ""
    description: ClassVar[str | Mapping[str, str]] = ""
    capabilities: ClassVar[Mapping[str, bool]] = {}
    permissions: ClassVar[Mapping[str, Sequence[str]]] = {}
    config: ClassVar[Sequence[Mapping[str, Any]]] = ()
    """The items of its config form."""

    # Not `async def`: a subclass's async generator is a plain function that returns an iterator.
    def run(self, ctx: AgentRunContext) -> AsyncIterator[AgentRunResult | dict[str, Any]]:
        """Yield results, each an `AgentRunResult` or a plain dict of its envelope."""
        raise NotImplementedError(f"{type(self).__name__} needs an `async def run(self, ctx)` that yields results")

    def get_run_api(self, ctx: AgentRunContext) -> "RunnerAPI":
        """Return `ctx.api`, under the name that it has in LangBot's SDK."""
        return ctx.api
