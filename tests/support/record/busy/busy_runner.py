"""A runner that does many things at once. Its process logs every byte that it writes to the wire."""

import asyncio
import os
from types import SimpleNamespace
from typing import Any, ClassVar

from engine.protocol import AgentRunContext, AgentRunner
from engine.runtimes.worker import outbox

LOG = os.open(os.environ["WIRE_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def write_and_log(descriptor: int, data: bytes) -> int:
    written = os.write(descriptor, data)
    os.write(LOG, data[:written])
    return written


outbox.os = SimpleNamespace(write=write_and_log, set_blocking=os.set_blocking)


class Busy(AgentRunner):
    """Streams from two models, calls tools side by side, polls, and sends results meanwhile."""

    capabilities: ClassVar = {"tool_calling": True, "streaming": True, "steering": True}
    permissions: ClassVar = {"models": ["invoke", "stream"], "tools": ["call"]}
    config: ClassVar = [
        {"name": "model", "type": "llm-model-selector", "label": {"en_US": "Model"}, "default": "talker"}
    ]

    async def run(self, ctx: AgentRunContext):
        results: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

        def send(kind: str, **data: Any) -> None:
            results.put_nowait({"run_id": ctx.run_id, "type": kind, "data": data})

        async def stream(name: str) -> None:
            messages = [{"role": "user", "content": name}]
            number = 0
            async for chunk in ctx.api.invoke_llm_stream(ctx.config["model"], messages):
                number += 1
                send("message.delta", chunk={"role": "assistant", "content": f"{name}{number} {chunk.content} "})

        async def use_tool(number: int) -> None:
            send("tool.call.started", tool_call_id=str(number), tool_name="look", parameters={"n": number})
            result = await ctx.api.call_tool("look", {"n": number})
            send("tool.call.completed", tool_call_id=str(number), tool_name="look", result=result)

        async def poll() -> None:
            for number in range(5):
                await ctx.api.run_get()
                send("poll.done", number=number)
                await ctx.api.steering_pull()

        async def work() -> None:
            await asyncio.gather(stream("a"), stream("b"), *(use_tool(number) for number in range(3)), poll())
            results.put_nowait(None)

        working = asyncio.create_task(work())
        while (result := await results.get()) is not None:
            yield result
        await working
        message = {"role": "assistant", "content": "done"}
        yield {"run_id": ctx.run_id, "type": "message.completed", "data": {"message": message}}
        yield {"run_id": ctx.run_id, "type": "run.completed", "data": {"finish_reason": "stop"}}
