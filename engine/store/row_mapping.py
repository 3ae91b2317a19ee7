"""Maps between table rows and dataclasses whose fields have the names of the columns."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar, cast

from sqlalchemy import ColumnElement, Connection, Select, Table, Update, and_, bindparam, update

from engine.store.tokenizer import folded

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ConversationKey:
    """Identifies a conversation or thread. None matches only None: a thread's lines are not the conversation's own."""

    conversation_id: str | None
    thread_id: str | None = None
    bot_id: str | None = None
    workspace_id: str | None = None

    def within(self, table: Table) -> ColumnElement[bool]:
        """Return the condition that a row of the table has exactly this key."""
        return and_(*(table.c[each.name].is_not_distinct_from(getattr(self, each.name)) for each in fields(self)))

    @classmethod
    def within_bound(cls, table: Table) -> ColumnElement[bool]:
        """Return the same condition with a bound parameter for each part, for statements that are compiled once."""
        return and_(*(table.c[each.name].is_not_distinct_from(bindparam(each.name)) for each in fields(cls)))

    def parameters(self) -> dict[str, str | None]:
        """Return the values for the parameters of `within_bound`."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


def driver_of(conn: Connection) -> sqlite3.Connection:
    """Return the sqlite3 connection, for speed or for functions that SQLAlchemy lacks."""
    return cast(sqlite3.Connection, conn.connection.driver_connection)


def teach_folding(conn: Connection) -> None:
    """Define `folded(text)` in SQL, because SQLite's lower() only handles ASCII letters."""
    driver_of(conn).create_function("folded", 1, _folded, deterministic=True)


def _folded(text: str | None) -> str | None:
    return None if text is None else folded(text)


def values(row: Any, *, without: str | None = None) -> dict[str, Any]:
    """Return the fields of a dataclass as column values; `without` names a column to leave out."""
    return {each.name: getattr(row, each.name) for each in fields(row) if each.name != without}


def first(conn: Connection, query: Select[Any], kind: type[T]) -> T | None:
    """Return the first row as its dataclass, or None."""
    row = conn.execute(query.limit(1)).mappings().first()
    return None if row is None else kind(**row)


def every(conn: Connection, query: Select[Any], kind: type[T], given: Mapping[str, Any] | None = None) -> list[T]:
    """Return all rows as dataclasses; `given` are the bound parameters of a prebuilt query."""
    return [kind(**row) for row in conn.execute(query, given or {}).mappings()]


def one(conn: Connection, query: Select[Any], kind: type[T], given: Mapping[str, Any]) -> T | None:
    """Return the row of a prebuilt query, or None. Building a query would take longer than running it."""
    row = conn.execute(query, given).mappings().first()
    return None if row is None else kind(**row)


def saving(table: Table, key: str) -> Update:
    """Return the statement that writes all columns of a row; the key is bound as `its_key`."""
    others: dict[str, Any] = {column.name: bindparam(column.name) for column in table.columns if column.name != key}
    return update(table).where(table.c[key] == bindparam("its_key")).values(others)


def merged(before: Mapping[str, Any] | None, more: Mapping[str, Any] | None) -> dict[str, Any]:
    return {**(before or {}), **(more or {})}
