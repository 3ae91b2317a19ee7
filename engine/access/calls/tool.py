"""Calls for tools."""

from typing import Any

from engine.access.call import Arguments, CallType
from engine.access.gate import require_resource
from engine.access.services import Services
from engine.resources.interfaces import ResourceError
from engine.run.live import LiveRun


class DetailArguments(Arguments):
    tool_name: str


class CallArguments(Arguments):
    tool_name: str
    parameters: dict[str, Any]


async def detail(services: Services, run: LiveRun, arguments: DetailArguments) -> dict[str, Any]:  # noqa: ARG001
    return {"tool": run.order.resource_set.tools[arguments.tool_name].detail()}


async def call(services: Services, run: LiveRun, arguments: CallArguments) -> dict[str, Any]:  # noqa: ARG001
    try:
        return {"result": await run.order.resource_set.tools[arguments.tool_name].call(arguments.parameters)}
    except ResourceError as error:
        raise error.as_refusal() from error


CALLS = (
    CallType("get_tool_detail", DetailArguments, (require_resource("tool", "tool_name", "detail"),), detail),
    CallType("call_tool", CallArguments, (require_resource("tool", "tool_name", "call"),), call, leaves_host=True),
)
