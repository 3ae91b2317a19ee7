"""Model calls: whole answers, streamed ones, reranking and counting."""

from collections.abc import AsyncGenerator
from typing import Annotated, Any, Final

from pydantic import Field

from engine.access.action import Action, Arguments
from engine.access.gate import of_resource
from engine.access.room import Room
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.resources.interfaces import ModelRequest, ResourceError
from engine.run.live import LiveRun

DOCUMENTS: Final = 64


class InvokeArguments(Arguments):
    model_id: str
    messages: list[dict[str, Any]]
    funcs: list[dict[str, Any]] | None = None
    extra_args: dict[str, Any] | None = None


class CountArguments(Arguments):
    model_id: str
    messages: list[dict[str, Any]]
    funcs: list[dict[str, Any]] | None = None


class RerankArguments(Arguments):
    model_id: str
    query: str
    documents: list[str]
    top_k: Annotated[int, Field(ge=1)] | None = None


async def invoke(room: Room, run: LiveRun, given: InvokeArguments) -> dict[str, Any]:  # noqa: ARG001
    try:
        reply = await run.order.shelf.models[given.model_id].invoke(_request(given))
    except ResourceError as error:
        raise error.as_refusal() from error
    run.count_usage(reply.usage)
    return {"message": dict(reply.message)} | ({"usage": dict(reply.usage)} if reply.usage else {})


async def stream(
    room: Room,  # noqa: ARG001
    run: LiveRun,
    given: InvokeArguments,
) -> AsyncGenerator[dict[str, Any], None]:
    return _frames(run, given)


async def _frames(run: LiveRun, given: InvokeArguments) -> AsyncGenerator[dict[str, Any], None]:
    try:
        async for frame in run.order.shelf.models[given.model_id].stream(_request(given)):
            run.count_usage(frame.usage)
            told: dict[str, Any] = {}
            if frame.chunk is not None:
                told["chunk"] = dict(frame.chunk)
            if frame.usage is not None:
                told["usage"] = dict(frame.usage)
            yield told
    except ResourceError as error:
        raise error.as_refusal() from error


async def rerank(room: Room, run: LiveRun, given: RerankArguments) -> dict[str, Any]:  # noqa: ARG001
    if len(given.documents) > DOCUMENTS:
        raise AgentAPIException.of(
            ErrorCode.INVALID_ARGUMENT, f"documents: {len(given.documents)} are more than {DOCUMENTS}"
        )
    try:
        results = await run.order.shelf.models[given.model_id].rerank(given.query, given.documents, given.top_k)
    except ResourceError as error:
        raise error.as_refusal() from error
    return {"results": results}


async def count(room: Room, run: LiveRun, given: CountArguments) -> dict[str, Any]:  # noqa: ARG001
    request = ModelRequest(given.messages, given.funcs or ())
    try:
        return {"tokens": await run.order.shelf.models[given.model_id].count_tokens(request)}
    except ResourceError as error:
        raise error.as_refusal() from error


def _request(given: InvokeArguments) -> ModelRequest:
    return ModelRequest(given.messages, given.funcs or (), given.extra_args or {})


CALLS = (
    Action("invoke_llm", InvokeArguments, (of_resource("model", "model_id", "invoke"),), invoke, leaves_the_host=True),
    Action(
        "invoke_llm_stream",
        InvokeArguments,
        (of_resource("model", "model_id", "stream"),),
        stream,
        leaves_the_host=True,
    ),
    Action(
        "invoke_rerank", RerankArguments, (of_resource("model", "model_id", "rerank"),), rerank, leaves_the_host=True
    ),
    Action("count_tokens", CountArguments, (of_resource("model", "model_id", "invoke", "stream"),), count),
)
