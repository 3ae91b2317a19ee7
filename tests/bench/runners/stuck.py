"""Goes where a host that dies could forget it: its message says where."""

import asyncio
import subprocess
import time
from collections.abc import AsyncIterator

from engine.protocol import AgentRunContext, AgentRunResult


async def run(ctx: AgentRunContext) -> AsyncIterator[AgentRunResult]:
    print("here")  # before it is there: afterwards it may not be able to say so
    match ctx.input.to_text():
        case "busy in Python":
            while True:
                pass
        case "busy in C":
            sum(range(10**12))  # holds the interpreter's lock for hours
        case "blocked":
            time.sleep(3_600)  # noqa: ASYNC251 - what must not be done is what is tried here
        case "with a grandchild":
            subprocess.Popen(["sleep", "3600"])  # noqa: ASYNC220
            await asyncio.sleep(3_600)
    yield AgentRunResult.run_completed(ctx.run_id)
