"""A process that hosts a held run with a message in it: `holding.py DB FOLDER`. Prints the run, lives until killed."""

import asyncio
import sys
from pathlib import Path

from engine.api import Choice, Engine, message


async def main(db: Path, folder: Path) -> None:
    async with await Engine.open(folder, db=db) as engine:
        order = engine.prepare(message("first", "pull", conversation_id="s"), Choice("held", holds=("pull",)))
        run_id = await (await engine.submit(order)).started
        async with engine.subscribe(run_id=run_id) as news:
            async for batch in news:
                if any(told.entry.type == "hold.reached" for told in batch):
                    break
        for number, text in enumerate(("in metres", "in short")):
            await engine.submit(message(f"more-{number}", text, conversation_id="s"), Choice("held"))
        assert await engine.held(run_id) is not None
        print(run_id, flush=True)
        await asyncio.Event().wait()


asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
