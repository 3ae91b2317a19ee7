"""A runner for tests of pauses. It first sends its process id, and then does what the message says."""

import os

from engine.protocol import AgentRunContext

capabilities = {"tool_calling": True, "steering": True}
permissions = {"tools": ["call"]}


def said(text: str) -> dict:
    return {"type": "message.completed", "data": {"message": {"role": "assistant", "content": text}}}


async def run(ctx: AgentRunContext):
    """`ask` calls the tool, `pull` pulls, `speak` sends three messages and then calls the tool."""
    yield {"type": "message.delta", "data": {"chunk": {"role": "assistant", "content": str(os.getpid())}}}
    match ctx.input.to_text():
        case "ask":
            yield said(str(await ctx.api.call_tool("weather", {})))
        case "pull":
            pulled = await ctx.api.steering_pull()
            yield said("|".join(item.input.to_text() for item in pulled.items))
        case "speak":
            for word in ("one", "two", "three"):
                yield said(word)
            await ctx.api.call_tool("weather", {})
    yield {"type": "run.completed", "data": {"finish_reason": "stop"}}
