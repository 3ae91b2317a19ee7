"""The engine's side of a console in a process of its own: `steering_console.py DB RUNNER NAME SEED COUNT [start]`.

With `start`, its first message starts the run. It sends COUNT messages to session `s`, each followed by a random change
of a queued message, also of another process. Each message is announced as one JSON line before it is sent, and its
outcome as another one after. The process ends at the end of its input.
"""

import asyncio
import json
import random
import sys
from pathlib import Path
from typing import Any

from console.data.active_session import ActiveSession
from console.launch import LaunchOptions
from engine.api import Engine, Mode, StoreError


def announce(**line: Any) -> None:
    print(json.dumps(line), flush=True)


async def change_any(engine: Engine, dice: random.Random) -> None:
    items = await engine.queue.list("s")
    if not items:
        return
    item = dice.choice(items)
    queue = engine.queue
    change = dice.choice(
        (
            lambda: queue.edit(item.item_id, f"{item.text} (edited)"),
            lambda: queue.withdraw(item.item_id),
            lambda: queue.pause(item.item_id),
            lambda: queue.resume(item.item_id),
            lambda: queue.move(item.item_id),
            lambda: queue.set_mode(item.item_id, dice.choice((Mode.STEER, Mode.AFTER))),
        )
    )
    try:
        await change()
    except StoreError as error:
        announce(refused=type(error).__name__)


async def main(db: Path, runner: Path, name: str, seed: int, count: int, *, starts: bool) -> None:
    session = ActiveSession(LaunchOptions(target=runner, db=db, session="s"))
    await session.open()
    target, dice = session.message_target, random.Random(seed)
    if starts:
        ticket = await session.send("go", target)
        announce(run_id=await ticket.started)
    else:
        announce(ready=name)
    await asyncio.to_thread(sys.stdin.readline)
    for number in range(count):
        text = f"{name} {number}"
        announce(sends=text)
        try:
            ticket = await session.send(text, target)
        except StoreError as error:
            announce(text=text, error=type(error).__name__, words=str(error))
        else:
            announce(text=text, item_id=ticket.item_id, claimed_by=ticket.claimed_by, event_id=ticket.event_id)
        await change_any(session.engine, dice)
        await asyncio.sleep(dice.uniform(0, 0.02))
    announce(done=name)
    await asyncio.to_thread(sys.stdin.readline)
    await session.close()


if __name__ == "__main__":
    asyncio.run(
        main(
            Path(sys.argv[1]),
            Path(sys.argv[2]),
            sys.argv[3],
            int(sys.argv[4]),
            int(sys.argv[5]),
            starts=sys.argv[6:] == ["start"],
        )
    )
