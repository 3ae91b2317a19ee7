"""A runner for real children. Its message says what it does; `go` in its config names a file that it waits for.

tool    makes a tool call of a second and a half, then pulls and answers with all it was told
listen  waits for its file, then pulls until nothing comes, and answers
resign  waits for its file, pulls and takes the pull back, waits for the file's end, and listens
wait    says its process id and waits for ever
Anything else it answers at once, together with what one pull brings.
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
        await ctx.api.get_langbot_version()  # answered after the pull was taken up
        pulling.cancel()
        await asyncio.wait({pulling})
        await _until(lambda: not Path(ctx.config["go"]).exists())
    heard = []
    while items := (await ctx.api.steering_pull()).items:
        heard += [item.input.to_text() for item in items]
        if not listens:
            break
    if listens:
        answer = "heard: " + ", ".join(f"{text[:20]} ({len(text)})" for text in heard)
    else:
        answer = " ".join(f"{text}." for text in (ctx.input.to_text(), *heard))
    said = {"role": "assistant", "content": answer}
    yield {"type": "run.completed", "data": {"finish_reason": "stop", "message": said}}


async def _until(holds):
    while not holds():  # noqa: ASYNC110  (it is another process that makes it so)
        await asyncio.sleep(0.005)
