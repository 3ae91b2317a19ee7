import pytest

from tests.support.engines import Engines
from tests.support.own_and_foreign_data import World


@pytest.fixture
async def world(open_engine: Engines) -> World:
    """A runner with every permission, and resources behind each of them."""
    return await World(open_engine).open()
