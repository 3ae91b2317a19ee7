"""A full disk, a locked database and reached limits: announced entries are on disk, and work continues afterwards."""

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.journal.recorder import ROW_BYTES
from engine.store.database import Database
from engine.store.errors import DiskFull
from tests.support.faults.faults import (
    FinishedRun,
    PooledEngine,
    open_pooled_engine,
    other_process,
    read_line,
    until,
    write_line,
)
from tests.support.small_disk import small_disk

HERE = Path(__file__).resolve().parents[2] / "support" / "faults"
STREAMER = HERE / "streamer.py"
LOCKER = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
held.execute("ROLLBACK")
"""


async def collect_lines(opened: PooledEngine, announced: list[str]) -> None:
    async with opened.engine.subscribe() as news:
        async for batch in news:
            announced.extend(each.entry.line() for each in batch)


async def check_a_full_disk(opened: PooledEngine, fill: Callable[[], None], free: Callable[[], None]) -> None:
    """Fill the disk under a run that streams, then free it: the run is stopped and closed, the next one works."""
    engine = opened.engine
    announced: list[str] = []
    listening = asyncio.ensure_future(collect_lines(opened, announced))
    run_id = await opened.start_run("streamer", "go", count=2_000_000)
    await until(lambda: len(announced) > 100)
    fill()
    await engine.runs.wait_for_end(run_id)

    assert isinstance(engine.last_error, DiskFull)
    assert "is full" in str(engine.last_error) or "space" in str(engine.last_error)
    before = len(announced)
    broken = await opened.wait_for_end(run_id)
    kept = {entry.line() for entry in broken.entries}
    assert set(announced[:before]) <= kept
    assert [entry.position for entry in broken.entries] == list(range(1, len(broken.entries) + 1))

    free()
    played = await opened.run("streamer", "again", count=20)
    assert played.run.status == "completed"
    closed = await opened.wait_for_end(run_id)
    closed.check_journal()
    assert (closed.run.status, closed.run.status_reason) == ("failed", "storage.failed")
    assert closed.last["retryable"] is True
    # Some of the entries that the recorder counted were not written.
    assert closed.run.journal_bytes == sum(len(entry.data.encode()) + ROW_BYTES for entry in closed.entries)
    await until(lambda: announced[-1:] == [played.entries[-1].line()])
    listening.cancel()
    assert {line for line in announced if f'"run_id":"{run_id}"' in line} == {entry.line() for entry in closed.entries}
    assert await engine.integrity() == []


async def test_full_disk_stops_the_run_and_no_announced_entry_is_lost(tmp_path: Path, mark: str):
    with small_disk(tmp_path / "disk", "8m") as disk:

        def fill() -> None:
            with (disk / "filler").open("wb", buffering=0) as filler:  # no rest that fails when it is closed
                try:
                    while True:
                        filler.write(bytes(64 * 1024))
                except OSError:
                    pass

        async with open_pooled_engine(disk / "facts.db", STREAMER) as opened:
            await check_a_full_disk(opened, fill, (disk / "filler").unlink)


async def test_database_at_its_size_limit_stops_the_run_and_no_announced_entry_is_lost(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
):
    limit = 0
    connections: list[sqlite3.Connection] = []
    connect = Database._connect_to_write

    def limited(database: Database) -> sqlite3.Connection:
        driver = connect(database)
        if limit:
            driver.execute(f"PRAGMA max_page_count = {limit}")
        connections.append(driver)
        return driver

    def fill() -> None:
        nonlocal limit
        limit = 1  # SQLite takes this as: no more pages than now
        connections[-1].execute("PRAGMA max_page_count = 1")

    def free() -> None:
        nonlocal limit
        limit = 0

    monkeypatch.setattr(Database, "_connect_to_write", limited)
    async with open_pooled_engine(tmp_path / "facts.db", STREAMER) as opened:
        await check_a_full_disk(opened, fill, free)


async def test_no_entry_is_recorded_after_entries_that_the_disk_refused(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
):
    connections: list[sqlite3.Connection] = []
    connect = Database._connect_to_write

    def noted(database: Database) -> sqlite3.Connection:
        connections.append(connect(database))
        return connections[-1]

    monkeypatch.setattr(Database, "_connect_to_write", noted)
    async with open_pooled_engine(tmp_path / "moment.db") as opened:
        run_id = await opened.start_run("chaos", "flood forever", timeout=30)
        await opened.wait_for_entry(run_id, "message.delta")
        # Full for this connection only: the next one, a moment later, can write again.
        connections[-1].execute("PRAGMA max_page_count = 1")
        played = await opened.wait_for_end(run_id)
        played.check_journal()
        assert (played.run.status, played.run.status_reason) == ("failed", "storage.failed")


async def test_a_run_that_a_full_disk_left_open_is_closed_by_the_next_host(tmp_path: Path, mark: str):
    with small_disk(tmp_path / "disk", "8m") as disk:
        async with open_pooled_engine(disk / "facts.db", STREAMER) as opened:
            run_id = await opened.start_run("streamer", "go", count=2_000_000)
            await opened.wait_for_entry(run_id, "message.delta")
            with pytest.raises(OSError, match="space"):
                (disk / "filler").write_bytes(bytes(9 << 20))
            await opened.engine.runs.wait_for_end(run_id)
        (disk / "filler").unlink()
        async with open_pooled_engine(disk / "facts.db", STREAMER) as opened:
            played = await opened.wait_for_end(run_id)
            played.check_journal()
            assert played.run.status == "failed"
            assert played.run.status_reason in ("host_restarted", "storage.failed")
            assert (await opened.run("streamer", "again", count=5)).run.status == "completed"


async def test_a_database_that_another_process_locks_for_two_seconds_loses_nothing(tmp_path: Path, mark: str):
    script = tmp_path / "locker.py"
    script.write_text(LOCKER)
    async with open_pooled_engine(tmp_path / "facts.db", STREAMER) as opened:
        run_id = await opened.start_run("streamer", "go", count=8_000)
        await opened.wait_for_entry(run_id, "message.delta")
        with other_process(script, tmp_path / "facts.db") as locker:
            assert await asyncio.to_thread(read_line, locker) == "locked"
            since = time.monotonic()
            before = len(await opened.engine.runs.journal(run_id, limit=100_000))
            await until(lambda: time.monotonic() - since > 2.0)
            # Readers are not locked out, and see nothing new meanwhile.
            assert len(await opened.engine.runs.journal(run_id, limit=100_000)) == before
            write_line(locker)
            await asyncio.to_thread(locker.wait)
        played = await opened.wait_for_end(run_id)
        played.check_journal()
        assert played.run.status == "completed"
        assert len(played.entries_of("message.delta")) == 8_000
        assert opened.engine.last_error is None


async def test_failed_write_of_an_effect_does_not_lose_its_entry(tmp_path: Path, mark: str):
    async with open_pooled_engine(tmp_path / "facts.db", STREAMER) as opened:
        with sqlite3.connect(tmp_path / "facts.db") as other:
            other.execute("ALTER TABLE state_changes RENAME TO elsewhere")
        other.close()
        played = await opened.run("streamer", "go", count=50)
        assert played.run.status == "completed"
        (state,) = played.entries_of("state.updated", "dropped")
        assert state.reason == "could not be applied: no such table: state_changes"
        with sqlite3.connect(tmp_path / "facts.db") as other:
            assert other.execute("SELECT count(*) FROM state").fetchone() == (0,)
        other.close()


# Limits


async def test_a_run_whose_journal_is_full_fails(host: PooledEngine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("engine.journal.recorder.JOURNAL_LIMIT", 200_000)
    played = await host.run("chaos", "flood forever", timeout=20)
    assert (played.run.status, played.run.status_reason) == ("failed", "journal.full")
    assert "the journal of the run is larger than" in played.last["error"]
    assert sum(len(entry.data) for entry in played.entries if entry.outcome is None) < 210_000
    monkeypatch.undo()
    await host.check_normal()


async def test_output_beyond_its_limit_is_counted_in_one_entry(host: PooledEngine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("engine.journal.recorder.OUTPUT_LIMIT", 150_000)
    played = await host.run("chaos", "100 kb lines")
    assert played.run.status == "completed"
    kept = sum(len(text) for stream in ("stdout", "stderr") for text in played.output(stream))
    assert 0 < kept <= 150_000
    (cut,) = played.entries_of("output", "dropped")
    assert (cut.source, json.loads(cut.data)["stream"]) == ("host", "cut")
    assert json.loads(cut.data)["bytes"] == 600_000 - kept
    assert [played.entries[-1].type, played.entries[-2]] == ["run.finished", cut]


async def test_output_of_a_runner_that_only_prints_is_limited_too(host: PooledEngine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("engine.journal.recorder.OUTPUT_LIMIT", ROW_BYTES + 10)
    played: FinishedRun = await host.run("chaos", "print noise")
    assert played.run.status == "completed"
    assert played.output("stdout")[:1] == ["line 0"]
    assert json.loads(played.entries_of("output", "dropped")[0].data)["lines"] > 200
