"""Asks `run_get` so often, then pulls without a pause until it was told so often: `300 400` means 300 and 400."""

import asyncio
import json
import time
from collections.abc import AsyncIterator

from engine.protocol import AgentRunContext, AgentRunResult, Message, MessageChunk

capabilities = {"steering": True}
BREATH = 0.001
"""Seconds between two pulls."""


async def run(ctx: AgentRunContext) -> AsyncIterator[AgentRunResult]:
    asks, messages = map(int, ctx.input.to_text().split())
    asked: list[float] = []
    for _ in range(asks):
        began = time.perf_counter()
        await ctx.api.run_get()
        asked.append(time.perf_counter() - began)
        await asyncio.sleep(BREATH)
    yield AgentRunResult.message_delta(ctx.run_id, MessageChunk(role="assistant", content="listening"))
    pulled: dict[str, int] = {}
    while len(pulled) < messages:
        items = (await ctx.api.steering_pull()).items
        now = time.time_ns()
        pulled |= {item.input.to_text(): now for item in items}
        await asyncio.sleep(BREATH)
    told = json.dumps({"asked": asked, "pulled": pulled})
    yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content=told))
    yield AgentRunResult.run_completed(ctx.run_id)
