"""Streams at an even pace: `2000 3` means 2,000 deltas a second for three seconds."""

import asyncio
import time
from collections.abc import AsyncIterator

from engine.protocol import AgentRunContext, AgentRunResult, MessageChunk

TICK = 0.002
"""Seconds between two handfuls; no loop can sleep for half a millisecond."""
TEXT = "It was the best of times, it was the worst of times, it was the age of wisdom … " * 3


async def run(ctx: AgentRunContext) -> AsyncIterator[AgentRunResult]:
    rate, seconds = map(float, ctx.input.to_text().split())
    delta = AgentRunResult.message_delta(ctx.run_id, MessageChunk(role="assistant", content=TEXT))
    began, sent = time.monotonic(), 0
    while sent < rate * seconds:
        due = (time.monotonic() - began) * rate
        while sent < due:
            yield delta
            sent += 1
        await asyncio.sleep(TICK)
    yield AgentRunResult.run_completed(ctx.run_id)
