"""A child that floods its pipes gets only so much of the host's loop and memory, and its output is read to the end."""

import asyncio
import fcntl
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.runtimes import child
from engine.runtimes.answers import Answers
from engine.runtimes.pipes import LINES_PER_TURN, READ_BYTES, ReadPipe
from engine.runtimes.runtime import EncodedReply, EndKind
from tests.support.faults.faults import until
from tests.support.limits import MAX_WAIT_SECONDS

FLOODS = """
    import fcntl, os, select, sys
    from pathlib import Path

    WIRE = int(Path("/proc/self/cmdline").read_bytes().split(b"\\0")[2])
    LARGE_PIPE = 1 << 20

    def enlarge(pipe):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, LARGE_PIPE)

    def write(data, pipe=WIRE):
        left = memoryview(data)
        while left:
            select.select([], [pipe], [])
            left = left[os.write(pipe, left) :]

"""


def is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"T"


class Turns:
    """Notes in each turn of the loop how much something has grown since the last one."""

    def __init__(self, size: Callable[[], int]) -> None:
        self.largest = 0
        self._size = size
        self._last = size()
        self._task = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(0)
            self.largest = max(self.largest, self._size() - self._last)
            self._last = self._size()

    def stop(self) -> int:
        self._task.cancel()
        return self.largest


# Work in a turn of the loop


async def test_a_large_pipe_is_read_a_little_in_each_turn():
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 1 << 20)
    sent = b"\n" * 100_000 + b"x" * 300_000 + b"y\n" * 100_000 + b"the end"
    os.write(writing, sent)
    os.close(writing)
    parts: list[bytes] = []
    pipe = ReadPipe(parts.append)
    await pipe.open(reading)
    turns = Turns(lambda: len(parts))

    async with asyncio.timeout(MAX_WAIT_SECONDS):
        await pipe.closed.wait()

    assert b"".join(parts) == sent
    assert max(len(part) for part in parts) <= READ_BYTES
    assert max(part.count(b"\n") for part in parts) <= LINES_PER_TURN
    assert turns.stop() <= 2, "one part at the end of a turn, and one at the beginning of the next"
    assert pipe.handled_bytes == len(sent)


async def test_a_paused_pipe_passes_nothing_on_and_knows_how_much_is_unread():
    reading, writing = os.pipe()
    parts: list[bytes] = []

    def pause_after_the_first(part: bytes) -> None:
        parts.append(part)
        if len(parts) == 1:  # pauses when the next part is already due
            asyncio.get_running_loop().call_soon(pipe.pause, True)

    pipe = ReadPipe(pause_after_the_first)
    await pipe.open(reading)
    os.write(writing, b"\n" * 2_000)
    await until(lambda: parts)
    os.write(writing, b"more")
    for _ in range(5):
        await asyncio.sleep(0)

    assert (len(parts), pipe.unread_bytes()) == (1, 2_000 - LINES_PER_TURN + 4)
    pipe.pause(False)
    os.close(writing)
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        await pipe.closed.wait()
    assert b"".join(parts) == b"\n" * 2_000 + b"more"
    assert pipe.unread_bytes() == 0


@pytest.mark.parametrize("line", ["x", " ", "{}"])
async def test_a_flood_of_bad_lines_leaves_the_loop_to_others(harness, line: str):
    launch = harness.launch(
        FLOODS
        + """
    async def run(ctx):
        enlarge(WIRE)
        write((ctx.config["line"] + "\\n").encode() * 20_000)
        yield "done"
"""
    )
    execution, sink = await harness.begin(launch, line=line)
    turns = Turns(lambda: len(sink.faults))
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        ending = await execution.ended()

    assert (ending.how, sink.results) == (EndKind.ENDED, ["done"])
    assert len(sink.faults) == (0 if line == " " else 20_000)
    assert turns.stop() <= 2 * LINES_PER_TURN


async def test_a_flood_of_output_leaves_the_loop_to_others(harness):
    launch = harness.launch(
        FLOODS
        + """
    async def run(ctx):
        enlarge(1)
        write(b"\\n" * 50_000, 1)
        yield "done"
"""
    )
    execution, sink = await harness.begin(launch)
    turns = Turns(lambda: len(sink.lines))
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        await execution.ended()

    assert len(sink.lines) == 50_000
    assert turns.stop() <= 2 * LINES_PER_TURN


async def test_large_results_are_checked_in_a_thread_and_keep_their_order(harness):
    launch = harness.launch(
        FLOODS
        + """
    async def run(ctx):
        write(b'{"type":"chunk_data","data":"%b","offset":0}\\n' % (b"z" * 300_000))
        for number in range(6):
            yield [number, "x" * (300_000 if number % 2 else 10)]
"""
    )
    execution, sink = await harness.begin(launch)
    threads: set[int] = set()
    sink.prepare = lambda result: threads.add(threading.get_ident()) or ("prepared", result[0])
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        ending = await execution.ended()

    assert ending.how is EndKind.ENDED
    assert [result[1] if result[0] == "prepared" else result[0] for result in sink.results] == list(range(6))
    assert [result[0] == "prepared" for result in sink.results] == [False, True] * 3
    assert sink.faults == [("a fragment of no frame", 0)]
    assert threading.get_ident() not in threads


