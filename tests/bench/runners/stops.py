"""Waits for a minute, in the way that the message names, so that it can be stopped there. `ends` ends at once."""

import asyncio
import json
import os
import subprocess
import time
from collections.abc import AsyncIterator

from engine.protocol import AgentRunContext, AgentRunResult, MessageChunk

capabilities = {"tool_calling": True}
permissions = {"tools": ["call"]}

STEP_SECONDS = 0.01


async def run(ctx: AgentRunContext) -> AsyncIterator[AgentRunResult]:
    behaviour = ctx.input.to_text()
    if behaviour == "ends":
        yield AgentRunResult.run_completed(ctx.run_id)
        return
    helper = subprocess.Popen(["sleep", "3600"])  # noqa: ASYNC220 - the host must end what a runner starts
    chunk = MessageChunk(role="assistant", content=json.dumps([os.getpid(), helper.pid]))
    yield AgentRunResult.message_delta(ctx.run_id, chunk)
    match behaviour:
        case "cooperates":
            for _ in range(6_000):
                await asyncio.sleep(STEP_SECONDS)
        case "sleeps in a call":
            await ctx.api.call_tool("slow", {})
        case _:
            time.sleep(60)  # noqa: ASYNC251 - a runner should not do this, but some do
