"""Asks its host one call after another and says how long each took: `500` means 500 of each."""

import json
import time
from collections.abc import AsyncIterator

from engine.protocol import AgentRunContext, AgentRunResult, Message


async def run(ctx: AgentRunContext) -> AsyncIterator[AgentRunResult]:
    read: list[float] = []
    written: list[float] = []
    for number in range(int(ctx.input.to_text())):
        began = time.perf_counter()
        await ctx.api.state_set("conversation", "seen", {"number": number})
        between = time.perf_counter()
        await ctx.api.state_get("conversation", "seen")
        written.append(between - began)
        read.append(time.perf_counter() - between)
    told = json.dumps({"state_get": read, "state_set": written})
    yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content=told))
    yield AgentRunResult.run_completed(ctx.run_id)
