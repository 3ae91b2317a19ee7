"""The log of storage: every change with the entry that made it, so that storage can be read as of a run's start.

The value of a change is known as long as its run is kept. Then the value is removed, but the change stays as long as
its key is stored or another run has changed it, so that no earlier value is taken for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection

from engine.store import parts
from engine.store.entries import row_of
from engine.store.errors import NotFound
from engine.store.hidden_sessions import RUN_IS_SHOWN
from engine.store.parts import PartDamaged, RunParts
from engine.store.row_mapping import driver_of
from engine.store.state import ChangeOrigin

MAX_INLINE_BYTES: Final = 1024
"""A larger value is stored as a part, so that equal values of a run take their bytes once."""
ROW_BYTES: Final = 128
"""Bytes of a change in addition to its key and value, as for an entry of the journal. They count to its limit."""
REMOVAL_COST: Final = 14
"""Removing a change takes as long as deleting 9 to 15 rows of the journal, by processor time."""
_ANY: Final = ""
"""The key of a row that says from where on the log is complete, and its owner if that is so for all owners."""

_NOTE: Final = """
    INSERT INTO storage_changes
    (owner, "key", value, digest, run_id, position, journal_row, editor, at, is_removed)
    VALUES (?, ?, ?, ?, ?, ?, coalesce(?, (SELECT seq FROM sqlite_sequence WHERE name = 'journal') + 1, 1), ?, ?, 0)
"""
_COMPLETE_FROM: Final = f"""
    SELECT max(journal_row) FROM storage_changes WHERE owner IN ('{_ANY}', ?) AND "key" = '{_ANY}'
"""  # noqa: S608
_KEYS: Final = f"""
    SELECT "key" FROM storage WHERE owner = ?1
    UNION SELECT "key" FROM storage_changes WHERE owner = ?1 AND "key" <> '{_ANY}' ORDER BY 1
"""  # noqa: S608
_THEN: Final = """
    SELECT change, value, digest, run_id, is_removed FROM storage_changes
    WHERE owner = ? AND "key" = ? AND journal_row <= ? ORDER BY change DESC LIMIT 1
"""
_NEWEST: Final = 'SELECT max(change) FROM storage_changes WHERE owner = ? AND "key" = ?'
_NOW: Final = 'SELECT value FROM storage WHERE owner = ? AND "key" = ?'
_OF_RUN: Final = 'SELECT change, owner, "key" FROM storage_changes WHERE run_id = ? ORDER BY change LIMIT ?'
_REMOVE: Final = """
    UPDATE storage_changes SET value = NULL, digest = NULL, run_id = NULL, position = NULL, is_removed = 1
    WHERE change = ?
"""
_NEIGHBOURS: Final = """
    SELECT (SELECT max(change) FROM storage_changes WHERE owner = ?1 AND "key" = ?2 AND change < ?3),
    (SELECT min(change) FROM storage_changes WHERE owner = ?1 AND "key" = ?2 AND change > ?3)
"""
_DELETE_REDUNDANT: Final = """
    DELETE FROM storage_changes WHERE change = ?3 AND is_removed = 1
    AND (SELECT is_removed FROM storage_changes WHERE change = (
        SELECT max(change) FROM storage_changes WHERE owner = ?1 AND "key" = ?2 AND change < ?3))
    AND EXISTS (SELECT 1 FROM storage_changes WHERE owner = ?1 AND "key" = ?2 AND change > ?3)
"""
_IS_NEEDED: Final = """
    SELECT EXISTS (SELECT 1 FROM storage WHERE owner = ?1 AND "key" = ?2)
    OR EXISTS (SELECT 1 FROM storage_changes WHERE owner = ?1 AND "key" = ?2 AND is_removed = 0)
"""
_FORGET: Final = 'DELETE FROM storage_changes WHERE owner = ? AND "key" = ? RETURNING journal_row'
_DELETE_MARK: Final = f"""DELETE FROM storage_changes WHERE owner = ? AND "key" = '{_ANY}' RETURNING journal_row"""  # noqa: S608
_MARK: Final = f"""
    INSERT INTO storage_changes (owner, "key", journal_row, editor, at, is_removed)
    VALUES (?, '{_ANY}', ?, 'host', 0, 1)
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class StorageThen:
    """The storage of an owner as it was at some time."""

    values: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    unknown: tuple[str, ...] = ()
    """Keys that may have had a value then, which is not known any more."""
    is_complete: bool = True
    """Whether there was no other key. False if the log began later, or has lost a key that is not stored any more."""

    @property
    def is_known(self) -> bool:
        """Return whether `values` is all that was stored."""
        return self.is_complete and not self.unknown


