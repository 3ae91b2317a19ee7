"""A runner that starts another process, sends its process id, and waits."""

import asyncio
import subprocess

from engine.protocol import AgentRunContext


async def run(ctx: AgentRunContext):
    sleeper = subprocess.Popen(["sh", "-c", "trap '' HUP TERM INT; sleep 3600; sleep 3600"])  # noqa: ASYNC220
    yield {"type": "message.delta", "data": {"chunk": {"role": "assistant", "content": str(sleeper.pid)}}}
    await asyncio.Event().wait()
