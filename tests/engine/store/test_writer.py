"""One writer decides: order, savepoints and group commit; announced means recorded."""

import asyncio
import sqlite3
import threading

import pytest
from sqlalchemy import Connection

from engine.store import entries as journal
from engine.store.batch import Transaction
from engine.store.database import Database
from engine.store.entries import Entry
from engine.store.errors import DatabaseLocked, DiskFull, EntryRefused, NotFound, WriterClosed
from engine.store.writer import BATCH_ITEMS, MAX_QUEUED_BYTES, MAX_QUEUED_ITEMS, Writer
from tests.support.store_samples import RecordedCallbacks, entry, make_writer, wait_until


def stored(database: Database) -> list[tuple[int, Entry]]:
    return database.read_now(lambda conn: journal.since(conn, 0, 100_000))


async def test_order_in_the_database_is_that_of_the_queue(
    writer: Writer, database: Database, callbacks: RecordedCallbacks
):
    expected = []
    for position in range(1, 2_001):
        made = entry(position)
        expected.append(made)
        if position % 97 == 0:
            writer.submit(lambda tx, made=made: tx.record(made))
        else:
            writer.append(made)
        if position % 500 == 0:
            await asyncio.sleep(0)
    await writer.flush()

    rows = stored(database)
    assert [each for _, each in rows] == expected
    assert [row for row, _ in rows] == list(range(1, 2_001))
    assert callbacks.entries == expected


async def test_on_committed_gets_the_first_row_and_rows_follow_without_gap(
    writer: Writer, database: Database, callbacks: RecordedCallbacks
):
    for position in range(1, 700):
        writer.append(entry(position))
        if position % 50 == 0:
            await writer.submit(lambda tx, position=position: tx.record(entry(position, "run_b")))
    await writer.flush()

    rows = [(row + index, each) for row, group in callbacks.announced for index, each in enumerate(group)]
    assert rows == stored(database)


async def test_entries_are_announced_after_their_commit(database: Database):
    seen: list[tuple[int, int]] = []

    def announced(row: int, entries: list[Entry]) -> None:
        on_disk = database.read_now(lambda conn: journal.last_position(conn, "run_a"))
        seen.append((entries[-1].position, on_disk))

    writer = Writer(database.writing_connection, database.path, on_committed=announced, on_failure=pytest.fail)
    for position in range(1, 300):
        writer.append(entry(position))
        if position % 10 == 0:
            await asyncio.sleep(0)
    await writer.close()

    assert seen[-1][0] == 299
    assert all(on_disk >= last for last, on_disk in seen)


async def test_future_resolves_after_its_entries_are_announced(writer: Writer, callbacks: RecordedCallbacks):
    writer.append(entry(1))
    row = await writer.submit(lambda tx: tx.record(entry(2)))

    assert row == 2
    assert [each.position for each in callbacks.entries] == [1, 2]


async def test_an_operation_sees_what_was_queued_before_it(writer: Writer):
    writer.append(entry(1))
    writer.append(entry(2))

    assert await writer.submit(lambda tx: journal.last_position(tx.connection, "run_a")) == 2


async def test_operation_that_raises_is_rolled_back_alone(
    writer: Writer, database: Database, callbacks: RecordedCallbacks
):
    def refuse(tx: Transaction) -> None:
        tx.record(entry(2))
        tx.record(entry(3))
        raise NotFound("not here")

    writer.append(entry(1))
    refused = writer.submit(refuse)
    kept = writer.submit(lambda tx: tx.record(entry(2, data='"kept"')))
    writer.append(entry(3, data='"after"'))

    with pytest.raises(NotFound, match="not here"):
        await refused
    assert await kept == 2
    await writer.flush()
    assert [(row, each.data) for row, each in stored(database)] == [(1, "{}"), (2, '"kept"'), (3, '"after"')]
    assert [each for _, each in stored(database)] == callbacks.entries
    assert callbacks.failed == []


async def test_failed_attempt_is_rolled_back_and_its_operation_continues(
    writer: Writer, database: Database, callbacks: RecordedCallbacks
):
    def half(tx: Transaction) -> None:
        tx.record(entry(2, data='"half"'))
        raise NotFound("not here")

    def decide(tx: Transaction) -> Exception | None:
        tx.record(entry(1))
        error = tx.attempt(half)
        tx.record(entry(2))
        return error

    assert isinstance(await writer.submit(decide), NotFound)
    assert callbacks.entries == [each for _, each in stored(database)] == [entry(1), entry(2)]


async def test_violated_constraint_fails_only_its_operation(writer: Writer, database: Database):
    writer.append(entry(1))
    twice = writer.submit(lambda tx: tx.record(entry(1)))
    writer.append(entry(2))

    with pytest.raises(sqlite3.IntegrityError):
        await twice
    await writer.flush()
    assert [each.position for _, each in stored(database)] == [1, 2]


