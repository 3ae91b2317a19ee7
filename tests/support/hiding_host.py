"""Hides a session, prints when, and waits to be killed: the session is neither restored nor purged."""

import asyncio
import sys
from pathlib import Path

from engine.api import Engine
from tests.support.engines import wait_forever


async def host(database: Path, session_id: str) -> None:
    engine = await Engine.open(database.parent, db=database)
    hidden = await engine.sessions.hide(session_id)
    print(hidden.deleted_at, flush=True)
    await wait_forever()


asyncio.run(host(Path(sys.argv[1]), sys.argv[2]))
