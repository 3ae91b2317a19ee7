"""Attacks its host in the way that the message names, mostly with raw bytes on the wire or on stdout."""

import asyncio
import contextlib
import fcntl
import json
import os
import select
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any

from engine.protocol import AgentRunContext

permissions = {"history": ["page", "search"]}
config = [{"name": "prompt", "type": "prompt-editor"}]

STDOUT = 1
MIB = 1 << 20
LARGE_PIPE_BYTES = MIB
RAW_CALLS_FROM = 1_000_000
"""Numbers of calls that are written to the wire directly, far from those of the worker."""
runs = 0


def wire() -> int:
    return int(Path("/proc/self/cmdline").read_bytes().split(b"\0")[2])


def enlarge(descriptor: int) -> None:
    with contextlib.suppress(OSError):
        fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, LARGE_PIPE_BYTES)


def write(data: bytes, descriptor: int | None = None) -> None:
    descriptor = wire() if descriptor is None else descriptor
    left = memoryview(data)
    while left:
        select.select([], [descriptor], [])
        with contextlib.suppress(BlockingIOError):
            left = left[os.write(descriptor, left[:LARGE_PIPE_BYTES]) :]


def frame(result: str) -> bytes:
    head = b'{"seq_id":%d,"code":0,"message":"success","data":' % runs
    return head + result.encode() + b',"chunk_status":"continue"}\n'


def wide(size: int) -> str:
    """An array of empty arrays with this many bytes."""
    return "[" + ",".join(["[]"] * (size // 3)) + "]"


def many_objects() -> str:
    """An array of small objects, just within the limits of a result."""
    return "[" + ",".join(['{"type":""}'] * 85_000) + "]"


def write_calls(ctx: AgentRunContext, action: str, number: int, **data: Any) -> None:
    request = json.dumps({"run_id": ctx.run_id, **data})
    for place in range(number):
        write(b'{"seq_id":%d,"action":"%b","data":%b}\n' % (RAW_CALLS_FROM + place, action.encode(), request.encode()))


async def sequences(ctx: AgentRunContext) -> None:
    result = '{"type":"tool.call.started","data":{},"sequence":%d}'
    write(frame(result % 10_000_000))
    write(b"".join(frame(result % number) for number in range(2, 20_000, 2)))


async def bad_lines(ctx: AgentRunContext) -> None:
    write(b"x\n" * (256 * 1024))


async def bad_lines_in_a_large_pipe(ctx: AgentRunContext) -> None:
    enlarge(wire())
    await bad_lines(ctx)


async def blank_lines(ctx: AgentRunContext) -> None:
    enlarge(wire())
    write(b" \n" * (512 * 1024))


async def empty_output(ctx: AgentRunContext) -> None:
    enlarge(STDOUT)
    write(b"\n" * (512 * 1024), STDOUT)


async def wide_results(ctx: AgentRunContext) -> None:
    for value in (wide(MIB - 1_000), wide(2 * MIB - 1_000), many_objects()) * 3:
        message = f'{{"role":"assistant","content":{value}}}'
        write(frame(f'{{"type":"tool.call.started","data":{{"x":{value}}}}}'))
        write(frame(f'{{"type":"tool.call.started","data":{{"tool_call_id":{value}}}}}'))
        write(frame(f'{{"type":"message.completed","data":{{"message":{message}}}}}'))


async def wide_calls(ctx: AgentRunContext) -> None:
    for place, value in enumerate((wide(2 * MIB - 1_000), many_objects()) * 5):
        data = f'{{"run_id":"{ctx.run_id}","scope":"conversation","key":"k","value":{value}}}'
        write(b'{"seq_id":%d,"action":"state_set","data":%b}\n' % (RAW_CALLS_FROM + place, data.encode()))


async def large_pages(ctx: AgentRunContext) -> None:
    text = "It was the best of times. " * (MIB // 27)
    for _ in range(14):
        write(
            frame(
                json.dumps({"type": "message.completed", "data": {"message": {"role": "assistant", "content": text}}})
            )
        )
    await asyncio.gather(*(ctx.api.history_page(limit=100) for _ in range(40)), return_exceptions=True)


async def wide_pages(ctx: AgentRunContext) -> None:
    for _ in range(14):
        write(frame('{"type":"state.updated","data":{"scope":"conversation","key":"k","value":' + wide(200_000) + "}}"))
    await asyncio.gather(*(ctx.api.run_events_page(limit=100) for _ in range(40)), return_exceptions=True)


async def unread_replies(ctx: AgentRunContext) -> None:
    await ctx.api.state_set("conversation", "large", "x" * 170_000)
    write_calls(ctx, "state_get", 1_000, scope="conversation", key="large")
    sum(range(10**8))  # keeps the interpreter's lock, so that the thread that reads the wire cannot


async def unread_prompts(ctx: AgentRunContext) -> None:
    write_calls(ctx, "get_prompt", 1_000)
    sum(range(10**8))


async def equal_snapshots(ctx: AgentRunContext) -> None:
    chunk = json.dumps({"role": "assistant", "content": "x" * (MIB - 1_000)})
    for _ in range(100):
        write(frame('{"type":"message.delta","data":{"chunk":' + chunk + "}}"))


async def large_messages(ctx: AgentRunContext) -> None:
    message = json.dumps({"role": "assistant", "content": "x" * (MIB - 1_000)})
    for _ in range(100):
        write(frame('{"type":"message.completed","data":{"message":' + message + "}}"))


async def endless_flood(ctx: AgentRunContext) -> None:
    enlarge(wire())
    enlarge(STDOUT)
    for _ in count():
        write(b"x\n" * 10_000)
        write(b"\n" * 10_000, STDOUT)


async def rest(ctx: AgentRunContext) -> None:
    time.sleep(0.3)  # noqa: ASYNC251


ATTACKS: dict[str, Callable[[AgentRunContext], Awaitable[None]]] = {
    "no attack": rest,
    "sequence numbers that split ranges": sequences,
    "bad lines": bad_lines,
    "bad lines in a large pipe": bad_lines_in_a_large_pipe,
    "blank lines in a large pipe": blank_lines,
    "empty lines of output": empty_output,
    "wide results": wide_results,
    "wide calls": wide_calls,
    "40 pages of large messages": large_pages,
    "40 pages of wide values": wide_pages,
    "1,000 unread replies from the store": unread_replies,
    "1,000 unread replies from memory": unread_prompts,
    "equal snapshots": equal_snapshots,
    "large messages": large_messages,
    "a flood past the deadline": endless_flood,
}


async def run(ctx: AgentRunContext) -> AsyncIterator[Any]:
    global runs  # noqa: PLW0603 - the worker counts them as well
    runs += 1
    await ATTACKS[ctx.input.to_text()](ctx)
    yield {"type": "run.completed", "data": {"finish_reason": "stop"}}
