"""Deletes data by age. The same selection is listed or deleted, so a list names exactly what is deleted after it.

The selection is a temporary table. It is complete before the first row is deleted, so the order of deletion has no
influence on it.
"""

# ruff: noqa: S608  (the statements contain names of columns and values of enums only)

from collections import Counter
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final

from sqlalchemy import Connection

from engine.events import FINAL_FATES, FINAL_STATUSES, LIVE_STATUSES
from engine.store import index_cleanup, storage_log, tables
from engine.store.artifacts import REFERENCED_ID, REFERENCES
from engine.store.data_sizes import row_bytes, used_bytes
from engine.store.deletion import AUDIT_SOURCES, Deleted, audit
from engine.store.row_mapping import driver_of


class DataKind(StrEnum):
    """A kind of data that is deleted by age. Each has the name of its field in `Deleted`."""

    RUNS = "runs"
    JOURNAL = "journal"
    PARTS = "parts"
    STORAGE_LOG = "storage_log"
    QUEUE = "queue"
    EVENTS = "events"
    TRANSCRIPT = "transcript"
    ARTIFACTS = "artifacts"
    BLOBS = "blobs"


@dataclass(frozen=True, slots=True)
class PrunedRows:
    """Rows of one kind in one session."""

    session_id: str | None
    """None for data that belongs to no session. Content that several sessions share is listed for one of them."""
    kind: DataKind
    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class PrunedData:
    """What `prune` deletes or has deleted."""

    rows: tuple[PrunedRows, ...]
    """In the order of the session ids, and of the kinds in each session."""
    freed_bytes: int = 0
    """The bytes of the pages of the file that are free now; 0 if nothing was deleted yet."""

    @property
    def counts(self) -> Deleted:
        """The number of rows of each kind."""
        total = Counter[str]()
        for each in self.rows:
            total[each.kind] += each.count
        return Deleted(**total)

    @property
    def total_bytes(self) -> int:
        return sum(each.bytes for each in self.rows)


def list_prunable(conn: Connection, older_than: int, now: int) -> PrunedData:
    """Return what `prune` would delete, and change nothing. Reads all that it lists."""
    selected = _select(conn, older_than, now)
    _drop_selection(conn)
    return selected


def prune(conn: Connection, older_than: int, now: int, *, event_id: str) -> PrunedData:
    """Delete events, transcript lines and ended runs older than a time, and expired artifacts.

    Data of live runs and the events of queued messages and of kept runs are kept, and so are artifacts that a kept line
    refers to, such as one of a fork. State and storage are never deleted.
    """
    before = used_bytes(conn)
    selected = _select(conn, older_than, now)
    driver = driver_of(conn)
    for (run_id,) in driver.execute(_RUNS_WITH_STORAGE_LOG).fetchall():
        storage_log.remove_changes(conn, run_id, limit=-1)
    for statement in _DELETE:
        driver.execute(statement)
    _drop_selection(conn)
    deleted = selected.counts
    audit(conn, "facts.pruned", event_id, now, {"older_than": older_than, "deleted": asdict(deleted)})
    index_cleanup.request(conn, has_words=deleted.transcript > 0)
    return PrunedData(selected.rows, max(0, before - used_bytes(conn)))


def _select(conn: Connection, older_than: int, now: int) -> PrunedData:
    driver = driver_of(conn)
    _drop_selection(conn)
    driver.execute(_CREATE)
    for statement in _SELECT:
        driver.execute(f"INSERT INTO temp.pruned {statement}", {"older_than": older_than, "now": now})
    order = list(DataKind)
    rows = [PrunedRows(session, DataKind(kind), *sizes) for session, kind, *sizes in driver.execute(_TOTALS)]
    rows.sort(key=lambda each: (each.session_id is None, each.session_id or "", order.index(each.kind)))
    return PrunedData(tuple(rows))


def _drop_selection(conn: Connection) -> None:
    driver_of(conn).execute("DROP TABLE IF EXISTS temp.pruned")


def _listed(values: "frozenset[str] | tuple[str, ...]") -> str:
    return ", ".join(f"'{each}'" for each in sorted(values))


def _chosen(kind: DataKind) -> str:
    return f"(SELECT item FROM temp.pruned WHERE kind = '{kind}')"


