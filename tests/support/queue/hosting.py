"""A host process with children: `hosting.py DB PROJECT`. Each input line is an action, each output line an answer.

Actions are done concurrently. `{"settle": true}` is answered when nothing is in progress.
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


def read_action(order: dict[str, Any]) -> Action:
    """Make the action that an input line describes."""
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in order["given"].items()}
    return getattr(queue_actions, order["kind"])(**given)


async def answer(action_runner: ActionRunner, number: int, order: dict[str, Any]) -> None:
    if "settle" in order:
        await action_runner.settled()
        result = OK
    elif isinstance(action := read_action(order), End):
        await action_runner.engine.runs.wait_for_end(action_runner.database.run_of(action.run))
        result = OK
    else:
        result = await action_runner.do(action)
    print(json.dumps({"number": number, "answer": result}), flush=True)


def exit_on_error(task: "asyncio.Task[None]") -> None:
    if (error := task.exception()) is not None:
        print_exception(error)
        os._exit(1)  # so that the test does not wait for an answer


async def main(db: Path, project: Path) -> None:
    engine = await Engine.open(project, db=db)
    action_runner = ActionRunner(engine, {"folder": str(project.parent)})
    print(json.dumps({"recovered": list(engine.recovered_runs)}), flush=True)
    tasks: set[asyncio.Task[None]] = set()
    while line := await asyncio.to_thread(sys.stdin.readline):
        order = json.loads(line)
        task = asyncio.create_task(answer(action_runner, order["number"], order))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        task.add_done_callback(exit_on_error)
    action_runner.database.close()
    await engine.close()


asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
