"""Locks a database from another process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from tests.support.faults.faults import ROOT, other_process, read_line
from tests.support.faults.faults import write_line as send_line

LOCK_SCRIPT = ROOT / "tests" / "support" / "faults" / "lock_database.py"


@asynccontextmanager
async def locked_database(db: Path) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Lock a database until the block ends. Yields a function that releases the lock earlier."""
    with other_process(LOCK_SCRIPT, db) as process:
        assert await asyncio.to_thread(read_line, process) == "locked"

        async def release() -> None:
            if process.poll() is None:
                send_line(process)
                await asyncio.to_thread(process.wait)

        yield release
        await release()
