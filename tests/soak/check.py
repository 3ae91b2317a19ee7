"""Checks a database after a soak, with plain SQL and against what the hosts logged."""

import json
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from engine.api import Entry
from engine.events import FINAL_FATES, FINAL_STATUSES

MAX_GROWTH_BYTES: Final = 64 * 1024 * 1024
MAX_NEW_DESCRIPTORS: Final = 40


def read_logs(logs: list[Path]) -> list[list[dict[str, Any]]]:
    """Return the lines of each host; a line that a kill cut off is left out."""
    return [[json.loads(line) for line in path.read_bytes().split(b"\n")[:-1] if line] for path in logs]


def findings(database: Path, logs: list[list[dict[str, Any]]]) -> Iterator[str]:
    """Yield everything that must not be."""
    connection = sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)
    try:
        yield from _sql_findings(connection)
        yield from _log_findings(connection, logs)
    finally:
        connection.close()


def _sql_findings(connection: sqlite3.Connection) -> Iterator[str]:
    for (problem,) in connection.execute("PRAGMA integrity_check"):
        if problem != "ok":
            yield f"integrity: {problem}"
    final = ", ".join(f"'{status}'" for status in FINAL_STATUSES)
    for run_id, status in connection.execute(f"SELECT run_id, status FROM runs WHERE status NOT IN ({final})"):
        yield f"run {run_id} is still {status}"
    fates = ", ".join(f"'{fate}'" for fate in FINAL_FATES)
    for item_id, fate in connection.execute(f"SELECT item_id, fate FROM queue WHERE fate NOT IN ({fates})"):
        yield f"message {item_id} has no final fate: {fate}"
    for run_id, count, last in connection.execute(
        "SELECT run_id, count(*), max(position) FROM journal GROUP BY run_id HAVING count(*) != max(position)"
    ):
        yield f"the journal of {run_id} has gaps: {count} entries, the last is {last}"
    for run_id, ends in connection.execute(
        "SELECT r.run_id, sum(j.type = 'run.finished') FROM runs r LEFT JOIN journal j USING (run_id) "
        "GROUP BY r.run_id HAVING ifnull(sum(j.type = 'run.finished'), 0) != 1"
    ):
        yield f"run {run_id} has {ends or 0} ends"
    for (run_id,) in connection.execute(
        "SELECT DISTINCT j.run_id FROM journal j LEFT JOIN runs r USING (run_id) WHERE r.run_id IS NULL"
    ):
        yield f"there are entries of {run_id}, which does not exist"
    for item_id, own in connection.execute(
        "SELECT q.item_id, q.own_run_id FROM queue q LEFT JOIN runs r ON r.run_id = q.own_run_id "
        "WHERE q.own_run_id IS NOT NULL AND r.run_id IS NULL"
    ):
        yield f"message {item_id} became run {own}, which does not exist"


def _log_findings(connection: sqlite3.Connection, logs: list[list[dict[str, Any]]]) -> Iterator[str]:
    lines = [line for log in logs for line in log]
    for line in lines:
        if "failed" in line:
            yield f"an action raised: {line['failed']}: {line['traceback']}"
        if "stuck" in line:
            yield f"run {line['stuck']} was continued and stayed paused"
    deleted = {line["deleting"] for line in lines if "deleting" in line}
    has_pruned = any("pruning" in line for line in lines)
    yield from _lost_entries(connection, lines, may_be_deleted=bool(deleted) or has_pruned)
    known = {event for (event,) in connection.execute("SELECT event_id FROM runs UNION SELECT event_id FROM queue")}
    for line in lines:
        event_id = line.get("accepted")
        if event_id is not None and event_id not in known and line["session"] not in deleted and not has_pruned:
            yield f"event {event_id} was accepted and has neither a run nor a fate"
    for log in logs:
        if log and "closed" in log[-1]:
            settled = {line["settled"] for line in log if "settled" in line}
            unsettled = [line["accepted"] for line in log if "accepted" in line and line["accepted"] not in settled]
            yield from (f"the ticket of {event_id} was never settled" for event_id in unsettled)
            yield from _growth(log)


def _lost_entries(
    connection: sqlite3.Connection, lines: list[dict[str, Any]], *, may_be_deleted: bool
) -> Iterator[str]:
    """Yield entries that a host announced and that are not stored as they were announced."""
    announced: dict[str, dict[int, int]] = defaultdict(dict)
    for line in lines:
        for run_id, position, checksum in line.get("announced", ()):
            announced[run_id][position] = checksum
    stored = {run_id for (run_id,) in connection.execute("SELECT run_id FROM runs")}
    columns = "run_id, position, at, source, type, data, outcome, reason, sequence, turn"
    for run_id, positions in announced.items():
        if run_id not in stored:
            if not may_be_deleted:
                yield f"run {run_id} was announced and is not stored"
            continue
        rows = connection.execute(f"SELECT {columns} FROM journal WHERE run_id = ?", (run_id,))
        kept = {row[1]: zlib.crc32(Entry(*row).line().encode()) for row in rows}
        for position, checksum in positions.items():
            if kept.get(position) != checksum:
                yield f"entry {position} of {run_id} was announced and is {'lost' if position not in kept else 'other'}"


def _growth(log: list[dict[str, Any]]) -> Iterator[str]:
    """Yield whether a host that lived long enough grew in the second half of its life."""
    samples = [line["sample"] for line in log if "sample" in line]
    if len(samples) < 24:
        return
    middle, late = samples[len(samples) // 2 : len(samples) // 2 + 4], samples[-4:]
    grown = min(memory for _, memory, _ in late) - max(memory for _, memory, _ in middle)
    if grown > MAX_GROWTH_BYTES:
        yield f"memory grew by {grown / 2**20:.0f} MiB in the second half"
    more = min(count for _, _, count in late) - max(count for _, _, count in middle)
    if more > MAX_NEW_DESCRIPTORS:
        yield f"{more} descriptors more than in the middle"
