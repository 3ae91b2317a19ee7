import pytest

from tests.access.world import World
from tests.support import Engines


@pytest.fixture
async def world(open_engine: Engines) -> World:
    """A runner with every permission, and resources behind each of them."""
    return await World(open_engine).open()
