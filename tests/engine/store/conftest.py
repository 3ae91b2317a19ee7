from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from engine.store.database import Database
from engine.store.writer import Writer
from tests.support.store_samples import RecordedCallbacks, make_writer


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
def callbacks() -> RecordedCallbacks:
    return RecordedCallbacks()


@pytest.fixture
async def writer(database: Database, callbacks: RecordedCallbacks) -> AsyncIterator[Writer]:
    opened = make_writer(database, callbacks)
    yield opened
    await opened.close()
