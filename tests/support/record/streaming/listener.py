"""A runner that logs the time at which it receives each frame of a streamed reply."""

import os
import time
from typing import ClassVar

from engine.protocol import AgentRunContext, AgentRunner


class Listener(AgentRunner):
    capabilities: ClassVar = {"streaming": True}
    permissions: ClassVar = {"models": ["stream"]}
    config: ClassVar = [{"name": "model", "type": "llm-model-selector", "label": {}, "default": "talker"}]

    async def run(self, ctx: AgentRunContext):
        log = os.open(ctx.config["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        async for chunk in ctx.api.invoke_llm_stream(ctx.config["model"], [{"role": "user", "content": "go"}]):
            os.write(log, f"{ctx.run_id} {time.monotonic()} {chunk.content}\n".encode())
        yield {"type": "run.completed", "data": {}}
