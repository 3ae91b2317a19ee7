from collections.abc import AsyncIterator

import pytest

from tests.support.engines import Engines
from tests.support.paused_runs import House


@pytest.fixture
async def house(open_engine: Engines) -> AsyncIterator[House]:
    """Opens engines whose runners may use a tool and a model that record calls: `engine = await house(runner)`."""
    opened = House(open_engine)
    yield opened
    await opened.close()
