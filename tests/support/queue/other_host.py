"""Hosts a run with messages in every state: `other_host.py ROOT`.

Prints the run and its items as JSON. For each input line the run pulls once, and the pulled texts are printed.
At the end of the input the run ends.
"""

import asyncio
import json
import sys
from pathlib import Path

from tests.support.engines import CountingIds, Engines, FakeClock, done
from tests.support.queue.steering import failing_trigger, open_steering


async def host(root: Path) -> None:
    clock = FakeClock()
    engines = Engines(root, clock)
    engines.ids = CountingIds("other-")
    steering = await open_steering(engines)
    engine = steering.engine
    run = await steering.start(config={"api_key": "walnut-4711-walnut"})
    items = dict.fromkeys(("injected", "pulled", "queued", "held", "after"), "")
    items["injected"], items["pulled"] = await steering.send_claimed("injected", "pulled")
    await run.pull("one")
    clock.advance(1)
    with failing_trigger(engine, "BEFORE UPDATE ON queue WHEN new.fate = 'injected'"):
        await run.pull("one")  # pulled, but never injected
    items["queued"], items["held"] = await steering.send_claimed("queued with walnut-4711-walnut", "held")
    await engine.queue.pause(items["held"])
    items["after"] = str((await steering.send("after", after=True)).item_id)
    print(json.dumps({"run_id": run.run_id, "items": items}), flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await run.pull()), flush=True)
    await run.end(done("bye"))
    await engines.close_all()


if __name__ == "__main__":
    asyncio.run(host(Path(sys.argv[1])))
