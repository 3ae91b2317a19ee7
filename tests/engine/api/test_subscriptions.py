"""Subscriptions: committed entries in order, without gaps, in bounded memory."""

import asyncio
from itertools import count

from engine.api import StoreError
from engine.events import MAX_BUFFERED_CHARACTERS, MAX_BUFFERED_ENTRIES, CommittedEntry, Hub, Subscription
from engine.store import entries as journal
from engine.store.entries import Entry
from engine.store.writer import BATCH_ITEMS
from tests.support.engines import (
    Engines,
    ScriptRunner,
    delta,
    done,
    message,
    run_event,
    send,
    wait_for_entry,
    wait_for_run,
    waits,
)
from tests.support.limits import MAX_WAIT_SECONDS


async def take(subscription: Subscription, count: int) -> list[CommittedEntry]:
    """The next entries, up to a number."""
    taken: list[CommittedEntry] = []
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        async for batch in subscription:
            taken += batch
            if len(taken) >= count:
                break
    return taken


async def test_subscriber_gets_every_entry_in_row_order(run_script: ScriptRunner):
    subscription = run_script.engine.subscribe()
    first, second = await run_script(delta("a"), done("a")), await run_script(done("b"))
    total = len(first.journal) + len(second.journal)

    received = await take(subscription, total)

    assert [committed.row for committed in received] == list(range(1, total + 1))
    assert [committed.entry.type for committed in received] == first.types + second.types


async def test_announced_entries_are_on_disk(open_engine: Engines):
    engine = await open_engine(waits)
    subscription = engine.subscribe()
    run_id = await send(engine)
    received = await take(subscription, 2)

    assert await engine.runs.journal(run_id) == [committed.entry for committed in received]


async def test_subscription_starts_after_the_given_row(run_script: ScriptRunner):
    await run_script(delta("a"), done("a"))
    since = await run_script.engine.last_row()
    second = await run_script(done("b"))

    received = await take(run_script.engine.subscribe(since), len(second.journal))

    assert [committed.entry.run_id for committed in received] == [second.run_id] * len(second.journal)
    assert received[0].row == since + 1


async def test_subscription_to_one_run_gets_only_its_entries(run_script: ScriptRunner):
    first, second = await run_script(done("a")), await run_script(done("b"))

    received = await take(run_script.engine.subscribe(run_id=second.run_id), len(second.journal))

    assert {committed.entry.run_id for committed in received} == {second.run_id}
    assert first.run_id != second.run_id


async def test_slow_subscriber_misses_nothing_in_bounded_memory(open_engine: Engines):
    count = MAX_BUFFERED_ENTRIES + 3 * BATCH_ITEMS

    async def floods(ctx):
        for number in range(count):
            yield delta(str(number))

    engine = await open_engine(floods)
    slow = engine.subscribe()
    run = await run_event(engine)
    held = sum(len(entries) for _, entries, _ in slow._buffer)
    assert held <= MAX_BUFFERED_ENTRIES + BATCH_ITEMS

    received = await take(slow, len(run.journal))

    assert [committed.entry.position for committed in received] == list(range(1, len(run.journal) + 1))
    assert [committed.row for committed in received] == list(range(1, len(run.journal) + 1))