@pytest.mark.parametrize("bad", [entry(5), entry(700, data='"\ud800"'), entry(2**70)], ids=["taken", "text", "number"])
async def test_entry_that_cannot_be_stored_does_not_affect_others(
    bad: Entry, database: Database, callbacks: RecordedCallbacks
):
    writer = make_writer(database, callbacks)
    good = [entry(position) for position in range(1, 601)]
    for each in [*good[:300], bad, *good[300:]]:
        writer.append(each)
    await writer.close()

    assert callbacks.entries == good
    assert [each for _, each in stored(database)] == good
    assert callbacks.announced[0][0] == 1
    (refused,) = callbacks.failed
    assert isinstance(refused, EntryRefused)
    assert f"entry {bad.position} of run run_a" in str(refused)


async def test_many_appends_are_written_in_few_commits(writer: Writer, callbacks: RecordedCallbacks):
    for position in range(1, 3_001):
        writer.append(entry(position))
    await writer.flush()

    assert len(callbacks.entries) == 3_000
    assert max(len(group) for _, group in callbacks.announced) <= BATCH_ITEMS
    assert len(callbacks.announced) < 30


async def test_the_writer_commits_at_once_when_it_was_idle(database: Database, callbacks: RecordedCallbacks):
    writer = make_writer(database, callbacks, window_seconds=3_600.0)
    writer.append(entry(1))
    await wait_until(lambda: bool(callbacks.announced))
    await writer.close()


async def test_operation_ends_the_group_commit_window(database: Database, callbacks: RecordedCallbacks):
    writer = make_writer(database, callbacks, window_seconds=3_600.0)
    await writer.submit(lambda tx: tx.record(entry(1)))
    writer.append(entry(2))

    assert await writer.submit(lambda tx: tx.record(entry(3))) == 3
    await writer.close()


async def test_full_batch_ends_the_group_commit_window(database: Database, callbacks: RecordedCallbacks):
    writer = make_writer(database, callbacks, window_seconds=3_600.0)
    await writer.submit(lambda tx: tx.record(entry(1)))
    for position in range(2, BATCH_ITEMS + 2):
        writer.append(entry(position))

    await wait_until(lambda: len(callbacks.entries) >= BATCH_ITEMS + 1)
    await writer.close()


