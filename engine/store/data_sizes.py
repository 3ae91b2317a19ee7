"""How many bytes stored data takes: the content of rows, and the used pages of the database file."""

from functools import cache
from typing import Final

from sqlalchemy import Connection, Integer, Table

from engine.store import memory_state

NUMBER_BYTES: Final = 8
"""Bytes that are counted for a number; SQLite takes 1 to 8."""


@cache
def row_bytes(table: Table) -> str:
    """Return the SQL expression for the bytes of a row: its texts in UTF-8, its BLOBs and its numbers.

    Indexes, and what SQLite adds to a row, are not counted. The expression reads texts, but not the content of BLOBs.
    """
    sizes = [
        f'iif({table.name}."{column.name}" IS NULL, 0, {NUMBER_BYTES})'
        if isinstance(column.type, Integer)
        else f'coalesce(length(CAST({table.name}."{column.name}" AS BLOB)), 0)'
        for column in table.columns
    ]
    return f"({' + '.join(sizes)})"


def used_bytes(conn: Connection) -> int:
    """Return the bytes of the pages that hold data. The file may be larger: new data fills its unused pages."""
    names = {row[1] for row in conn.exec_driver_sql("PRAGMA database_list")}
    schema = memory_state.FILE if memory_state.FILE in names else "main"
    pages, free, size = (
        conn.exec_driver_sql(f"PRAGMA {schema}.{name}").scalar_one()
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size
