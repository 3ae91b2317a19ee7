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
from tests.support.engines import Engines, done, lines_of, message, wait_for_entry, wait_for_run
from tests.support.queue.steering import (
    ControlledRun,
    SteeringHarness,
    failing_trigger,
    open_steering,
    queue_items,
    wait_until,
)

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
async def steering(disk: Disk, open_engine: Engines) -> SteeringHarness:
    """An engine that is opened after the disk can be filled."""
    return await open_steering(open_engine)


@contextmanager
def locked(steering: SteeringHarness) -> Iterator[None]:
    """Another process holds the write lock."""
    with closing(sqlite3.connect(steering.engine.database_path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


# Full


async def test_message_refused_by_a_full_disk_can_be_resent(steering: SteeringHarness, disk: Disk):
    run = await steering.start()
    (before,) = await steering.send_claimed("before")
    refused = message(MUCH)
    with disk.full():
        with pytest.raises(DiskFull):
            await steering.engine.runs.submit(refused, RunOptions(runner="controlled"))
        over = await steering.engine.runs.wait_for_end(run.run_id)
    assert over.run_id == run.run_id
    assert refused.event_id not in {item.event_id for item in queue_items(steering.engine)}

    again = await steering.engine.runs.submit(refused, RunOptions(runner="controlled"))
    own = await wait_for_run(steering.engine, await again.started)
    assert (again.is_repeat, own.row.status) == (False, "completed")
    broken = await steering.engine.runs.get(run.run_id)
    assert (broken.status, broken.status_reason) == ("failed", "storage.failed")
    assert (steering.item(before).fate, steering.item(before).reason) == (Fate.DROPPED, "failed")
    ticket = await steering.engine.queue.resend(before)
    assert (await wait_for_run(steering.engine, await ticket.started)).row.status == "completed"


async def test_a_pull_that_fails_on_a_full_disk_delivers_nothing(steering: SteeringHarness, disk: Disk):
    run = await steering.start()
    (item_id,) = await steering.send_claimed(MUCH)
    with disk.full():
        with pytest.raises((AgentAPIException, asyncio.CancelledError)):
            await run.pull()
        await steering.engine.runs.wait_for_end(run.run_id)
    ticket = await steering.send("go on")
    own = ControlledRun(steering.engine, steering.runners, await ticket.started)
    await wait_for_entry(steering.engine, own.run_id, "message.delta")

    item = steering.item(item_id)
    assert (item.fate, item.reason, item.pulled_at) == (Fate.DROPPED, "failed", None)
    texts = [text for role, text in await lines_of(steering.engine) if role == "user"]
    assert [str(text)[:5] for text in texts] == ["go", "much ", "go on"]
    again = await steering.engine.queue.resend(item_id)
    assert again.claimed_by == own.run_id
    assert await own.pull() == [MUCH]
    await own.end(done())


async def test_full_disk_affects_only_the_current_write(steering: SteeringHarness, disk: Disk):
    await steering.start()
    with disk.full(), pytest.raises(DiskFull):
        await steering.send(MUCH, session="elsewhere")
    run = await steering.start(session="another")
    await steering.send_claimed("more", session="another")

    assert await run.pull() == ["more"]
    assert (await run.end(done())).row.status == "completed"


# Locked


Act = Callable[[SteeringHarness, ControlledRun, str], Awaitable[Any]]
ACTS: dict[str, tuple[Act, dict[str, Any]]] = {
    "claimed": (
        lambda steering, run, item: steering.send("new"),
        {"fates": ["queued", "queued"], "pulled": ["old", "new"]},
    ),
    "pulled": (lambda steering, run, item: run.pull(), {"fates": ["injected"], "pulled": []}),
    "edited": (
        lambda steering, run, item: steering.engine.queue.edit(item, "edited"),
        {"fates": ["queued"], "pulled": ["edited"]},
    ),
    "withdrawn": (
        lambda steering, run, item: steering.engine.queue.withdraw(item),
        {"fates": ["withdrawn"], "pulled": []},
    ),
    "turned": (
        lambda steering, run, item: steering.engine.queue.set_mode(item, Mode.AFTER),
        {"fates": ["queued"], "pulled": []},
    ),
}


@pytest.mark.parametrize(("act", "then"), ACTS.values(), ids=ACTS)
async def test_actions_during_a_lock_are_decided_once_after_it(
    steering: SteeringHarness, act: Act, then: dict[str, Any]
):
    run = await steering.start()
    (item_id,) = await steering.send_claimed("old")
    writer = steering.engine._core.host.writer
    with locked(steering):
        submitted = writer._submitted
        doing = asyncio.ensure_future(act(steering, run, item_id))
        await wait_until(lambda: writer._submitted > submitted)
        assert [item.fate for item in queue_items(steering.engine)] == [Fate.QUEUED]
        assert not doing.done()
    await doing

    assert [item.fate for item in queue_items(steering.engine)] == then["fates"]
    assert await run.pull() == then["pulled"]
    await run.end(done())
    await steering.engine.runs.wait_until_idle()


async def test_no_message_is_lost_while_the_database_is_locked(steering: SteeringHarness):
    run = await steering.start()
    with locked(steering):
        saying = [asyncio.ensure_future(steering.send(str(number))) for number in range(20)]
        ending = asyncio.ensure_future(run.end(done("over")))
        await wait_until(lambda: run.run_id not in steering.engine._core.host.orchestrator.live)
    tickets = await asyncio.gather(*saying)
    await ending
    await steering.engine.runs.wait_until_idle()

    taken = [ticket for ticket in tickets if ticket.claimed_by]
    assert {steering.item(ticket.item_id).fate for ticket in taken} <= {Fate.DROPPED}
    answered = [text for role, text in await lines_of(steering.engine) if str(text).startswith("answer to")]
    assert len(answered) == 20 - len(taken)
    assert len(set(answered)) == len(answered)


# The slot


async def test_a_message_that_cannot_be_started_fails_and_those_behind_it_start(steering: SteeringHarness):
    run = await steering.start()
    tickets = [await steering.send(text, after=True) for text in ("one", "two", "three")]
    await steering.engine.queue.pause(str(tickets[0].item_id))
    await steering.engine.queue.move(str(tickets[2].item_id), before=tickets[1].item_id)
    with failing_trigger(steering.engine, f"BEFORE INSERT ON runs WHEN new.event_id = '{tickets[2].event_id}'"):
        await run.end(done())
        with pytest.raises(StoreError, match="not today"):
            await tickets[2].started
        own = await wait_for_run(steering.engine, await tickets[1].started)
    assert own.row.status == "completed"
    await steering.engine.queue.resume(str(tickets[0].item_id))

    assert (await wait_for_run(steering.engine, await tickets[0].started)).row.status == "completed"