async def test_a_fault_while_a_large_result_is_checked_does_not_stop_the_wire(harness):
    launch = harness.launch('async def run(ctx):\n    yield "x" * 300_000\n    yield "done"\n')
    execution, sink = await harness.begin(launch)
    sink.prepare = lambda _: 1 / 0
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        await execution.ended()

    assert sink.results == ["done"]
    assert [reason for reason, _ in sink.faults] == [
        "the host could not check it: ZeroDivisionError('division by zero')"
    ]


# Replies that the runner does not read


async def test_calls_wait_while_the_runner_reads_no_replies(harness):
    launch = harness.launch(
        FLOODS
        + """
    import asyncio, signal

    async def run(ctx):
        request = b'{"seq_id":%d,"action":"anything","data":{}}\\n'
        write(b"".join(request % number for number in range(1_000, 1_300)))
        os.kill(os.getpid(), signal.SIGSTOP)
        while not os.path.exists("go"):
            await asyncio.sleep(0.001)
        yield "done"
"""
    )
    execution, sink = await harness.begin(launch)
    sink.answer = lambda _, __: {"text": "x" * 100_000}
    await sink.until(lambda: sink.answered)
    await until(lambda: is_stopped(execution._child.pid))
    for _ in range(20):
        await asyncio.sleep(0)
    waiting = len(sink.answered)
    os.kill(execution._child.pid, signal.SIGCONT)
    await sink.until(lambda: len(sink.answered) == 300)
    (harness.folder / "go").touch()
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        ending = await execution.ended()

    assert (waiting < 10, ending.how) == (True, EndKind.ENDED)


class FakePipe:
    """The pipe to a child, which a test fills and empties."""

    def __init__(self) -> None:
        self.room = asyncio.Event()
        self.written: list[dict[str, Any]] = []

    def write(self, line: bytes) -> bool:
        self.written.append(json.loads(line))
        return True


async def test_a_large_reply_waits_until_earlier_ones_are_read_and_then_gives_its_slot_back(sink):
    pipe, sent = FakePipe(), []
    pipe.room.set()
    text = json.dumps(["x" * 10] * 5_000).encode()
    started = asyncio.Event()

    async def answer() -> EncodedReply:
        pipe.room.clear()
        started.set()
        return EncodedReply(text, lambda: sent.append(True))

    sink.answer = lambda _, __: answer()
    answers = Answers(sink, pipe)
    answers.take(1, "page", {})
    await started.wait()
    answers.take(2, "page", {})
    for _ in range(50):
        await asyncio.sleep(0.001)
    assert (pipe.written, sent, len(sink.answered)) == ([], [], 1)

    pipe.room.set()
    await until(lambda: sent)
    answers.stop()


# The end of the output


async def test_slow_reading_of_a_large_pipe_loses_no_line(harness, monkeypatch):
    monkeypatch.setattr(child, "DRAIN_TIMEOUT_SECONDS", 0.05)  # reading takes longer than that
    launch = harness.launch(
        FLOODS
        + """
    async def run(ctx):
        enlarge(1)
        write(b"".join(b"%d %b\\n" % (number, b"x" * 1_000) for number in range(400)), 1)
        yield "done"
"""
    )
    execution, sink = await harness.begin(launch)
    output = sink.output

    def slow(stream: str, text: str) -> None:
        time.sleep(0.0015)
        output(stream, text)

    sink.output = slow
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        await execution.ended()

    assert [int(text.split()[0]) for text in sink.texts()] == list(range(400))
    assert sink.lost == []


async def test_output_that_a_killed_runner_left_unread_is_counted(harness):
    launch = harness.launch(
        FLOODS
        + """
    import time

    async def run(ctx):
        enlarge(1)
        yield "ready"
        while not os.path.exists("go"):
            time.sleep(0.001)
        write(b"y\\n" * 100_000, 1)
        time.sleep(60)
"""
    )
    execution, sink = await harness.begin(launch)
    result = sink.result

    def fill(value: object, size: int) -> None:
        sink.full = True  # from here on nothing is read
        result(value, size)

    sink.result = fill
    await sink.until(lambda: sink.waiting_for_room)
    (harness.folder / "go").touch()
    await until(lambda: execution._child._outputs["stdout"].unread_bytes() == 200_000)
    await execution.kill()
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        await execution.ended()

    assert sink.lost == [("stdout", 200_000)]
