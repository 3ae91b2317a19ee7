"""A runner that writes raw frames to the wire. The message names the attack; the runner sends the replies it got."""

import asyncio
import json
import os
import select
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from engine.protocol import AgentAPIException

WIRE = int(Path("/proc/self/cmdline").read_bytes().split(b"\0")[2])
MIB = 1 << 20
permissions = {"history": ["page"]}


class Forger:
    """Writes raw frames and reads the replies."""

    def __init__(self, ctx: Any) -> None:
        self.api = ctx.api
        self.run_id = ctx.run_id
        self._waiting: dict[int, asyncio.Queue[Any]] = {}
        self._calls = ctx.api._caller
        self._calls.replied = self._replied

    def _replied(self, frame: dict[str, Any]) -> None:
        if frame["seq_id"] in self._waiting:
            self._waiting[frame["seq_id"]].put_nowait(frame)
        else:
            type(self._calls).replied(self._calls, frame)

    def write(self, *lines: bytes) -> None:
        # Line by line: a write that fits the pipe's buffer is atomic, so it is never mixed with what the worker writes.
        for line in lines:
            left = memoryview(line)
            while left:
                select.select([], [WIRE], [])
                left = left[os.write(WIRE, left[:4096]) :]

    def call(self, number: object, action: object = "run_get", data: object = None) -> bytes:
        asked = {"run_id": self.run_id} if data is None else data
        return json.dumps({"seq_id": number, "action": action, "data": asked}).encode() + b"\n"

    def listen(self, number: int) -> "asyncio.Queue[Any]":
        return self._waiting.setdefault(number, asyncio.Queue())

    async def replies(self, number: int, count: int) -> list[str]:
        """Return the codes of the replies to a number; `ok` is a successful reply."""
        frames = [await self.listen(number).get() for _ in range(count)]
        return ["ok" if frame["code"] == 0 else frame["data"]["code"] for frame in frames]

    async def ask(self, *lines: bytes, number: int = 7_000, count: int = 1) -> list[str]:
        self.listen(number)
        self.write(*lines)
        return await self.replies(number, count)


async def garbage(forger: Forger) -> list[str]:
    forger.write(b"\x00\x01 garbage\n", b"\xff\xfe\n", b"{}\n", b"[1]\n", b"null\n")
    return []


async def wrong_seq_id(forger: Forger) -> list[str]:
    forger.write(forger.call("7"), forger.call(7.5), forger.call(None), b'{"action":"run_get","data":{}}\n')
    return []


async def answer_to_nothing(forger: Forger) -> list[str]:
    forger.write(b'{"seq_id":999,"code":0,"message":"success","data":{"type":"run.completed"},"chunk_status":"end"}\n')
    return []


async def duplicate_seq_id(forger: Forger) -> list[str]:
    page = forger.call(7_000, "history_page", {"run_id": forger.run_id, "limit": 1})
    # In one write: after two, the host may have answered the first call before it reads the second.
    return sorted(await forger.ask(page + page, count=2))


async def data_that_is_no_object(forger: Forger) -> list[str]:
    return await forger.ask(forger.call(7_000, "run_get", [1]))


async def no_name(forger: Forger) -> list[str]:
    forger.write(b'{"seq_id":7000,"code":0,"action":7,"data":{}}\n')
    return []


async def forged_run_id(forger: Forger) -> list[str]:
    return await forger.ask(forger.call(7_000, "run_get", {"run_id": "run_000000"}))


async def half_a_frame(forger: Forger) -> list[str]:
    half = forger.call(7_000)[:-20]
    return await forger.ask(half, b"\n", forger.call(7_000))


async def half_a_frame_at_the_end(forger: Forger) -> list[str]:
    forger.write(forger.call(7_000)[:-20])
    os._exit(0)


def fragments(*parts: tuple[str, int], total: int) -> bytes:
    lines = [{"type": "chunk_start", "total_size": total}]
    lines += [{"type": "chunk_data", "data": data, "offset": offset} for data, offset in parts]
    lines += [{"type": "chunk_end"}]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


async def chunk_with_a_wrong_offset(forger: Forger) -> list[str]:
    call = forger.call(7_000).decode().strip()
    forger.write(fragments((call[:20], 0), (call[20:], 21), total=len(call)))
    return await forger.ask(fragments((call[:20], 0), (call[20:], 20), total=len(call)))


async def chunk_that_is_broken_off(forger: Forger) -> list[str]:
    return await forger.ask(b'{"type":"chunk_start","total_size":100}\n', forger.call(7_000))


async def request_of_16_mib(forger: Forger) -> list[str]:
    forger.write(forger.call(1, "state_set", {"value": "x" * 16 * MIB}))
    forger.write(fragments(("x" * 10_000, 0), total=16 * MIB))
    return []


async def request_of_10_000_levels(forger: Forger) -> list[str]:
    forger.write(b'{"seq_id":1,"action":"state_set","data":{"value":' + b"[" * 10_000 + b"]" * 10_000 + b"}}\n")
    forger.write(b'{"seq_id":1,"action":"state_set","data":{"value":NaN}}\n')
    return []


async def burst(forger: Forger) -> list[str]:
    numbers = range(10_000, 20_000)
    for number in numbers:
        forger.listen(number)
    await asyncio.to_thread(forger.write, *(forger.call(number) for number in numbers))
    codes = [(await forger.replies(number, 1))[0] for number in numbers]
    return [f"{len(codes)} replies", *sorted(set(codes))]


async def replies_never_awaited(forger: Forger) -> list[str]:
    forger.write(*(forger.call(number) for number in range(8_000, 8_050)))
    forger.tasks = [asyncio.create_task(forger.api.history_page()) for _ in range(50)]  # type: ignore[attr-defined]
    await asyncio.sleep(0)
    return []


ATTACKS: dict[str, Callable[[Forger], Awaitable[list[str]]]] = {
    attack.__name__.replace("_", " "): attack
    for attack in (
        garbage,
        wrong_seq_id,
        answer_to_nothing,
        duplicate_seq_id,
        data_that_is_no_object,
        no_name,
        forged_run_id,
        half_a_frame,
        half_a_frame_at_the_end,
        chunk_with_a_wrong_offset,
        chunk_that_is_broken_off,
        request_of_16_mib,
        request_of_10_000_levels,
        burst,
        replies_never_awaited,
    )
}


async def go_on(ctx: Any, name: str) -> None:
    """Make a valid call after the attack, as soon as the rate limit allows it."""
    while True:
        try:
            await ctx.api.state_set("conversation", "after", name)
        except AgentAPIException as refusal:
            if refusal.error.code != "rate_limited":
                raise
        else:
            return


async def run(ctx: Any):
    name = ctx.input.to_text()
    replies = await ATTACKS[name](Forger(ctx))
    if name != "replies never awaited":
        await go_on(ctx, name)
    yield {"type": "message.completed", "data": {"message": {"role": "assistant", "content": json.dumps(replies)}}}
    yield {"type": "run.completed", "data": {"finish_reason": "stop"}}
