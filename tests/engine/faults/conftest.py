"""Marks every process that a test starts, so that leftovers can be found."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.support.faults.faults import PooledEngine, open_pooled_engine, process_mark


@pytest.fixture
def mark() -> Iterator[str]:
    with process_mark() as value:
        yield value


@pytest.fixture
async def host(tmp_path: Path, mark: str) -> AsyncIterator[PooledEngine]:
    async with open_pooled_engine(tmp_path / "facts.db") as opened:
        yield opened