@pytest.mark.parametrize(
    ("count", "data"),
    [(MAX_QUEUED_ITEMS + 1, "{}"), (9, '"' + "x" * (MAX_QUEUED_BYTES // 8) + '"')],
    ids=["entries", "bytes"],
)
async def test_a_full_queue_calls_once_when_there_is_room(count: int, data: str, writer: Writer, database: Database):
    calls: list[bool] = []
    gate = threading.Event()
    writer.submit(lambda _: gate.wait(20))
    assert not writer.full

    for position in range(1, count + 1):
        writer.append(entry(position, data=data))
    assert writer.full
    writer.when_room(lambda: calls.append(writer.full))
    gate.set()
    await writer.flush()
    await wait_until(lambda: bool(calls))

    assert calls == [False]
    assert not writer.full


async def test_the_memory_of_operations_fills_the_queue_too(writer: Writer):
    gate = threading.Event()
    writer.submit(lambda _: gate.wait(20), MAX_QUEUED_BYTES)
    assert not writer.full
    writer.submit(lambda _: None, 1)
    assert writer.full
    gate.set()
    await writer.flush()

    assert not writer.full


async def test_flush_without_anything_queued_returns(writer: Writer, callbacks: RecordedCallbacks):
    await writer.flush()
    assert callbacks.announced == []


async def test_close_commits_what_is_queued(database: Database, callbacks: RecordedCallbacks):
    writer = make_writer(database, callbacks, window_seconds=3_600.0)
    for position in range(1, 3_001):
        writer.append(entry(position))
    late = writer.submit(lambda tx: tx.record(entry(3_001)))
    await writer.close()

    assert late.result() == 3_001
    assert [each.position for each in callbacks.entries] == list(range(1, 3_002))
    assert len(stored(database)) == 3_001


async def test_closed_writer_accepts_nothing(database: Database, callbacks: RecordedCallbacks):
    writer = make_writer(database, callbacks)
    await writer.close()
    await writer.close()

    with pytest.raises(WriterClosed, match=r"facts\.db is closed"):
        writer.append(entry(1))
    with pytest.raises(WriterClosed):
        writer.submit(lambda _: None)
    assert stored(database) == []


async def test_cancelled_waiter_does_not_undo_its_operation(writer: Writer, database: Database):
    future = writer.submit(lambda tx: tx.record(entry(1)))
    future.cancel()
    await writer.flush()

    assert [each.position for _, each in stored(database)] == [1]


async def test_writer_waits_for_a_lock_of_another_process_and_loses_nothing(
    database: Database, callbacks: RecordedCallbacks
):
    other = sqlite3.connect(database.path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    tries: list[str] = []

    def impatient() -> Connection:
        connection = database.writing_connection()
        connection.exec_driver_sql("PRAGMA busy_timeout = 10")
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.set_trace_callback(tries.append)
        return connection

    writer = make_writer(database, callbacks, impatient)
    for position in range(1, 11):
        writer.append(entry(position))
    await wait_until(lambda: len(tries) >= 3 or bool(callbacks.failed))
    assert (callbacks.announced, callbacks.failed) == ([], [])
    other.execute("COMMIT")
    await writer.close()
    other.close()

    assert [each.position for each in callbacks.entries] == list(range(1, 11))
    assert callbacks.failed == []


async def test_a_lock_that_is_never_released_raises_database_locked(database: Database, callbacks: RecordedCallbacks):
    other = sqlite3.connect(database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    def impatient() -> Connection:
        connection = database.writing_connection()
        connection.exec_driver_sql("PRAGMA busy_timeout = 10")
        return connection

    writer = make_writer(database, callbacks, impatient, busy_seconds=0.05)
    with pytest.raises(DatabaseLocked, match=r"facts\.db is locked by another process\. Wait for it or end it"):
        await writer.submit(lambda tx: tx.record(entry(1)))
    other.execute("COMMIT")
    other.close()
    assert await writer.submit(lambda tx: tx.record(entry(1))) == 1
    await writer.close()


def limited(database: Database, pages: int):
    """Connections that SQLite itself stops with SQLITE_FULL once the file has grown by this many pages."""
    lifted = threading.Event()

    def connect() -> Connection:
        connection = database.writing_connection()
        if not lifted.is_set():
            used = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {used + pages}")
        return connection

    return connect, lifted


async def test_full_disk_fails_the_batch_and_all_queued_work_and_loses_no_announced_entry(
    database: Database, callbacks: RecordedCallbacks
):
    connect, lifted = limited(database, 24)
    writer = make_writer(database, callbacks, connect)
    await writer.submit(lambda tx: tx.record(entry(1)))
    gate = threading.Event()
    before = writer.submit(lambda _: gate.wait(20))  # what follows is in the same batch or in later ones
    held = writer.submit(lambda _: True)
    for position in range(2, 3 * BATCH_ITEMS):
        # The first statement of the batch still fits, so that it is half written when the disk is full.
        writer.append(entry(position, data="{}" if position < 300 else '"' + "x" * 500 + '"'))
    behind = writer.submit(lambda tx: tx.record(entry(3 * BATCH_ITEMS)))
    gate.set()

    with pytest.raises(DiskFull, match=r"no space is left for .*facts\.db\. Free some space"):
        await behind
    await asyncio.wait([asyncio.ensure_future(before)])
    assert len(callbacks.failed) == 1
    assert isinstance(held.exception(), DiskFull)
    assert callbacks.entries == [entry(1)]
    assert [each for _, each in stored(database)] == callbacks.entries
    assert not writer.full

    lifted.set()
    assert await writer.submit(lambda tx: tx.record(entry(2))) == 2
    await writer.close()
    assert database.integrity() == []


async def test_after_a_failure_no_entry_is_written_after_a_gap(database: Database):
    """Entries appended before `on_failure` is called are lost with the failure; later ones are written."""
    connect, lifted = limited(database, 4)
    callbacks = RecordedCallbacks()
    last = 0

    def failed(error: Exception) -> None:
        lifted.set()
        callbacks.failed.append(error)  # type: ignore[arg-type]
        writer.append(entry(1, "run_after"))

    writer = Writer(
        connect,
        database.path,
        on_committed=lambda row, entries: callbacks.announced.append((row, entries)),
        on_failure=failed,
    )
    while not callbacks.failed:
        for _ in range(50):
            last += 1
            writer.append(entry(last, data='"' + "x" * 500 + '"'))
        await asyncio.sleep(0)
    await writer.close()

    positions = [each.position for each in callbacks.entries if each.run_id == "run_a"]
    assert positions == list(range(1, len(positions) + 1))
    assert len(positions) < last
    assert callbacks.entries[-1] == entry(1, "run_after")
    assert [each for _, each in stored(database)] == callbacks.entries


async def test_failed_connection_fails_queued_operations(database: Database, callbacks: RecordedCallbacks):
    def connect() -> Connection:
        raise OSError(30, "Read-only file system")

    writer = make_writer(database, callbacks, connect)
    with pytest.raises(Exception, match=r"facts\.db cannot be written"):
        await writer.submit(lambda _: None)
    await writer.close()


async def test_a_reader_with_an_open_snapshot_does_not_stop_the_writer(writer: Writer, database: Database):
    reader = sqlite3.connect(database.path, isolation_level=None)
    reader.execute("BEGIN")
    before = reader.execute("SELECT count(*) FROM journal").fetchone()
    for position in range(1, 1_001):
        writer.append(entry(position))
    await writer.flush()

    assert reader.execute("SELECT count(*) FROM journal").fetchone() == before
    reader.close()
    assert len(stored(database)) == 1_000


async def test_exception_in_a_callback_does_not_block_waiters(database: Database):
    def announced(row: int, entries: list[Entry]) -> None:
        raise RuntimeError("subscriber")

    caught: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: caught.append(context))
    writer = Writer(database.writing_connection, database.path, on_committed=announced, on_failure=pytest.fail)
    assert await writer.submit(lambda tx: tx.record(entry(1))) == 1
    await writer.close()
    assert len(caught) == 1
