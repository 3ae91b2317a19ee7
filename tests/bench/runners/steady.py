"""Streams deltas at an even pace. The message `2000 3` means 2,000 deltas per second for three seconds."""

import asyncio
import time
from collections.abc import AsyncIterator

from engine.protocol import AgentRunContext, AgentRunResult, MessageChunk

TICK_SECONDS = 0.002
"""Between two groups of deltas: an event loop cannot sleep for half a millisecond."""
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
        await asyncio.sleep(TICK_SECONDS)
    yield AgentRunResult.run_completed(ctx.run_id)
