"""Goes where a cancel has to find it, for a minute: its message says where. `ends` ends at once."""

import asyncio
import json
import os
import subprocess
import time
from collections.abc import AsyncIterator

from engine.protocol import AgentRunContext, AgentRunResult, MessageChunk

capabilities = {"tool_calling": True}
permissions = {"tools": ["call"]}

STEP = 0.01


async def run(ctx: AgentRunContext) -> AsyncIterator[AgentRunResult]:
    where = ctx.input.to_text()
    if where == "ends":
        yield AgentRunResult.run_completed(ctx.run_id)
        return
    helper = subprocess.Popen(["sleep", "3600"])  # noqa: ASYNC220 - what a runner starts must go with it
    chunk = MessageChunk(role="assistant", content=json.dumps([os.getpid(), helper.pid]))
    yield AgentRunResult.message_delta(ctx.run_id, chunk)
    match where:
        case "cooperates":
            for _ in range(6_000):
                await asyncio.sleep(STEP)
        case "sleeps in a call":
            await ctx.api.call_tool("slow", {})
        case _:
            time.sleep(60)  # noqa: ASYNC251 - what must not be done is what is tried here
