"""Streams messages at an even pace. The message `2000 3` means 2,000 events per second for three seconds.

Each message has paragraphs of several hundred chunks; after it is completed, a tool is called.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from itertools import count

from engine.protocol import AgentRunContext, AgentRunResult, Message, MessageChunk

TICK_SECONDS = 0.002
"""Between two groups of results: an event loop cannot sleep for half a millisecond."""
WORDS = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the **age** of `folly` …"
CHUNKS = [f"{word} " for word in WORDS.split()] * 3 + ["\n\n"]
PARAGRAPHS = 6


async def run(ctx: AgentRunContext) -> AsyncIterator[AgentRunResult]:
    rate, seconds = map(float, ctx.input.to_text().split())
    results = _results(ctx.run_id)
    began, sent = time.monotonic(), 0
    while sent < rate * seconds:
        due = (time.monotonic() - began) * rate
        while sent < due:
            yield next(results)
            sent += 1
        await asyncio.sleep(TICK_SECONDS)
    yield AgentRunResult.run_completed(ctx.run_id)


def _results(run_id: str) -> Iterator[AgentRunResult]:
    deltas = [AgentRunResult.message_delta(run_id, MessageChunk(role="assistant", content=chunk)) for chunk in CHUNKS]
    message = Message(role="assistant", content="".join(CHUNKS) * PARAGRAPHS)
    for number in count():
        for _ in range(PARAGRAPHS):
            yield from deltas
        yield AgentRunResult.message_completed(run_id, message)
        call_id = f"call-{number}"
        yield AgentRunResult.tool_call_started(run_id, call_id, "weather", {"city": "Kyoto"})
        yield AgentRunResult.tool_call_completed(run_id, call_id, "weather", {"sky": "clear"})