_CREATE: Final = """
    CREATE TEMP TABLE pruned (
        kind TEXT NOT NULL, item NOT NULL, session_id TEXT, count INTEGER NOT NULL, bytes INTEGER NOT NULL,
        PRIMARY KEY (kind, item)
    ) WITHOUT ROWID
"""
_TOTALS: Final = "SELECT session_id, kind, sum(count), sum(bytes) FROM temp.pruned GROUP BY session_id, kind"
_KEPT_RUNS: Final = f"SELECT run_id FROM runs WHERE run_id NOT IN {_chosen(DataKind.RUNS)}"
_SELECT: Final = (
    f"""
    SELECT '{DataKind.RUNS}', run_id, conversation_id, 1, {row_bytes(tables.runs)} FROM runs
    WHERE status IN ({_listed(FINAL_STATUSES)}) AND finished_at < :older_than
    """,
    f"""
    SELECT '{DataKind.JOURNAL}', journal.run_id, session_id, count(*), sum({row_bytes(tables.journal)})
    FROM temp.pruned JOIN journal ON journal.run_id = item WHERE kind = '{DataKind.RUNS}' GROUP BY item
    """,
    f"""
    SELECT '{DataKind.STORAGE_LOG}', change, session_id, 1, {row_bytes(tables.storage_changes)}
    FROM temp.pruned JOIN storage_changes ON storage_changes.run_id = item WHERE kind = '{DataKind.RUNS}'
    """,
    # A part goes if as many runs use it as are deleted of those.
    f"""
    SELECT '{DataKind.PARTS}', parts.digest, min(session_id), 1, {row_bytes(tables.parts)}
    FROM temp.pruned JOIN part_uses ON part_uses.run_id = item JOIN parts ON parts.digest = part_uses.digest
    WHERE pruned.kind = '{DataKind.RUNS}' GROUP BY parts.digest
    HAVING count(*) = (SELECT count(*) FROM part_uses AS uses WHERE uses.digest = parts.digest)
    """,
    f"""
    SELECT '{DataKind.QUEUE}', item_id, conversation_id, 1, {row_bytes(tables.queue)} FROM queue
    WHERE fate IN ({_listed(FINAL_FATES)}) AND decided_at < :older_than
    """,
    # Without its event, a run could be started again by an event that was sent twice.
    f"""
    SELECT '{DataKind.EVENTS}', seq, conversation_id, 1, {row_bytes(tables.events)} FROM events
    WHERE created_at < :older_than
    AND event_id NOT IN (SELECT event_id FROM runs WHERE event_id IS NOT NULL AND run_id IN ({_KEPT_RUNS}))
    AND event_id NOT IN (SELECT event_id FROM queue WHERE fate NOT IN ({_listed(FINAL_FATES)}))
    AND (source IN ({_listed(AUDIT_SOURCES)}) OR run_id IS NULL OR run_id NOT IN ({_KEPT_RUNS}))
    """,
    f"""
    SELECT '{DataKind.TRANSCRIPT}', seq, conversation_id, 1, {row_bytes(tables.transcript)} FROM transcript
    WHERE created_at < :older_than AND (
        run_id IS NULL OR run_id NOT IN (SELECT run_id FROM runs WHERE status IN ({_listed(LIVE_STATUSES)}))
    )
    """,
    # The lines of a fork refer to the artifacts of the runs that wrote the original lines.
    f"""
    SELECT '{DataKind.ARTIFACTS}', artifact_id, conversation_id, 1, {row_bytes(tables.artifacts)} FROM artifacts
    WHERE expires_at <= :now OR (
        created_at < :older_than AND run_id IS NOT NULL AND run_id NOT IN ({_KEPT_RUNS})
        AND artifact_id NOT IN (
            SELECT {REFERENCED_ID} FROM {REFERENCES}
            WHERE {REFERENCED_ID} IS NOT NULL AND transcript.seq NOT IN {_chosen(DataKind.TRANSCRIPT)}
        )
    )
    """,
    f"""
    SELECT '{DataKind.BLOBS}', artifact_blobs.blob_key, min(session_id), 1, {row_bytes(tables.artifact_blobs)}
    FROM temp.pruned JOIN artifacts ON artifact_id = item
    JOIN artifact_blobs ON artifact_blobs.blob_key = artifacts.blob_key
    WHERE kind = '{DataKind.ARTIFACTS}' GROUP BY artifact_blobs.blob_key
    HAVING count(*) = (SELECT count(*) FROM artifacts AS others WHERE others.blob_key = artifact_blobs.blob_key)
    """,
)
"""One SELECT for each kind: kind, key of the row, session, number of rows and bytes. Each may use those before it."""
_RUNS_WITH_STORAGE_LOG: Final = f"""
    SELECT DISTINCT run_id FROM storage_changes WHERE change IN {_chosen(DataKind.STORAGE_LOG)}
"""
_DELETE: Final = (
    f"DELETE FROM journal WHERE run_id IN {_chosen(DataKind.JOURNAL)}",
    f"DELETE FROM part_uses WHERE run_id IN {_chosen(DataKind.RUNS)}",
    f"DELETE FROM parts WHERE digest IN {_chosen(DataKind.PARTS)}",
    f"DELETE FROM runs WHERE run_id IN {_chosen(DataKind.RUNS)}",
    f"DELETE FROM queue WHERE item_id IN {_chosen(DataKind.QUEUE)}",
    f"DELETE FROM events WHERE seq IN {_chosen(DataKind.EVENTS)}",
    f"DELETE FROM transcript WHERE seq IN {_chosen(DataKind.TRANSCRIPT)}",
    f"DELETE FROM artifacts WHERE artifact_id IN {_chosen(DataKind.ARTIFACTS)}",
    f"DELETE FROM artifact_blobs WHERE blob_key IN {_chosen(DataKind.BLOBS)}",
)
