"""The runner of the soak. The numbers in a message say what it does: `N deltas, M pulls, S ms, end E`."""

import asyncio
import re
from contextlib import suppress

from engine.protocol import AgentAPIException, AgentRunResult

capabilities = {"streaming": True, "steering": True}
permissions = {"history": ["page"]}


async def run(ctx):
    """Stream, store, pull, and end as the message says: 0 well, 1 by raising, 2 by failing, 3 with an artifact."""
    numbers = [*re.findall(r"\d+", ctx.input.to_text()), "3", "1", "5", "0"]
    deltas, pulls, pause, end = map(int, numbers[:4])
    received = 0
    for number in range(deltas):
        yield AgentRunResult.message_delta(ctx.run_id, {"role": "assistant", "content": f"{number} "})
        if number % 7 == 0:
            yield AgentRunResult.state_updated(ctx.run_id, "count", number, "conversation")
        if pulls and number % max(1, deltas // pulls) == 0:
            with suppress(AgentAPIException):
                received += len((await ctx.api.steering_pull()).items)
        await asyncio.sleep(pause / 1000)
    if end == 1:
        raise ValueError("as the message says")
    if end == 2:
        yield AgentRunResult.run_failed(ctx.run_id, "as the message says")
        return
    if end == 3:
        yield AgentRunResult.artifact_created(ctx.run_id, "file", name="a.txt", content_base64="QUJD")
    yield AgentRunResult.run_completed(ctx.run_id, {"role": "assistant", "content": f"received {received}"})
