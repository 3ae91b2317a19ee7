"""A host with a paused run that has queued messages: `pause_host.py DB FOLDER`. Prints the run id.

The process runs until it is killed.
"""

import asyncio
import sys
from pathlib import Path

from engine.api import Engine, RunOptions, message


async def main(db: Path, folder: Path) -> None:
    async with await Engine.open(folder, db=db) as engine:
        order = engine.runs.prepare(
            message("first", "pull", conversation_id="s"), RunOptions("held", breakpoints=("steering",))
        )
        run_id = await (await engine.runs.submit(order)).started
        async with engine.subscribe(run_id=run_id) as news:
            async for batch in news:
                if any(announced.entry.type == "pause.started" for announced in batch):
                    break
        for number, text in enumerate(("in metres", "in short")):
            await engine.runs.submit(message(f"more-{number}", text, conversation_id="s"), RunOptions("held"))
        assert await engine.runs.current_pause(run_id) is not None
        print(run_id, flush=True)
        await asyncio.Event().wait()


asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
