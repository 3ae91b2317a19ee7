"""Steering, editing and stopping a run of another process: the sender gets the receipt of the run's host."""

import asyncio
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from engine.api import (
    AlreadyDecided,
    AlreadyFinal,
    CannotSteer,
    Engine,
    Fate,
    HostGone,
    HostSilent,
    Mode,
    RunOptions,
    StoreError,
    Ticket,
)
from engine.host import KEPT_RECEIPTS_US
from engine.queue import request_sender, request_server
from engine.queue.requests import Action, settle_requests
from engine.store import queue, requests
from engine.store.queue import QueueItem
from tests.support.engines import Engines, FakeClock, declares, done, message, wait_for_run, waits
from tests.support.limits import MAX_WAIT_SECONDS
from tests.support.queue.steering import ControlledRun, SteeringHarness, open_steering, wait_until

CONTROLLED = RunOptions(runner="controlled")


def stored_requests(engine: Engine) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(engine.database_path)) as other:
        return other.execute("SELECT action, sender, arguments, receipt FROM requests").fetchall()


@asynccontextmanager
async def two_hosts(engines: Engines) -> AsyncIterator[tuple[SteeringHarness, ControlledRun, SteeringHarness]]:
    """A host with a run in progress, and another host on the same database."""
    owner = await open_steering(engines)
    run = await owner.start()
    yield owner, run, await open_steering(engines)


async def send_elsewhere(other: SteeringHarness, text: str, options: RunOptions = CONTROLLED) -> Ticket:
    return await other.engine.runs.submit(message(text), options, ask_elsewhere=True)


# Steering


async def test_reader_steers_a_run_and_gets_the_receipt_of_its_host(open_engine: Engines):
    owner = await open_steering(open_engine)
    run = await owner.start(thread_id="t", bot_id="b")
    reader = await open_engine(mode="read")

    ticket = await reader.runs.steer(run.run_id, "from a command")

    assert (ticket.claimed_by, await ticket.started, ticket.is_repeat) == (run.run_id, run.run_id, False)
    item = owner.item(ticket.item_id)
    assert (item.mode, item.fate, item.host) == (Mode.STEER, Fate.QUEUED, owner.engine.host_id)
    assert await run.pull() == ["from a command"]
    (receipt,) = (await reader.queue.receipts(run.run_id)).receipts
    assert (receipt.id, receipt.fate, receipt.event_id) == (ticket.item_id, Fate.INJECTED, ticket.event_id)
    assert stored_requests(owner.engine) == []
    finished = await run.end(done())
    assert finished.one("steering.queued").source == "user"


async def test_message_of_another_host_is_claimed_by_the_run_in_progress(open_engine: Engines):
    async with two_hosts(open_engine) as (owner, run, other):
        tickets = [await send_elsewhere(other, text) for text in ("one", "two", "three")]

        assert [ticket.claimed_by for ticket in tickets] == [run.run_id] * 3
        assert {owner.item(ticket.item_id).host for ticket in tickets} == {owner.engine.host_id}
        assert await run.pull() == ["one", "two", "three"]
        await run.end(done())


async def test_message_that_is_sent_after_the_run_is_not_offered_elsewhere(open_engine: Engines):
    async with two_hosts(open_engine) as (_, run, other):
        after = await other.engine.runs.submit(message("later"), CONTROLLED, after=True, ask_elsewhere=True)
        unasked = await other.engine.runs.submit(message("not offered"), CONTROLLED)

        assert [ticket.claimed_by for ticket in (after, unasked)] == [None, None]
        assert await run.pull() == []
        await run.end(done())
        for ticket in (after, unasked):
            await wait_for_run(other.engine, await ticket.started)


