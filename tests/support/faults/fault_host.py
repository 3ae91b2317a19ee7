"""A host in its own process: `fault_host.py DB RUNNER MESSAGE SETTINGS`. Prints every entry when it is announced.

RUNNER is a file or a name. SETTINGS is a JSON object: `runs` (the number of runs, one after the other; without it,
until killed), `children` (false: run the streamer in this process), `session`, `config`, and `waits` (after the runs,
wait for a line of input).
"""

import asyncio
import json
import os
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from engine.api import Engine, RunOptions, message
from engine.runtimes.inprocess import InProcessRuntime
from engine.runtimes.pool import ChildPool
from tests.support.faults import streamer
from tests.support.faults.faults import MARK_VARIABLE


def write(text: str) -> None:
    left = text.encode()
    while left:
        left = left[os.write(1, left) :]


async def print_entries(engine: Engine, since: int) -> None:
    async with engine.subscribe(since) as news:
        async for batch in news:
            write("".join(f"{announced.entry.line()}\n" for announced in batch))


async def main(db: str, runner: str, text: str, settings: dict[str, Any]) -> None:
    target = Path(runner) if "/" in runner else None
    runtime = ChildPool() if settings.get("children", True) else InProcessRuntime({"streamer": streamer.run})
    choice = RunOptions(None if target else runner, settings.get("config", {}), env=(MARK_VARIABLE,))
    async with await Engine.open(target, db=Path(db), runtime=runtime) as engine:
        printing = asyncio.ensure_future(print_entries(engine, await engine.last_row()))
        started = 0
        while settings.get("runs") is None or started < settings["runs"]:
            started += 1
            envelope = message(engine.ids.new("evt"), text, conversation_id=settings.get("session", "s"))
            ticket = await engine.runs.submit(envelope, choice)
            await engine.runs.wait_for_end(await ticket.started)
        if settings.get("waits"):
            write("waiting\n")
            await asyncio.to_thread(sys.stdin.readline)
        printing.cancel()


def host(output: Connection, mark: str, arguments: tuple[str, str, str], settings: dict[str, Any]) -> None:
    """Run `main` in a forked process that has everything imported: it starts ten times as fast."""
    os.dup2(output.fileno(), 1)
    output.close()
    os.environ[MARK_VARIABLE] = mark
    asyncio.run(main(*arguments, settings))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4])))
