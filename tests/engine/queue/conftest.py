from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.engines import Engines, FakeClock
from tests.support.queue.steering import SteeringHarness, check_stored_data, open_steering


@pytest.fixture
async def open_engine(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Engines]:
    """Like the fixture of the engine; and when all engines are closed, every message must have exactly one fate."""
    engines = Engines(tmp_path, clock)
    yield engines
    await engines.close_all()
    if engines.db.exists():
        check_stored_data(engines.db)


@pytest.fixture
async def steering(open_engine: Engines) -> SteeringHarness:
    return await open_steering(open_engine)
