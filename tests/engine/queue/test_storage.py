"""A full disk and a locked database while messages are claimed, pulled and started: no message is lost."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import pytest

from engine.api import Fate, Mode, RunOptions, StoreError
from engine.protocol import AgentAPIException
from engine.store.database import Database
from engine.store.errors import DiskFull
from tests.support.engines import Engines, done, lines_of, message, played, until
from tests.support.queue.steering import Conducted, Talk, comes_true, items_of, open_talk, trigger

MUCH = "much " * 40_000
"""Text larger than the free pages of a small database."""


class Disk:
    """Keeps the database from growing while it is full."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_full = False
        self._newest: sqlite3.Connection
        connect = Database._connect_to_write

        def limited(database: Database) -> sqlite3.Connection:
            self._newest = connect(database)
            self._limit()
            return self._newest

        monkeypatch.setattr(Database, "_connect_to_write", limited)

    def _limit(self) -> None:
        if self.is_full:
            self._newest.execute("PRAGMA max_page_count = 1")  # SQLite takes this as: no more pages than now

    @contextmanager
    def full(self) -> Iterator[None]:
        self.is_full = True
        self._limit()
        try:
            yield
        finally:
            self.is_full = False
            with suppress(sqlite3.ProgrammingError):  # it saw the disk fail and was closed
                self._newest.execute(f"PRAGMA max_page_count = {2**31}")


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


@pytest.fixture
async def talk(disk: Disk, open_engine: Engines) -> Talk:
    """An engine that is opened after the disk can be filled."""
    return await open_talk(open_engine)


