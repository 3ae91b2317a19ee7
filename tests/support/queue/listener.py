"""A runner for tests with child processes. The message is a command; `go` in its config is the path of a file.

tool    makes a tool call of 1.5 seconds, then pulls until nothing is left, and answers with the pulled messages
listen  waits until the file exists, then pulls until nothing is left, and answers
resign  waits until the file exists, pulls and cancels the pull, waits until the file is deleted, and then listens
wait    waits forever
Any other message is answered at once, together with the messages of one pull.
"""

import asyncio
import os
from pathlib import Path

capabilities = {"steering": True}


async def run(ctx):
    word = ctx.input.to_text().split()[0]
    listens = word in ("tool", "listen", "resign")
    yield {"type": "message.delta", "data": {"chunk": {"role": "assistant", "content": None, "pid": os.getpid()}}}
    if word == "wait":
        await asyncio.Event().wait()
    if word == "tool":
        call = {"tool_call_id": "t1", "tool_name": "slow"}
        yield {"type": "tool.call.started", "data": {**call, "parameters": {}}}
        await asyncio.sleep(1.5)
        yield {"type": "tool.call.completed", "data": {**call, "result": "done"}}
    if word in ("listen", "resign"):
        await _until(Path(ctx.config["go"]).exists)
    if word == "resign":
        pulling = asyncio.ensure_future(ctx.api.steering_pull())
        await asyncio.sleep(0)
        await ctx.api.get_langbot_version()  # answered after the host has started the pull
        pulling.cancel()
        await asyncio.wait({pulling})
        await _until(lambda: not Path(ctx.config["go"]).exists())
    received = []
    while items := (await ctx.api.steering_pull()).items:
        received += [item.input.to_text() for item in items]
        if not listens:
            break
    if listens:
        answer = "heard: " + ", ".join(f"{text[:20]} ({len(text)})" for text in received)
    else:
        answer = " ".join(f"{text}." for text in (ctx.input.to_text(), *received))
    reply = {"role": "assistant", "content": answer}
    yield {"type": "run.completed", "data": {"finish_reason": "stop", "message": reply}}


async def _until(holds):
    while not holds():  # noqa: ASYNC110  (another process makes it true)
        await asyncio.sleep(0.005)
