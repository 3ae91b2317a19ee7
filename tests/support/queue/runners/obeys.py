"""A runner that a test controls by files: each line of `RUN.todo` is an order, each line of `RUN.answers` an answer."""

import asyncio
import json
import os
from pathlib import Path

from engine.protocol import AgentAPIException, AgentRunResult

capabilities = {"steering": True}
POLL_SECONDS = 0.002


async def run(ctx):
    folder = Path(ctx.config["folder"])
    todo = folder / f"{ctx.run_id}.todo"
    tasks = set()
    done = 0
    with (folder / f"{ctx.run_id}.answers").open("a", buffering=1) as answers:
        print(json.dumps({"number": 0, "answer": "at work"}), file=answers)
        while True:
            written = todo.read_text() if todo.exists() else ""
            orders = written[: written.rfind("\n") + 1].splitlines()
            for line in orders[done:]:
                order = json.loads(line)
                if order["do"] == "die":
                    os._exit(9)
                if order["do"] == "completed":
                    yield AgentRunResult.run_completed(ctx.run_id)
                    return
                if order["do"] == "failed":
                    yield AgentRunResult.run_failed(ctx.run_id, "as told")
                    return
                task = asyncio.create_task(pull(ctx, order, answers))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            done = len(orders)
            await asyncio.sleep(POLL_SECONDS)


async def pull(ctx, order, answers):
    answer = await pulled(ctx, order)
    print(json.dumps({"number": order["number"], "answer": answer}), file=answers)


async def pulled(ctx, order):
    mode = "one-at-a-time" if order["limit"] == 1 else "all"
    pulling = asyncio.create_task(ctx.api.steering_pull(mode=mode))
    try:
        if order["cancel_after"] is not None:
            await asyncio.sleep(order["cancel_after"])
            pulling.cancel()
        reply = await pulling
    except AgentAPIException:
        return "refused"
    except asyncio.CancelledError:
        if not pulling.cancelled() or asyncio.current_task().cancelling():
            raise
        # Calls are answered in order: when this one is answered, the host has seen the cancel.
        try:
            await ctx.api.run_get()
        except AgentAPIException:
            return "refused"
        return "cancelled"
    return [[item.event.event_id, item.input.to_text()] for item in reply.items]
