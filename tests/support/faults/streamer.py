"""A runner that streams deltas, sends a state update after every 50th of them, and a message at the end."""

import asyncio

from engine.protocol import AgentRunContext


async def run(ctx: AgentRunContext):
    for number in range(1, int(ctx.config.get("count", 300)) + 1):
        yield {"type": "message.delta", "sequence": number, "data": {"chunk": {"role": "assistant", "content": "é "}}}
        if number % 50 == 0:
            yield {"type": "state.updated", "data": {"scope": "conversation", "key": "at", "value": number}}
        if number % 5 == 0:
            await asyncio.sleep(0.001)
    yield {"type": "message.completed", "data": {"message": {"role": "assistant", "content": "done"}}}
    yield {"type": "run.completed", "data": {"finish_reason": "stop"}}
