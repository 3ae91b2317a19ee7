"""Tool calls."""

from typing import Any

from engine.access.action import Action, Arguments
from engine.access.gate import of_resource
from engine.access.room import Room
from engine.resources.interfaces import ResourceError
from engine.run.live import LiveRun


class DetailArguments(Arguments):
    tool_name: str


class CallArguments(Arguments):
    tool_name: str
    parameters: dict[str, Any]


async def detail(room: Room, run: LiveRun, given: DetailArguments) -> dict[str, Any]:  # noqa: ARG001
    return {"tool": run.order.shelf.tools[given.tool_name].detail()}


async def call(room: Room, run: LiveRun, given: CallArguments) -> dict[str, Any]:  # noqa: ARG001
    try:
        return {"result": await run.order.shelf.tools[given.tool_name].call(given.parameters)}
    except ResourceError as error:
        raise error.as_refusal() from error


CALLS = (
    Action("get_tool_detail", DetailArguments, (of_resource("tool", "tool_name", "detail"),), detail),
    Action("call_tool", CallArguments, (of_resource("tool", "tool_name", "call"),), call, leaves_the_host=True),
)
