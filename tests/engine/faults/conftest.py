"""Marks every process that a test starts, so that leftovers can be found."""

import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.faults.faults import MARK_VARIABLE, PooledEngine, open_pooled_engine


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    value = secrets.token_hex(8)
    monkeypatch.setenv(MARK_VARIABLE, value)
    return value


@pytest.fixture
async def host(tmp_path: Path, mark: str) -> AsyncIterator[PooledEngine]:
    async with open_pooled_engine(tmp_path / "facts.db") as opened:
        yield opened
