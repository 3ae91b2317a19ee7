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
from tests.support.queue.action_runner import ActionRunner
from tests.support.queue.queue_actions import OK, Action, End


def read(observed: dict[str, Any]) -> Action:
    """An act as it was written."""
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in observed["given"].items()}
    return getattr(queue_actions, observed["kind"])(**given)


async def answer(action_runner: ActionRunner, number: int, order: dict[str, Any]) -> None:
    if "settle" in order:
        await action_runner.settled()
        observed = OK
    elif isinstance(action := read(order), End):
        await action_runner.engine.runs.wait_for_end(action_runner.database.run_of(action.run))
        observed = OK
    else:
        observed = await action_runner.do(action)
    print(json.dumps({"number": number, "answer": observed}), flush=True)


def answered(task: "asyncio.Task[None]") -> None:
    if (error := task.exception()) is not None:
        print_exception(error)
        os._exit(1)  # whoever waits for the answer hears that there is none


async def main(db: Path, project: Path) -> None:
    engine = await Engine.open(project, db=db)
    action_runner = ActionRunner(engine, {"folder": str(project.parent)})
    print(json.dumps({"recovered": list(engine.recovered_runs)}), flush=True)
    doing: set[asyncio.Task[None]] = set()
    while line := await asyncio.to_thread(sys.stdin.readline):
        order = json.loads(line)
        task = asyncio.create_task(answer(action_runner, order["number"], order))
        doing.add(task)
        task.add_done_callback(doing.discard)
        task.add_done_callback(answered)
    action_runner.database.close()
    await engine.close()


asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
