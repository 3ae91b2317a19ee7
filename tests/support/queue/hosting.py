"""A process that hosts, with children: `hosting.py DB PROJECT`. Each line that comes in is an act, each answer a line.

Acts are done as they come, side by side; `{"settle": true}` is answered when nothing is on its way.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from traceback import print_exception
from typing import Any

from engine.api import Engine
from tests.support.queue import queue_actions
from tests.support.queue.action_runner import Asking
from tests.support.queue.queue_actions import OK, Act, End


def read(told: dict[str, Any]) -> Act:
    """An act as it was written."""
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in told["given"].items()}
    return getattr(queue_actions, told["kind"])(**given)


async def answer(asking: Asking, number: int, order: dict[str, Any]) -> None:
    if "settle" in order:
        await asking.settled()
        told = OK
    elif isinstance(act := read(order), End):
        await asking.engine.runs.wait_for_end(asking.witness.run_of(act.run))
        told = OK
    else:
        told = await asking.act(act)
    print(json.dumps({"number": number, "answer": told}), flush=True)


def answered(task: "asyncio.Task[None]") -> None:
    if (error := task.exception()) is not None:
        print_exception(error)
        os._exit(1)  # whoever waits for the answer hears that there is none


async def main(db: Path, project: Path) -> None:
    engine = await Engine.open(project, db=db)
    asking = Asking(engine, {"folder": str(project.parent)})
    print(json.dumps({"recovered": list(engine.recovered_runs)}), flush=True)
    doing: set[asyncio.Task[None]] = set()
    while line := await asyncio.to_thread(sys.stdin.readline):
        order = json.loads(line)
        task = asyncio.create_task(answer(asking, order["number"], order))
        doing.add(task)
        task.add_done_callback(doing.discard)
        task.add_done_callback(answered)
    asking.witness.close()
    await engine.close()


asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
