"""Keeps its process in the state that the message names, in which the end of its host is hard to notice."""

import asyncio
import subprocess
import time
from collections.abc import AsyncIterator

from engine.protocol import AgentRunContext, AgentRunResult


async def run(ctx: AgentRunContext) -> AsyncIterator[AgentRunResult]:
    print("ready")  # before it is stuck: afterwards it may not be able to print
    match ctx.input.to_text():
        case "busy in Python":
            while True:
                pass
        case "busy in C":
            sum(range(10**12))  # keeps the interpreter's lock for hours
        case "blocked":
            time.sleep(3_600)  # noqa: ASYNC251 - a runner should not do this, but some do
        case "with a grandchild":
            subprocess.Popen(["sleep", "3600"])  # noqa: ASYNC220
            await asyncio.sleep(3_600)
    yield AgentRunResult.run_completed(ctx.run_id)
