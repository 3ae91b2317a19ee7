from collections.abc import AsyncIterator

import pytest

from tests.support.engines import Engines
from tests.support.paused_runs import ToolEngines


@pytest.fixture
async def tool_engines(open_engine: Engines) -> AsyncIterator[ToolEngines]:
    """Opens engines whose runners may use a tool and a model that record calls: `engine = await house(runner)`."""
    opened = ToolEngines(open_engine)
    yield opened
    await opened.close()
