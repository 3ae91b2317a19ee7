"""Knowledge bases: which there are, and passages from them."""

from typing import Any

from engine.access.action import Action, Arguments, NoArguments
from engine.access.gate import of_resource
from engine.access.pages import Limit, at_most
from engine.access.room import Room
from engine.resources.interfaces import ResourceError
from engine.run.live import LiveRun


class RetrieveArguments(Arguments):
    kb_id: str
    query_text: str
    top_k: Limit = 5
    filters: dict[str, Any] | None = None


async def retrieve(room: Room, run: LiveRun, given: RetrieveArguments) -> dict[str, Any]:  # noqa: ARG001
    base = run.order.shelf.knowledge_bases[given.kb_id]
    try:
        found = await base.retrieve(given.query_text, at_most(given.top_k), given.filters or {})
    except ResourceError as error:
        raise error.as_refusal() from error
    return {"results": found}


async def listed(room: Room, run: LiveRun, given: NoArguments) -> dict[str, Any]:  # noqa: ARG001
    """Those that were granted with list; nothing else exists for this run."""
    granted = run.order.grants.resources.knowledge_bases
    return {"knowledge_bases": [base.model_dump(mode="json") for base in granted if "list" in base.operations]}


CALLS = (
    Action(
        "retrieve_knowledge",
        RetrieveArguments,
        (of_resource("knowledge_base", "kb_id", "retrieve"),),
        retrieve,
        leaves_the_host=True,
    ),
    Action("list_knowledge_bases", NoArguments, (), listed),
)
