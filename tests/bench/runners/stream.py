"""Streams as fast as it is heard: as many deltas as its message says, then a message and the end."""

from collections.abc import AsyncIterator

from engine.protocol import AgentRunContext, AgentRunResult, Message, MessageChunk

TEXT = "It was the best of times, it was the worst of times, it was the age of wisdom … " * 3
"""Makes a delta of 377 bytes."""


async def run(ctx: AgentRunContext) -> AsyncIterator[AgentRunResult]:
    # Made once: what is measured is the host, not how fast an author can make results.
    delta = AgentRunResult.message_delta(ctx.run_id, MessageChunk(role="assistant", content=TEXT))
    for _ in range(int(ctx.input.to_text())):
        yield delta
    yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content=TEXT))
    yield AgentRunResult.run_completed(ctx.run_id)
