"""A runner that sends, prints and stores text that a terminal must not interpret; the texts are in `texts.json`."""

import json
import sys
from pathlib import Path

capabilities = {"steering": True}
TEXTS = json.loads(Path(__file__).with_name("texts.json").read_text("utf-8"))


async def run(ctx):
    for number, text in enumerate(TEXTS):
        name = text[:200]
        sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass") + b"\n\xff\xfe\n")
        sys.stderr.buffer.write(text.encode("utf-8", "surrogatepass") + b"\n")
        sys.stdout.flush()
        sys.stderr.flush()
        for piece in (text[: len(text) // 2], text):
            yield {"type": "message.delta", "data": {"chunk": {"role": "assistant", "content": piece}}}
        yield {"type": "message.completed", "data": {"message": {"role": "assistant", "content": text}}}
        call = {"tool_call_id": f"c{number}", "tool_name": name}
        yield {"type": "tool.call.started", "data": {**call, "parameters": {name: text, "deep": [{name: [name]}]}}}
        failing = {"error": text} if number % 2 else {"result": {name: text}}
        yield {"type": "tool.call.completed", "data": {**call, **failing}}
        yield {
            "type": "state.updated",
            "data": {"scope": "conversation", "key": f"k{name}"[:60], "value": {name: text}},
        }
        yield {"type": "artifact.created", "data": {"artifact_type": name, "name": name, "mime_type": name}}
        yield {"type": f"x.{name}"[:60], "data": {name: text}}
        yield {"type": "action.requested", "data": {"action": name, "payload": {name: text}}}
    pulled = await ctx.api.steering_pull()
    while not pulled.items:
        pulled = await ctx.api.steering_pull()
    for item in pulled.items:
        yield {"type": "message.completed", "data": {"message": {"role": "assistant", "content": item.input.to_text()}}}
    raise ValueError("".join(text[:200] for text in TEXTS))
