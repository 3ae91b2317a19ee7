"""Calls for files that the runner's config names, read from the project's file roots."""

import asyncio
import base64
from typing import Any

from engine.access.call import Arguments, CallType
from engine.access.gate import require_resource
from engine.access.services import Services
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.resources.files import FileProblem, read_file
from engine.run.live import LiveRun


class GetArguments(Arguments):
    file_key: str


async def get(services: Services, run: LiveRun, arguments: GetArguments) -> dict[str, Any]:  # noqa: ARG001
    try:
        content = await asyncio.to_thread(read_file, arguments.file_key, run.order.file_roots)
    except FileProblem as problem:
        raise AgentAPIException.of(problem.code, str(problem)) from None
    except OSError as error:
        raise AgentAPIException.of(ErrorCode.RUNTIME_ERROR, f"the file cannot be read: {error.strerror}") from None
    return {"file_base64": base64.b64encode(content).decode()}


CALLS = (CallType("get_file", GetArguments, (require_resource("file", "file_key", "config"),), get, reads_much=True),)
