"""Hosts a run in progress and a queued message, prints that they exist, and waits to be killed."""

import asyncio
import sys
from pathlib import Path

from tests.support.engines import CountingIds, Engines, FakeClock, message, send, wait_for_entry, wait_forever, waits


async def host(root: Path) -> None:
    engines = Engines(root, FakeClock())
    engines.ids = CountingIds("other-")
    engine = await engines(waits)
    run_id = await send(engine, message("one"))
    await wait_for_entry(engine, run_id, "message.delta")
    await engine.runs.submit(message("two", event_id="waiting"))
    print(run_id, flush=True)
    await wait_forever()


asyncio.run(host(Path(sys.argv[1])))
