"""News of entries: in order, only after they are on disk, without a gap, in bounded memory."""

import asyncio
from itertools import count

from engine.api import FactsError
from engine.events import BUFFER, Hub, Subscription, Told
from engine.facts import journal
from engine.facts.journal import Entry
from engine.facts.writer import BATCH
from tests.support import Engines, Stage, delta, done, message, perform, played, send, until, waits


async def take(news: Subscription, count: int) -> list[Told]:
    """The next so many entries."""
    taken: list[Told] = []
    async with asyncio.timeout(10):
        async for batch in news:
            taken += batch
            if len(taken) >= count:
                break
    return taken


async def test_a_subscriber_hears_every_entry_in_the_order_of_its_row(play: Stage):
    news = play.engine.subscribe()
    first, second = await play(delta("a"), done("a")), await play(done("b"))
    total = len(first.journal) + len(second.journal)

    heard = await take(news, total)

    assert [told.row for told in heard] == list(range(1, total + 1))
    assert [told.entry.type for told in heard] == first.types + second.types


async def test_what_is_told_is_on_disk(open_engine: Engines):
    engine = await open_engine(waits)
    news = engine.subscribe()
    run_id = await send(engine)
    heard = await take(news, 2)

    assert await engine.journal(run_id) == [told.entry for told in heard]


async def test_a_subscription_since_a_row_begins_after_it(play: Stage):
    await play(delta("a"), done("a"))
    since = await play.engine.last_row()
    second = await play(done("b"))

    heard = await take(play.engine.subscribe(since), len(second.journal))

    assert [told.entry.run_id for told in heard] == [second.run_id] * len(second.journal)
    assert heard[0].row == since + 1


async def test_a_subscription_to_one_run_hears_only_that_run(play: Stage):
    first, second = await play(done("a")), await play(done("b"))

    heard = await take(play.engine.subscribe(run_id=second.run_id), len(second.journal))

    assert {told.entry.run_id for told in heard} == {second.run_id}
    assert first.run_id != second.run_id


async def test_a_slow_subscriber_misses_nothing_and_holds_little(open_engine: Engines):
    count = BUFFER + 3 * BATCH

    async def floods(ctx):
        for number in range(count):
            yield delta(str(number))

    engine = await open_engine(floods)
    slow = engine.subscribe()
    run = await perform(engine)
    held = sum(len(entries) for _, entries in slow._fresh)
    assert held <= BUFFER + BATCH

    heard = await take(slow, len(run.journal))

    assert [told.entry.position for told in heard] == list(range(1, len(run.journal) + 1))
    assert [told.row for told in heard] == list(range(1, len(run.journal) + 1))


async def test_a_slow_subscriber_harms_no_other(play: Stage):
    play.engine.subscribe()
    quick = play.engine.subscribe()

    run = await play(done("x"))

    assert [told.entry.type for told in await take(quick, 3)] == run.types


async def test_closing_a_subscription_ends_its_iteration(open_engine: Engines):
    engine = await open_engine(waits)
    news = engine.subscribe()
    waiting = asyncio.ensure_future(take(news, 1))
    await asyncio.sleep(0)
    news.close()

    assert await waiting == []


async def test_closing_the_engine_ends_every_subscription(open_engine: Engines):
    engine = await open_engine(waits)
    waiting = asyncio.ensure_future(take(engine.subscribe(), 1))
    await asyncio.sleep(0)
    await open_engine.close(engine)

    assert await waiting == []


async def test_a_reader_follows_the_run_of_another_engine(open_engine: Engines):
    host, reader = await open_engine(waits), await open_engine(mode="read")
    run_id = await send(host)

    assert (await until(reader, run_id, "message.delta")).position == 2
    await host.cancel(run_id)
    assert (await until(reader, run_id, "run.finished")).data["status"] == "cancelled"


async def test_a_host_hears_of_another_hosts_runs(open_engine: Engines):
    first, second = await open_engine(waits), await open_engine(waits)
    run_id = await send(first, message(session="one"))

    assert (await until(second, run_id, "message.delta")).source == "runner"
    await first.cancel(run_id)
    await played(first, run_id)


def entry(position: int) -> Entry:
    return Entry("run", position, 0, "runner", "x", "{}")


class Disk:
    """Committed entries, as a hub reads them again."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, Entry]] = []
        self.hub = Hub(self.since)

    async def since(self, row: int, limit: int) -> list[tuple[int, Entry]]:
        return [one for one in self.rows if one[0] > row][:limit]

    def commit(self, first: int, count: int, *, tell: bool = True) -> None:
        entries = [entry(number) for number in range(first, first + count)]
        self.rows += [(one.position, one) for one in entries]
        if tell:
            self.hub.tell(first, entries)


async def test_rows_that_another_process_wrote_in_between_are_read_from_disk():
    disk = Disk()
    news = disk.hub.subscribe(0, None)
    disk.commit(1, 2)
    disk.commit(3, 2, tell=False)
    disk.commit(5, 2)

    assert [told.row for told in await take(news, 6)] == [1, 2, 3, 4, 5, 6]


async def test_a_ring_makes_a_subscriber_look_for_what_nobody_told():
    disk = Disk()
    news = disk.hub.subscribe(0, None)
    stream = aiter(news)
    disk.commit(1, 1)
    assert [told.row for told in await anext(stream)] == [1]

    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    disk.commit(2, 1, tell=False)
    disk.hub.ring()

    assert [told.row for told in await waiting] == [2]


async def test_rows_deleted_meanwhile_leave_a_subscriber_going():
    disk = Disk()
    news = disk.hub.subscribe(0, None)
    disk.commit(3, 1)
    disk.rows.clear()
    disk.commit(9, 2)

    assert [told.row for told in await take(news, 2)] == [9, 10]


async def test_what_is_written_while_a_subscriber_reads_is_not_forgotten():
    disk = Disk()
    since = disk.since

    async def written_meanwhile(row: int, limit: int) -> list[tuple[int, Entry]]:
        found = await since(row, limit)
        if len(disk.rows) == 1:
            disk.commit(2, 1, tell=False)
            disk.hub.ring()
        return found

    disk.hub.reread = written_meanwhile
    news = disk.hub.subscribe(0, None)
    disk.commit(1, 1, tell=False)

    async with asyncio.timeout(5):
        assert [told.row for told in await take(news, 2)] == [1, 2]


async def test_a_reader_goes_on_after_a_look_that_failed(open_engine: Engines, monkeypatch):
    host, reader = await open_engine(waits), await open_engine(mode="read")
    looks = count()
    last_row = journal.last_row

    def fails_first(conn):
        if next(looks) == 0:
            raise FactsError("the database is locked")
        return last_row(conn)

    monkeypatch.setattr(journal, "last_row", fails_first)
    run_id = await send(host)

    async with asyncio.timeout(5):
        assert (await until(reader, run_id, "message.delta")).position == 2
