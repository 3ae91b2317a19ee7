"""Marks every process that a test starts, so that leftovers can be found."""

import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.faults.faults import MARK, Stage, stage


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    value = secrets.token_hex(8)
    monkeypatch.setenv(MARK, value)
    return value


@pytest.fixture
async def host(tmp_path: Path, mark: str) -> AsyncIterator[Stage]:
    async with stage(tmp_path / "facts.db") as opened:
        yield opened
