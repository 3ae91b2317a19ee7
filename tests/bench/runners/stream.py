"""Streams deltas as fast as the host takes them, then completes a message. The message is the number of deltas."""

from collections.abc import AsyncIterator

from engine.protocol import AgentRunContext, AgentRunResult, Message, MessageChunk

TEXT = "It was the best of times, it was the worst of times, it was the age of wisdom … " * 3
"""A delta with this text is 377 bytes long."""


async def run(ctx: AgentRunContext) -> AsyncIterator[AgentRunResult]:
    # Created once, because the benchmarks measure the host and not how fast a runner creates results.
    delta = AgentRunResult.message_delta(ctx.run_id, MessageChunk(role="assistant", content=TEXT))
    for _ in range(int(ctx.input.to_text())):
        yield delta
    yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content=TEXT))
    yield AgentRunResult.run_completed(ctx.run_id)
