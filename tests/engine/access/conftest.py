import pytest

from tests.support.engines import Engines
from tests.support.own_and_foreign_data import AccessHarness


@pytest.fixture
async def harness(open_engine: Engines) -> AccessHarness:
    """A runner with every permission, and resources behind each of them."""
    return await AccessHarness(open_engine).open()
