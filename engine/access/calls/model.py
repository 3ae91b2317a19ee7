"""Calls for models: whole replies, streamed replies, reranking and token counts."""

from collections.abc import AsyncGenerator, Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from engine.access.call import Arguments, CallType
from engine.access.gate import require_resource
from engine.access.services import Services
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.resources.interfaces import ModelRequest, ResourceError
from engine.run.live import LiveRun

MAX_RERANK_DOCUMENTS: Final = 64


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


async def invoke(services: Services, run: LiveRun, arguments: InvokeArguments) -> dict[str, Any]:  # noqa: ARG001
    try:
        reply = await run.order.resource_set.models[arguments.model_id].invoke(_request(arguments))
    except ResourceError as error:
        raise error.as_refusal() from error
    run.usage_seen.add(reply.usage)
    return {"message": dict(reply.message)} | ({"usage": dict(reply.usage)} if reply.usage else {})


async def stream(
    services: Services,  # noqa: ARG001
    run: LiveRun,
    arguments: InvokeArguments,
) -> AsyncGenerator[dict[str, Any], None]:
    return _frames(run, arguments)


async def _frames(run: LiveRun, arguments: InvokeArguments) -> AsyncGenerator[dict[str, Any], None]:
    usage: Mapping[str, Any] | None = None
    try:
        async for frame in run.order.resource_set.models[arguments.model_id].stream(_request(arguments)):
            data: dict[str, Any] = {}
            if frame.chunk is not None:
                data["chunk"] = dict(frame.chunk)
            if frame.usage is not None:
                data["usage"] = dict(frame.usage)
                usage = frame.usage
            yield data
    except ResourceError as error:
        raise error.as_refusal() from error
    finally:
        run.usage_seen.add(usage)  # only the last: some providers repeat the sum so far in every frame


async def rerank(services: Services, run: LiveRun, arguments: RerankArguments) -> dict[str, Any]:  # noqa: ARG001
    if len(arguments.documents) > MAX_RERANK_DOCUMENTS:
        raise AgentAPIException.of(
            ErrorCode.INVALID_ARGUMENT, f"{len(arguments.documents)} documents; the limit is {MAX_RERANK_DOCUMENTS}"
        )
    try:
        results = await run.order.resource_set.models[arguments.model_id].rerank(
            arguments.query, arguments.documents, arguments.top_k
        )
    except ResourceError as error:
        raise error.as_refusal() from error
    return {"results": results}


async def count_tokens(services: Services, run: LiveRun, arguments: CountArguments) -> dict[str, Any]:  # noqa: ARG001
    request = ModelRequest(arguments.messages, arguments.funcs or ())
    try:
        return {"tokens": await run.order.resource_set.models[arguments.model_id].count_tokens(request)}
    except ResourceError as error:
        raise error.as_refusal() from error


def _request(arguments: InvokeArguments) -> ModelRequest:
    return ModelRequest(arguments.messages, arguments.funcs or (), arguments.extra_args or {})


CALLS = (
    CallType(
        "invoke_llm", InvokeArguments, (require_resource("model", "model_id", "invoke"),), invoke, leaves_host=True
    ),
    CallType(
        "invoke_llm_stream",
        InvokeArguments,
        (require_resource("model", "model_id", "stream"),),
        stream,
        leaves_host=True,
    ),
    CallType(
        "invoke_rerank", RerankArguments, (require_resource("model", "model_id", "rerank"),), rerank, leaves_host=True
    ),
    CallType(
        "count_tokens", CountArguments, (require_resource("model", "model_id", "invoke", "stream"),), count_tokens
    ),
)
