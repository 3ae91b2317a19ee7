"""State in memory, for tests: state tables that are gone when their database is closed."""

import sqlite3
from pathlib import Path
from typing import Final
from uuid import uuid4

from sqlalchemy import MetaData, StaticPool, create_engine

from engine.store import tables

FILE: Final = "stored"
"""The name of the database file on a connection whose main database is the state in memory."""
_TABLES: Final = (tables.state, tables.state_totals, tables.state_changes)


class MemoryState:
    """The state tables in memory, and connections on which they hide those of a database file.

    SQLite looks for a table in the main database first. So the main database of these connections is the state, and the
    file is attached: every statement works as usual, and a transaction covers both.
    """

    def __init__(self) -> None:
        # The name begins with a slash: then all connections of this process to it share one database.
        self._address = f"file:/trackside-state-{uuid4().hex}?vfs=memdb"
        self._engine = create_engine("sqlite+pysqlite://", creator=self._open, poolclass=StaticPool)
        """Holds one connection open, because the database lasts as long as a connection to it."""
        own = MetaData()
        for table in _TABLES:
            # Without AUTOINCREMENT: its table would hide that of the file, which has the last row of the journal.
            table.to_metadata(own).dialect_options["sqlite"]["autoincrement"] = False
        with self._engine.begin() as connection:
            own.create_all(connection)
            for statement in tables.STATE_TOTALS:
                connection.exec_driver_sql(statement)

    def connect(self, path: Path, mode: str, busy: float) -> sqlite3.Connection:
        """Open a connection to the state and a database file, in autocommit mode."""
        driver = self._open(busy)
        # By default SQLite would open the file in memory as well.
        driver.execute(f"ATTACH ? AS {FILE}", (f"{path.as_uri()}?vfs=unix&mode={mode}",))
        return driver

    def close(self) -> None:
        """Delete the state, once all other connections are closed."""
        self._engine.dispose()

    def _open(self, busy: float = 0.0) -> sqlite3.Connection:
        return sqlite3.connect(self._address, uri=True, timeout=busy, isolation_level=None, check_same_thread=False)