def note(
    conn: Connection, owner: str, key: str, value: bytes | None, change: ChangeOrigin, run_parts: RunParts | None
) -> None:
    """Log a change of storage; a value of None is a deletion. Costs one INSERT, and those of a large value's parts.

    `run_parts` are the parts of the run that makes the change, whose journal is limited. A value with a secret is in
    the log itself, because parts are shown with the journal; so is a value without a run.
    """
    digest = None
    size = ROW_BYTES + len(key.encode())
    is_large = value is not None and len(value) > MAX_INLINE_BYTES
    if value is not None and run_parts is not None and is_large and not run_parts.has_secret(value):
        digest, value = run_parts.add(conn, value), None
    elif value is not None:
        size += len(value)
    origin = change.run_id, change.position, change.journal_row, change.editor, change.at
    driver_of(conn).execute(_NOTE, (owner, key, value, digest, *origin))
    if run_parts is not None:
        run_parts.stored_bytes += size


def at_start(conn: Connection, owner: str, run_id: str) -> StorageThen:
    """Return the storage of an owner as it was when a run started. Raises NotFound if the run has no first entry.

    Costs two rows of an index for each key that the owner has or had.
    """
    started = row_of(conn, run_id, 1)
    if started is None or not _is_shown(conn, run_id):
        raise NotFound(f"run {run_id} has not started, or its journal is gone.")
    driver = driver_of(conn)
    (complete_from,) = driver.execute(_COMPLETE_FROM, (owner,)).fetchone()
    is_complete = complete_from is None or complete_from <= started
    values: dict[str, bytes] = {}
    unknown: list[str] = []
    for (key,) in driver.execute(_KEYS, (owner,)).fetchall():
        try:
            value = _value_then(conn, owner, key, started, is_complete=is_complete)
        except (NotFound, PartDamaged):
            unknown.append(key)
        else:
            if value is not None:
                values[key] = value
    return StorageThen(values, tuple(unknown), is_complete)


def _is_shown(conn: Connection, run_id: str) -> bool:
    statement = f"SELECT 1 FROM runs WHERE run_id = ? AND {RUN_IS_SHOWN}"  # noqa: S608
    return driver_of(conn).execute(statement, (run_id,)).fetchone() is not None


def _value_then(conn: Connection, owner: str, key: str, row: int, *, is_complete: bool) -> bytes | None:
    """Return the value of a key after the changes up to a journal row; None if it had none.

    Raises NotFound if the value is not known.
    """
    driver = driver_of(conn)
    then = driver.execute(_THEN, (owner, key, row)).fetchone()
    (newest,) = driver.execute(_NEWEST, (owner, key)).fetchone()
    if then is None:
        if newest is None or not is_complete:
            raise NotFound(f"the log of {key!r:.80} does not go back so far.")
        return None
    change, value, digest, run_id, is_removed = then
    if change == newest:
        # Nothing has changed the key since, so it still has the value, also if that is removed from the log.
        now = driver.execute(_NOW, (owner, key)).fetchone()
        return None if now is None else now[0]
    if is_removed or (digest is not None and not parts.is_used_by(conn, run_id, digest)):
        raise NotFound(f"the value of {key!r:.80} was removed from the log.")
    return value if digest is None else parts.read(conn, digest)


def remove_changes(conn: Connection, run_id: str, limit: int) -> int:
    """Remove the values of a run's changes from the log, oldest first. Returns the number of changes.

    Of changes in a row without a value the first is enough, and the newest: it says since when the stored value holds.
    """
    driver = driver_of(conn)
    found = driver.execute(_OF_RUN, (run_id, limit)).fetchall()
    for change, owner, key in found:
        driver.execute(_REMOVE, (change,))
        before, after = driver.execute(_NEIGHBOURS, (owner, key, change)).fetchone()
        for each in (before, change, after):
            driver.execute(_DELETE_REDUNDANT, (owner, key, each))
        if not driver.execute(_IS_NEEDED, (owner, key)).fetchone()[0]:
            _forget_key(conn, owner, key)
    return len(found)


def _forget_key(conn: Connection, owner: str, key: str) -> None:
    """Delete a key from the log that only removed changes name, and note that the log is complete only after them."""
    driver = driver_of(conn)
    forgotten = driver.execute(_FORGET, (owner, key)).fetchall() + driver.execute(_DELETE_MARK, (owner,)).fetchall()
    driver.execute(_MARK, (owner, max(row for (row,) in forgotten)))
