from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from engine.store.database import Database
from engine.store.writer import Writer
from tests.support.store_samples import Heard, make_writer


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "facts.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    opened = Database.open(path, write=True)
    yield opened
    opened.close()


@pytest.fixture
def conn(database: Database) -> Iterator[Connection]:
    with database.writing_connection() as connection:
        yield connection


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
async def writer(database: Database, heard: Heard) -> AsyncIterator[Writer]:
    opened = make_writer(database, heard)
    yield opened
    await opened.close()