async def test_message_that_the_run_elsewhere_cannot_claim_waits_here_with_the_reason(open_engine: Engines):
    @declares(capabilities={"steering": True})
    async def second(ctx):
        yield done("second")

    async with two_hosts(open_engine) as (owner, run, _):
        other = await open_steering(open_engine, second)
        ticket = await send_elsewhere(other, "for the second", RunOptions(runner="second"))

        assert (ticket.claimed_by, ticket.waits_for) == (None, run.run_id)
        assert str(ticket.not_claimed_reason).startswith("the run in progress uses another runner (")
        item = owner.item(ticket.item_id)
        assert (item.host, item.reason) == (other.engine.host_id, ticket.not_claimed_reason)
        await run.end(done())
        assert (await wait_for_run(other.engine, await ticket.started)).row.status == "completed"


async def test_runner_that_cannot_be_steered_refuses_and_nothing_is_recorded(open_engine: Engines):
    owner = await open_engine(waits)
    ticket = await owner.runs.submit(message("go"), RunOptions(runner="waits"))
    run_id = await ticket.started
    reader = await open_engine(mode="read")

    with pytest.raises(CannotSteer, match="this runner cannot be steered"):
        await reader.runs.steer(run_id, "hello")

    assert await owner.queue.list("s") == []
    alone = await (await owner.runs.submit(message("go", None), RunOptions(runner="waits"))).started
    with pytest.raises(CannotSteer, match="has no session; only a run of a session can receive a message"):
        await reader.runs.steer(alone, "hello")
    await owner.runs.stop(run_id)
    with pytest.raises(CannotSteer, match=f"run {run_id} is cancelled; only a run in progress"):
        await reader.runs.steer(run_id, "hello")


