from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support import Engines, FakeClock, Stage, open_stage


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def open_engine(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Engines]:
    """Opens a real engine on `tmp_path` with runners that live in the test: `await open_engine(run, agents=[…])`."""
    engines = Engines(tmp_path, clock)
    yield engines
    await engines.close_all()


@pytest.fixture
async def play(open_engine: Engines) -> Stage:
    """A run of these results: `run = await play(delta("a"), done())`."""
    return await open_stage(open_engine)
