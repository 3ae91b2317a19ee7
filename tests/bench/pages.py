"""A deep page of a long journal against its first page."""

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.store import entries
from engine.store.database import Database
from tests.bench.lines import Line, at_most, print_lines

ENTRIES = 1_000_000
DEPTH = 990_000
ROUNDS = 200

FILL = """
INSERT INTO journal (run_id, position, at, source, type, data, turn)
WITH RECURSIVE count(position) AS (SELECT 1 UNION ALL SELECT position + 1 FROM count WHERE position < ?)
SELECT 'run', position, position, 'runner', 'message.delta', ?, 1 FROM count
"""


def measure() -> Iterator[Line]:
    """Read the same pages in turn and take the best time of each."""
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        database = Database.open(Path(folder, "bench.db"), write=True)
        with database.writing_connection() as connection:
            connection.exec_driver_sql(FILL, (ENTRIES, '{"chunk":{"content":"' + "x" * 300 + '"}}'))
        rounds = [
            (_time_page(database, 0), _time_page(database, DEPTH), _time_page(database, None)) for _ in range(ROUNDS)
        ]
        first, deep, last = (min(times) for times in zip(*rounds, strict=True))
        database.close()
    yield at_most("journal page at 990,000 of 1,000,000", deep, "ms", first, aim=2)
    yield at_most("last journal page, backwards", last, "ms", first, aim=2)


def _time_page(database: Database, after: int | None) -> float:
    """Return the milliseconds of reading a hundred entries after a position, or the last hundred."""
    before = ENTRIES + 1 if after is None else None
    began = time.perf_counter()
    page = database.read_now(lambda conn: entries.page(conn, "run", after=after, before=before))
    took = time.perf_counter() - began
    if len(page) != 100:
        raise AssertionError(f"{len(page)} entries on a page of 100")
    return took * 1_000


if __name__ == "__main__":
    print_lines(measure())
