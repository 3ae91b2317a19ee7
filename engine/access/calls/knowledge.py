"""Calls for knowledge bases: list them, and retrieve passages."""

from typing import Any

from engine.access.call import Arguments, CallType, NoArguments
from engine.access.gate import require_resource
from engine.access.paging import Limit, clamp_limit
from engine.access.services import Services
from engine.resources.interfaces import ResourceError
from engine.run.live import LiveRun


class RetrieveArguments(Arguments):
    kb_id: str
    query_text: str
    top_k: Limit = 5
    filters: dict[str, Any] | None = None


async def retrieve(services: Services, run: LiveRun, arguments: RetrieveArguments) -> dict[str, Any]:  # noqa: ARG001
    base = run.order.resource_set.knowledge_bases[arguments.kb_id]
    try:
        found = await base.retrieve(arguments.query_text, clamp_limit(arguments.top_k), arguments.filters or {})
    except ResourceError as error:
        raise error.as_refusal() from error
    return {"results": found}


async def list_bases(services: Services, run: LiveRun, arguments: NoArguments) -> dict[str, Any]:  # noqa: ARG001
    """List the knowledge bases that were granted with `list`; the run sees no others."""
    granted = run.order.grants.resources.knowledge_bases
    return {"knowledge_bases": [base.model_dump(mode="json") for base in granted if "list" in base.operations]}


CALLS = (
    CallType(
        "retrieve_knowledge",
        RetrieveArguments,
        (require_resource("knowledge_base", "kb_id", "retrieve"),),
        retrieve,
        leaves_host=True,
    ),
    CallType("list_knowledge_bases", NoArguments, (), list_bases),
)
