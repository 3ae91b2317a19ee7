from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.engines import Engines, FakeClock
from tests.support.queue.steering import Talk, check_books, open_talk


@pytest.fixture
async def open_engine(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Engines]:
    """Like the fixture of the engine; and when all engines are closed, every message must have exactly one fate."""
    engines = Engines(tmp_path, clock)
    yield engines
    await engines.close_all()
    if engines.db.exists():
        check_books(engines.db)


@pytest.fixture
async def talk(open_engine: Engines) -> Talk:
    return await open_talk(open_engine)
