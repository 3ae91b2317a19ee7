"""Calls `run_get`, then pulls until it has enough messages. The message `300 400` means 300 calls and 400 messages."""

import asyncio
import json
import time
from collections.abc import AsyncIterator

from engine.protocol import AgentRunContext, AgentRunResult, Message, MessageChunk

capabilities = {"steering": True}
SECONDS_BETWEEN_CALLS = 0.001


async def run(ctx: AgentRunContext) -> AsyncIterator[AgentRunResult]:
    calls, messages = map(int, ctx.input.to_text().split())
    call_seconds: list[float] = []
    for _ in range(calls):
        began = time.perf_counter()
        await ctx.api.run_get()
        call_seconds.append(time.perf_counter() - began)
        await asyncio.sleep(SECONDS_BETWEEN_CALLS)
    yield AgentRunResult.message_delta(ctx.run_id, MessageChunk(role="assistant", content="ready"))
    pulled_at: dict[str, int] = {}
    while len(pulled_at) < messages:
        items = (await ctx.api.steering_pull()).items
        now = time.time_ns()
        pulled_at |= {item.input.to_text(): now for item in items}
        await asyncio.sleep(SECONDS_BETWEEN_CALLS)
    report = json.dumps({"call_seconds": call_seconds, "pulled_at": pulled_at})
    yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content=report))
    yield AgentRunResult.run_completed(ctx.run_id)