@contextmanager
def locked(talk: Talk) -> Iterator[None]:
    """Another process holds the write lock."""
    with closing(sqlite3.connect(talk.engine.database_path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


# Full


async def test_a_message_that_the_full_disk_refuses_fails_and_can_be_sent_again(talk: Talk, disk: Disk):
    run = await talk.start()
    (before,) = await talk.claimed("before")
    refused = message(MUCH)
    with disk.full():
        with pytest.raises(DiskFull):
            await talk.engine.runs.submit(refused, RunOptions(runner="puppet"))
        over = await talk.engine.runs.wait_for_end(run.run_id)
    assert over.run_id == run.run_id
    assert refused.event_id not in {item.event_id for item in items_of(talk.engine)}

    again = await talk.engine.runs.submit(refused, RunOptions(runner="puppet"))
    own = await played(talk.engine, await again.started)
    assert (again.is_repeat, own.row.status) == (False, "completed")
    broken = await talk.engine.runs.get(run.run_id)
    assert (broken.status, broken.status_reason) == ("failed", "storage.failed")
    assert (talk.item(before).fate, talk.item(before).reason) == (Fate.DROPPED, "failed")
    ticket = await talk.engine.queue.resend(before)
    assert (await played(talk.engine, await ticket.started)).row.status == "completed"


async def test_a_pull_that_fails_on_a_full_disk_delivers_nothing(talk: Talk, disk: Disk):
    run = await talk.start()
    (item_id,) = await talk.claimed(MUCH)
    with disk.full():
        with pytest.raises((AgentAPIException, asyncio.CancelledError)):
            await run.pull()
        await talk.engine.runs.wait_for_end(run.run_id)
    ticket = await talk.say("go on")
    own = Conducted(talk.engine, talk.puppets, await ticket.started)
    await until(talk.engine, own.run_id, "message.delta")

    item = talk.item(item_id)
    assert (item.fate, item.reason, item.pulled_at) == (Fate.DROPPED, "failed", None)
    texts = [text for role, text in await lines_of(talk.engine) if role == "user"]
    assert [str(text)[:5] for text in texts] == ["go", "much ", "go on"]
    again = await talk.engine.queue.resend(item_id)
    assert again.claimed_by == own.run_id
    assert await own.pull() == [MUCH]
    await own.end(done())


async def test_a_full_disk_harms_only_what_was_being_written(talk: Talk, disk: Disk):
    await talk.start()
    with disk.full(), pytest.raises(DiskFull):
        await talk.say(MUCH, session="elsewhere")
    run = await talk.start(session="another")
    await talk.claimed("more", session="another")

    assert await run.pull() == ["more"]
    assert (await run.end(done())).row.status == "completed"


# Locked


Act = Callable[[Talk, Conducted, str], Awaitable[Any]]
ACTS: dict[str, tuple[Act, dict[str, Any]]] = {
    "claimed": (lambda talk, run, item: talk.say("new"), {"fates": ["queued", "queued"], "pulled": ["old", "new"]}),
    "pulled": (lambda talk, run, item: run.pull(), {"fates": ["injected"], "pulled": []}),
    "edited": (
        lambda talk, run, item: talk.engine.queue.edit(item, "edited"),
        {"fates": ["queued"], "pulled": ["edited"]},
    ),
    "withdrawn": (lambda talk, run, item: talk.engine.queue.withdraw(item), {"fates": ["withdrawn"], "pulled": []}),
    "turned": (
        lambda talk, run, item: talk.engine.queue.set_mode(item, Mode.AFTER),
        {"fates": ["queued"], "pulled": []},
    ),
}


@pytest.mark.parametrize(("act", "then"), ACTS.values(), ids=ACTS)
async def test_while_the_database_is_locked_nothing_is_decided_and_afterwards_all_is_once(
    talk: Talk, act: Act, then: dict[str, Any]
):
    run = await talk.start()
    (item_id,) = await talk.claimed("old")
    writer = talk.engine._core.host.writer
    with locked(talk):
        submitted = writer._submitted
        doing = asyncio.ensure_future(act(talk, run, item_id))
        await comes_true(lambda: writer._submitted > submitted)
        assert [item.fate for item in items_of(talk.engine)] == [Fate.QUEUED]
        assert not doing.done()
    await doing

    assert [item.fate for item in items_of(talk.engine)] == then["fates"]
    assert await run.pull() == then["pulled"]
    await run.end(done())
    await talk.engine.runs.wait_until_idle()


async def test_no_message_is_lost_while_the_database_is_locked(talk: Talk):
    run = await talk.start()
    with locked(talk):
        saying = [asyncio.ensure_future(talk.say(str(number))) for number in range(20)]
        ending = asyncio.ensure_future(run.end(done("over")))
        await comes_true(lambda: run.run_id not in talk.engine._core.host.orchestrator.live)
    tickets = await asyncio.gather(*saying)
    await ending
    await talk.engine.runs.wait_until_idle()

    taken = [ticket for ticket in tickets if ticket.claimed_by]
    assert {talk.item(ticket.item_id).fate for ticket in taken} <= {Fate.DROPPED}
    answered = [text for role, text in await lines_of(talk.engine) if str(text).startswith("answer to")]
    assert len(answered) == 20 - len(taken)
    assert len(set(answered)) == len(answered)


# The slot


async def test_a_message_that_cannot_be_started_fails_and_those_behind_it_start(talk: Talk):
    run = await talk.start()
    tickets = [await talk.say(text, after=True) for text in ("one", "two", "three")]
    await talk.engine.queue.pause(str(tickets[0].item_id))
    await talk.engine.queue.move(str(tickets[2].item_id), before=tickets[1].item_id)
    with trigger(talk.engine, f"BEFORE INSERT ON runs WHEN new.event_id = '{tickets[2].event_id}'"):
        await run.end(done())
        with pytest.raises(StoreError, match="not today"):
            await tickets[2].started
        own = await played(talk.engine, await tickets[1].started)
    assert own.row.status == "completed"
    await talk.engine.queue.resume(str(tickets[0].item_id))

    assert (await played(talk.engine, await tickets[0].started)).row.status == "completed"
