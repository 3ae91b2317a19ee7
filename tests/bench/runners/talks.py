"""Talks at an even pace, as a model a hundred times as fast would: `2000 3` means 2,000 events a second for three.

Words in paragraphs; each message is completed after some hundreds of chunks, and then a tool is called.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from itertools import count

from engine.protocol import AgentRunContext, AgentRunResult, Message, MessageChunk

TICK = 0.002
"""Seconds between two handfuls; no loop can sleep for half a millisecond."""
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
        await asyncio.sleep(TICK)
    yield AgentRunResult.run_completed(ctx.run_id)


def _results(run_id: str) -> Iterator[AgentRunResult]:
    deltas = [AgentRunResult.message_delta(run_id, MessageChunk(role="assistant", content=chunk)) for chunk in CHUNKS]
    whole = Message(role="assistant", content="".join(CHUNKS) * PARAGRAPHS)
    for number in count():
        for _ in range(PARAGRAPHS):
            yield from deltas
        yield AgentRunResult.message_completed(run_id, whole)
        call = f"call-{number}"
        yield AgentRunResult.tool_call_started(run_id, call, "weather", {"city": "Kyoto"})
        yield AgentRunResult.tool_call_completed(run_id, call, "weather", {"sky": "clear"})
