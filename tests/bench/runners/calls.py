"""Calls `state_set` and `state_get` in turn and reports how long each took. The message `500` means 500 of each."""

import json
import time
from collections.abc import AsyncIterator

from engine.protocol import AgentRunContext, AgentRunResult, Message


async def run(ctx: AgentRunContext) -> AsyncIterator[AgentRunResult]:
    get_seconds: list[float] = []
    set_seconds: list[float] = []
    for number in range(int(ctx.input.to_text())):
        began = time.perf_counter()
        await ctx.api.state_set("conversation", "seen", {"number": number})
        between = time.perf_counter()
        await ctx.api.state_get("conversation", "seen")
        set_seconds.append(between - began)
        get_seconds.append(time.perf_counter() - between)
    report = json.dumps({"state_get": get_seconds, "state_set": set_seconds})
    yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content=report))
    yield AgentRunResult.run_completed(ctx.run_id)
