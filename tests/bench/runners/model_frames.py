"""Reads the streamed reply of the model `talker` as fast as the host sends it."""

from collections.abc import AsyncIterator
from typing import ClassVar

from engine.protocol import AgentRunContext, AgentRunner, AgentRunResult


class ModelFrames(AgentRunner):
    capabilities: ClassVar = {"streaming": True}
    permissions: ClassVar = {"models": ["stream"]}
    config: ClassVar = [{"name": "model", "type": "llm-model-selector", "label": {}, "default": "talker"}]

    async def run(self, ctx: AgentRunContext) -> AsyncIterator[AgentRunResult]:
        count = 0
        async for _ in ctx.api.invoke_llm_stream(ctx.config["model"], [{"role": "user", "content": "go"}]):
            count += 1
        yield AgentRunResult.run_completed(ctx.run_id, {"role": "assistant", "content": str(count)})