async def test_slow_subscriber_of_large_entries_misses_nothing_in_bounded_memory(open_engine: Engines):
    count = 40

    async def floods(ctx):
        for number in range(count):
            yield delta(f"{number:03}" + "x" * (MAX_BUFFERED_CHARACTERS // 16))

    engine = await open_engine(floods)
    slow = engine.subscribe()
    run = await run_event(engine)

    buffered = sum(len(entry.data) for _, entries, _ in slow._buffer for entry in entries)
    assert buffered <= 2 * MAX_BUFFERED_CHARACTERS
    batches: list[list[CommittedEntry]] = []
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        async for batch in slow:
            batches.append(batch)
            if batch[-1].entry.type == "run.finished":
                break
    assert [committed.entry.position for batch in batches for committed in batch] == [
        entry.position for entry in run.journal
    ]
    assert (
        max(sum(len(committed.entry.data) for committed in batch) for batch in batches) <= 2 * MAX_BUFFERED_CHARACTERS
    )


async def test_slow_subscriber_does_not_delay_others(run_script: ScriptRunner):
    run_script.engine.subscribe()
    quick = run_script.engine.subscribe()

    run = await run_script(done("x"))

    assert [committed.entry.type for committed in await take(quick, 3)] == run.types


async def test_closing_subscription_ends_its_iteration(open_engine: Engines):
    engine = await open_engine(waits)
    subscription = engine.subscribe()
    waiting = asyncio.ensure_future(take(subscription, 1))
    await asyncio.sleep(0)
    subscription.close()

    assert await waiting == []


async def test_closing_engine_ends_every_subscription(open_engine: Engines):
    engine = await open_engine(waits)
    waiting = asyncio.ensure_future(take(engine.subscribe(), 1))
    await asyncio.sleep(0)
    await open_engine.close(engine)

    assert await waiting == []


async def test_subscription_that_is_closed_during_a_failing_read_just_ends():
    disk = Disk()

    async def closed_meanwhile(row: int, limit: int) -> list[tuple[int, Entry]]:
        disk.hub.close()
        raise StoreError("the database is closed")

    disk.hub.reread = closed_meanwhile

    assert await take(disk.hub.subscribe(0, None), 1) == []


async def test_reader_follows_run_of_another_engine(open_engine: Engines):
    host, reader = await open_engine(waits), await open_engine(mode="read")
    run_id = await send(host)

    assert (await wait_for_entry(reader, run_id, "message.delta")).position == 2
    await host.runs.cancel(run_id)
    assert (await wait_for_entry(reader, run_id, "run.finished")).data["status"] == "cancelled"


async def test_host_gets_entries_of_another_host(open_engine: Engines):
    first, second = await open_engine(waits), await open_engine(waits)
    run_id = await send(first, message(session="one"))

    assert (await wait_for_entry(second, run_id, "message.delta")).source == "runner"
    await first.runs.cancel(run_id)
    await wait_for_run(first, run_id)


def entry(position: int) -> Entry:
    return Entry("run", position, 0, "runner", "x", "{}")


class Disk:
    """Committed entries, as a hub reads them from the database."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, Entry]] = []
        self.hub = Hub(self.since)

    async def since(self, row: int, limit: int) -> list[tuple[int, Entry]]:
        return [one for one in self.rows if one[0] > row][:limit]

    def commit(self, first: int, count: int, *, publish: bool = True) -> None:
        entries = [entry(number) for number in range(first, first + count)]
        self.rows += [(one.position, one) for one in entries]
        if publish:
            self.hub.publish(first, entries)


async def test_rows_of_another_process_are_read_from_disk():
    disk = Disk()
    subscription = disk.hub.subscribe(0, None)
    disk.commit(1, 2)
    disk.commit(3, 2, publish=False)
    disk.commit(5, 2)

    assert [committed.row for committed in await take(subscription, 6)] == [1, 2, 3, 4, 5, 6]


async def test_notify_makes_subscriber_read_unannounced_rows():
    disk = Disk()
    subscription = disk.hub.subscribe(0, None)
    stream = aiter(subscription)
    disk.commit(1, 1)
    assert [committed.row for committed in await anext(stream)] == [1]

    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    disk.commit(2, 1, publish=False)
    disk.hub.notify()

    assert [committed.row for committed in await waiting] == [2]


async def test_subscriber_continues_after_rows_were_deleted():
    disk = Disk()
    subscription = disk.hub.subscribe(0, None)
    disk.commit(3, 1)
    disk.rows.clear()
    disk.commit(9, 2)

    assert [committed.row for committed in await take(subscription, 2)] == [9, 10]


async def test_entries_written_during_a_read_are_not_missed():
    disk = Disk()
    since = disk.since

    async def written_meanwhile(row: int, limit: int) -> list[tuple[int, Entry]]:
        found = await since(row, limit)
        if len(disk.rows) == 1:
            disk.commit(2, 1, publish=False)
            disk.hub.notify()
        return found

    disk.hub.reread = written_meanwhile
    subscription = disk.hub.subscribe(0, None)
    disk.commit(1, 1, publish=False)

    async with asyncio.timeout(MAX_WAIT_SECONDS):
        assert [committed.row for committed in await take(subscription, 2)] == [1, 2]


async def test_reader_continues_after_a_failed_read(open_engine: Engines, monkeypatch):
    host, reader = await open_engine(waits), await open_engine(mode="read")
    reads = count()
    last_row = journal.last_row

    def fails_first(conn):
        if next(reads) == 0:
            raise StoreError("the database is locked")
        return last_row(conn)

    monkeypatch.setattr(journal, "last_row", fails_first)
    run_id = await send(host)

    async with asyncio.timeout(MAX_WAIT_SECONDS):
        assert (await wait_for_entry(reader, run_id, "message.delta")).position == 2