async def test_own_run_is_steered_by_its_name_without_a_request(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    owner = await open_steering(open_engine)
    run = await owner.start()
    monkeypatch.delattr(request_sender.RequestSender, "send")

    assert (await owner.engine.runs.steer("last", "to my own run")).claimed_by == run.run_id
    assert await run.pull() == ["to my own run"]
    await run.end(done())


async def test_dropped_message_is_sent_again_to_a_run_elsewhere_once(open_engine: Engines):
    owner = await open_steering(open_engine)
    first = await owner.start()
    (item_id,) = await owner.send_claimed("once more")
    await first.end(done())
    run, other = await owner.start(), await open_steering(open_engine)

    ticket = await other.engine.queue.resend(item_id, ask_elsewhere=True)

    assert ticket.claimed_by == run.run_id
    assert owner.item(item_id).metadata[queue.SENT_AGAIN] == ticket.event_id
    with pytest.raises(AlreadyDecided, match="was sent again already"):
        await other.engine.queue.resend(item_id, ask_elsewhere=True)
    assert await run.pull() == ["once more"]
    await run.end(done())


async def test_dropped_message_that_is_refused_elsewhere_can_still_be_sent_again(open_engine: Engines):
    owner = await open_steering(open_engine)
    first = await owner.start()
    (item_id,) = await owner.send_claimed("once more")
    await first.end(done())
    run, other = await owner.start(), await open_steering(open_engine)
    host = owner.engine._core.host
    assert host is not None
    # Only the database knows of this stop, so the claim is refused by the writer.
    await host.writer.submit(
        lambda tx: tx.connection.exec_driver_sql(
            "UPDATE runs SET cancel_requested_at = 1 WHERE run_id = ?", (run.run_id,)
        )
    )
    row = await other.engine.runs.get(run.run_id)
    envelope = message("once more")

    with pytest.raises(CannotSteer, match="the run is ending"):
        await other.engine._core.requests.steer(row, envelope, resend=queue_resend(item_id))

    assert queue.SENT_AGAIN not in owner.item(item_id).metadata
    await run.wait_for_end()


def queue_resend(item_id: str) -> Any:
    from engine.queue.leftovers import Resend

    return Resend(item_id)


# Queued messages

Change = Callable[[Engine, str], Awaitable[QueueItem]]
CHANGES: dict[str, tuple[Change, Callable[[QueueItem], Any], Any]] = {
    "steering.edited": (lambda e, item: e.queue.edit(item, "better"), lambda item: item.text, "better"),
    "steering.withdrawn": (lambda e, item: e.queue.withdraw(item), lambda item: item.fate, Fate.WITHDRAWN),
    "steering.paused": (lambda e, item: e.queue.pause(item), lambda item: item.fate, Fate.PAUSED),
    "steering.turned": (lambda e, item: e.queue.set_mode(item, Mode.AFTER), lambda item: item.mode, Mode.AFTER),
    "steering.moved": (lambda e, item: e.queue.move(item), lambda item: item.place, 2),
}


@pytest.mark.parametrize("kind", CHANGES)
async def test_change_of_a_message_is_made_and_recorded_by_its_host(kind: str, open_engine: Engines):
    change, read, expected = CHANGES[kind]
    owner = await open_steering(open_engine)
    run = await owner.start()
    item_id, _ = await owner.send_claimed("first", "second")
    reader = await open_engine(mode="read")

    changed = await change(reader, item_id)

    assert read(changed) == read(owner.item(item_id)) == expected
    finished = await run.end(done())
    assert finished.one(kind).data["item_id"] == item_id
    if kind == "steering.turned":
        own_run = await wait_for_own_run(owner, item_id)
        await wait_for_run(owner.engine, own_run)


async def wait_for_own_run(harness: SteeringHarness, item_id: str) -> str:
    await wait_until(lambda: harness.item(item_id).own_run_id)
    return str(harness.item(item_id).own_run_id)


async def test_paused_message_is_resumed_from_another_host(open_engine: Engines):
    async with two_hosts(open_engine) as (owner, run, other):
        (item_id,) = await owner.send_claimed("wait")
        await other.engine.queue.pause(item_id)
        assert await run.pull() == []

        resumed = await other.engine.queue.resume(item_id)

        assert resumed.fate == Fate.QUEUED
        assert await run.pull() == ["wait"]
        await run.end(done())


async def test_change_that_comes_too_late_is_refused_with_the_words_of_the_host(open_engine: Engines):
    async with two_hosts(open_engine) as (owner, run, other):
        (item_id,) = await owner.send_claimed("too late")
        row = owner.item(item_id)
        assert await run.pull() == ["too late"]

        with pytest.raises(AlreadyDecided, match=f"message {item_id} is injected; it can no longer be changed"):
            await other.engine.queue.edit(item_id, "better")
        with pytest.raises(AlreadyDecided, match=f"message {item_id} is injected; it can no longer be changed"):
            # As if the message had been pulled after the sender looked.
            await other.engine._core.requests.send(Action.WITHDRAW, row.host, run.run_id, {"item_id": item_id})
        await run.end(done())


# Stopping


async def test_stop_of_a_run_elsewhere_waits_for_its_end_and_lists_what_was_not_delivered(open_engine: Engines):
    async with two_hosts(open_engine) as (owner, run, other):
        (item_id,) = await owner.send_claimed("not delivered")

        stopped = await other.engine.runs.stop(run.run_id)

        assert stopped.run.status == "cancelled"
        assert [item.item_id for item in stopped.undelivered] == [item_id]
        assert (await run.wait_for_end()).one("cancel.requested").source == "user"
        reader = await open_engine(mode="read")
        for engine in (other.engine, reader):
            with pytest.raises(AlreadyFinal, match="is cancelled already; there is nothing to stop"):
                await engine.runs.cancel(run.run_id)


# Hosts that do not answer


async def test_request_to_a_host_that_is_closed_is_answered_with_host_gone(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(request_server, "TAKE_SECONDS", 3_600)
    async with two_hosts(open_engine) as (owner, run, other):
        steering = asyncio.ensure_future(other.engine.runs.steer(run.run_id, "never read"))
        await wait_until(lambda: stored_requests(owner.engine))
        await open_engine.close(owner.engine)

        with pytest.raises(HostGone, match=f"the host is gone: the process that hosted run {run.run_id} has ended"):
            await steering
        assert stored_requests(other.engine) == []


@pytest.mark.parametrize("end", ["closed", "killed"])
async def test_host_that_has_ended_leaves_no_request_unanswered(
    end: str, open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(request_server, "TAKE_SECONDS", 3_600)
    async with two_hosts(open_engine) as (owner, run, other):
        host, first = other.engine._core.host, owner.engine._core.host
        assert host is not None
        assert first is not None
        # Its sender has ended without waiting for the receipt.
        await host.writer.submit(
            lambda tx: requests.add(
                tx.connection,
                host=first.host_id,
                run_id=run.run_id,
                action=Action.STEER,
                arguments={"envelope": message("walnut").model_dump(mode="json")},
                sender="process 1",
                at=0,
            )
        )
        if end == "closed":
            await open_engine.close(owner.engine)
        else:
            first._lock.release()
            await other.engine.recover()

        ((_, _, arguments, receipt),) = stored_requests(other.engine)
        assert arguments is None
        assert "the host is gone" in receipt


async def test_message_to_a_host_that_is_gone_waits_here(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    async with two_hosts(open_engine) as (owner, run, other):
        assert owner.engine._core.host is not None
        # As if the process had been killed: the run is left open, and the lock is free.
        owner.engine._core.host._lock.release()
        reader = await open_engine(mode="read")

        with pytest.raises(HostGone, match="the host is gone"):
            await reader.runs.steer(run.run_id, "to nobody")
        with pytest.raises(HostGone, match="the host is gone"):
            await reader.runs.cancel(run.run_id)
        ticket = await send_elsewhere(other, "kept")

        assert (ticket.claimed_by, ticket.waits_for) == (None, run.run_id)
        assert str(ticket.not_claimed_reason).startswith("the host is gone")
        assert stored_requests(other.engine) == []
        await run.end(done())
        assert (await wait_for_run(other.engine, await ticket.started)).row.status == "completed"


async def test_request_that_a_suspended_host_does_not_take_is_withdrawn(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(request_sender, "ANSWER_SECONDS", 0.3)
    monkeypatch.setattr(request_server, "TAKE_SECONDS", 3_600)
    async with two_hosts(open_engine) as (_, run, other):
        with pytest.raises(HostSilent, match=rf"process {os.getpid()}, which hosts run .* has not answered for 0.3 s"):
            await other.engine.runs.steer(run.run_id, "hello?")

        assert stored_requests(other.engine) == []
        monkeypatch.setattr(request_server, "TAKE_SECONDS", 0.01)
        await run.end(done())


async def test_request_of_a_sender_that_is_cancelled_is_withdrawn(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(request_server, "TAKE_SECONDS", 3_600)
    async with two_hosts(open_engine) as (_, run, other):
        steering = asyncio.ensure_future(other.engine.runs.steer(run.run_id, "never mind"))
        await wait_until(lambda: stored_requests(other.engine))
        steering.cancel()

        await wait_until(lambda: not stored_requests(other.engine))
        await run.end(done())


@pytest.mark.parametrize(("is_taken", "is_claimed"), [(True, True), (True, False), (False, False)])
async def test_what_a_dead_host_has_done_decides_the_receipt(is_taken: bool, is_claimed: bool, open_engine: Engines):
    async with two_hosts(open_engine) as (owner, run, other):
        event = message("perhaps")
        ticket = await owner.engine.runs.submit(event, CONTROLLED) if is_claimed else None
        host = other.engine._core.host
        assert host is not None

        def settle(tx: Any) -> Any:
            request_id = requests.add(
                tx.connection,
                host="host_dead",
                run_id=run.run_id,
                action=Action.STEER,
                arguments={"envelope": event.model_dump(mode="json")},
                sender="process 1",
                at=0,
            )
            if is_taken:
                requests.take(tx.connection, "host_dead", at=1)
            settle_requests(tx, "host_dead", at=2)
            return requests.get(tx.connection, request_id)

        settled = await host.writer.submit(settle)

        assert settled.arguments is None
        if ticket is not None:
            assert settled.receipt == {"item_id": ticket.item_id, "run_id": run.run_id, "is_repeat": False}
        else:
            assert settled.receipt["error"] == "HostGone"
        await run.pull()
        await run.end(done())


async def test_receipts_that_nobody_has_read_are_removed_by_a_later_host(open_engine: Engines, clock: FakeClock):
    first = await open_engine(waits)
    host = first._core.host
    assert host is not None

    def leave_receipt(tx: Any) -> None:
        request_id = requests.add(
            tx.connection, host="host_x", run_id=None, action="stop", arguments={}, sender="process 1", at=clock.now()
        )
        requests.answer(tx.connection, request_id, {}, at=clock.now())

    await host.writer.submit(leave_receipt)
    await open_engine(waits)
    assert len(stored_requests(first)) == 1
    clock.advance(KEPT_RECEIPTS_US / 1_000_000 + 1)
    await open_engine(waits)

    assert stored_requests(first) == []


# Requests that a host does not understand


@pytest.mark.parametrize(
    ("action", "arguments", "words"),
    [
        ("dance", {}, r"unknown action 'dance'\. This host knows: steer, edit, withdraw,"),
        (Action.EDIT, {"item_id": "x"}, r"the request edit is invalid: text: Field required\."),
        (Action.STOP, {"now": True}, r"the request stop is invalid: now: Extra inputs are not permitted\."),
        (Action.CLOSE_STALE, {"max_idle_seconds": 0}, r"the request close_stale is invalid: max_idle_seconds: "),
        (Action.WITHDRAW, {"item_id": "none"}, r"no message none in the queue\."),
    ],
)
async def test_request_that_makes_no_sense_is_refused_and_the_host_goes_on(
    action: Any, arguments: dict[str, Any], words: str, open_engine: Engines
):
    async with two_hosts(open_engine) as (owner, run, other):
        sender = other.engine._core.requests
        with pytest.raises(StoreError, match=words):
            await sender.send(action, owner.engine.host_id, run.run_id, arguments)
        with pytest.raises(StoreError, match="the request names no run"):
            await sender.send(Action.STOP, owner.engine.host_id, None, {})

        assert (await send_elsewhere(other, "still there?")).claimed_by == run.run_id
        assert await run.pull() == ["still there?"]
        await run.end(done())


async def test_text_of_a_message_is_removed_when_the_request_is_answered(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    async with two_hosts(open_engine) as (owner, run, other):
        monkeypatch.setattr(requests, "remove", lambda *_: None)  # as if the sender had ended
        await send_elsewhere(other, "walnut")

        (kept,) = stored_requests(owner.engine)
        assert kept[:3] == ("steer", f"process {os.getpid()}", None)
        assert "walnut" not in repr(kept)
        await run.pull()
        await run.end(done())


# Real processes

OTHER = Path(__file__).parents[2] / "support" / "queue" / "other_host.py"


async def test_suspended_process_does_not_deliver_a_request_that_was_withdrawn(
    open_engine: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from tests.engine.queue.test_processes import other_host
    from tests.support.faults.faults import read_line, write_line

    monkeypatch.setattr(request_sender, "ANSWER_SECONDS", 0.3)
    async with other_host(tmp_path) as (process, other):
        reader = await open_engine(mode="read")
        process.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(HostSilent, match=f"process {process.pid}, which hosts run {other['run_id']}"):
                await reader.runs.steer(other["run_id"], "hello?")
        finally:
            process.send_signal(signal.SIGCONT)
        monkeypatch.setattr(request_sender, "ANSWER_SECONDS", MAX_WAIT_SECONDS)
        ticket = await reader.runs.steer(other["run_id"], "are you back?")
        assert ticket.claimed_by == other["run_id"]
        write_line(process)
        pulled = await asyncio.to_thread(read_line, process)
        assert "are you back?" in pulled
        assert "hello?" not in pulled
        process.stdin.close()
        await asyncio.to_thread(process.wait)
