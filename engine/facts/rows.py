"""Between a row of a table and its dataclass; both have the same names."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar, cast

from sqlalchemy import ColumnElement, Connection, Select, Table, Update, and_, bindparam, update

from engine.facts.words import folded

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was said. Nothing equals only nothing: a thread's lines are not the conversation's own."""

    conversation_id: str | None
    thread_id: str | None = None
    bot_id: str | None = None
    workspace_id: str | None = None

    def within(self, table: Table) -> ColumnElement[bool]:
        """The condition that a row of this table is of this very place."""
        return and_(*(table.c[each.name].is_not_distinct_from(getattr(self, each.name)) for each in fields(self)))


def driver_of(conn: Connection) -> sqlite3.Connection:
    """SQLite's own connection, for what must be quick or what only it can do."""
    return cast(sqlite3.Connection, conn.connection.driver_connection)


def teach_folding(conn: Connection) -> None:
    """Have `folded(text)` in SQL: SQLite's own lower() knows ASCII letters alone."""
    driver_of(conn).create_function("folded", 1, _folded, deterministic=True)


def _folded(text: str | None) -> str | None:
    return None if text is None else folded(text)


def values(row: Any, *, without: str | None = None) -> dict[str, Any]:
    """A dataclass as column values; `without` names the column that the database numbers."""
    return {each.name: getattr(row, each.name) for each in fields(row) if each.name != without}


def first(conn: Connection, query: Select[Any], kind: type[T]) -> T | None:
    """The first row as its dataclass."""
    row = conn.execute(query.limit(1)).mappings().first()
    return None if row is None else kind(**row)


def every(conn: Connection, query: Select[Any], kind: type[T], given: Mapping[str, Any] | None = None) -> list[T]:
    """All rows; `given` are the values of a query that was built once."""
    return [kind(**row) for row in conn.execute(query, given or {}).mappings()]


def one(conn: Connection, query: Select[Any], kind: type[T], given: Mapping[str, Any]) -> T | None:
    """The one row of a query that was built once: building it would take longer than asking."""
    row = conn.execute(query, given).mappings().first()
    return None if row is None else kind(**row)


def saving(table: Table, key: str) -> Update:
    """The statement that writes a whole row anew; its key is given as `its_key`."""
    others: dict[str, Any] = {column.name: bindparam(column.name) for column in table.columns if column.name != key}
    return update(table).where(table.c[key] == bindparam("its_key")).values(others)


def merged(before: Mapping[str, Any] | None, more: Mapping[str, Any] | None) -> dict[str, Any]:
    return {**(before or {}), **(more or {})}
