"""The baseline of throughput: SQLite alone writes the entries of a run in one transaction."""

import sqlite3
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.store.database import Database
from engine.store.entries import INSERT_ONE, Entry


def rows_per_second(entries: list[Entry]) -> float:
    """Return how many entries SQLite writes per second into the same schema, with its index, on the same disk."""
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        path = Path(folder, "raw.db")
        Database.open(path, write=True).close()
        driver = sqlite3.connect(path, isolation_level=None)
        driver.execute("PRAGMA synchronous = NORMAL")
        began = time.perf_counter()
        driver.execute("BEGIN IMMEDIATE")
        driver.executemany(INSERT_ONE, entries)
        driver.execute("COMMIT")
        seconds = time.perf_counter() - began
        driver.close()
    return len(entries) / seconds
