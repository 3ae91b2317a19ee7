"""Reads the journal in slices, for migrations of large databases."""

from collections.abc import Iterator
from typing import Final

from alembic import context, op

ON_ENTRIES: Final = "on_entries"
"""The attribute of alembic's configuration that is called after each slice."""
SLICE_ROWS: Final = 20_000
"""Journal rows per statement: 20 ms, and SQLite's statement journal stays small in a large database."""


def journal_slices() -> Iterator[tuple[int, int]]:
    """Yield the first and the last row of slices that cover the journal, and report each when it is done."""
    first, last = op.get_bind().exec_driver_sql("SELECT min(row), max(row) FROM journal").one()
    on_entries = context.config.attributes.get(ON_ENTRIES)
    for start in range(first or 1, (last or 0) + 1, SLICE_ROWS):
        yield start, start + SLICE_ROWS - 1
        if on_entries is not None:
            on_entries(min(SLICE_ROWS, last - start + 1))
