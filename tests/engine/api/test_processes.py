"""Several engines on one database: slots, cancels, readers, and recovery from a dead host."""

import asyncio
import os
import sys
from pathlib import Path

from sqlalchemy import select

from engine.events import Fate
from engine.store.queue import QueueItem
from engine.store.row_mapping import every
from engine.store.tables import queue
from tests.support.engines import (
    Engines,
    delta,
    done,
    journal_bytes,
    journal_of,
    lines_of,
    message,
    read_database,
    run_event,
    send,
    wait_for_entry,
    wait_for_run,
    waits,
)

ROOT = Path(__file__).parents[3]


async def die_with_a_run(root: Path) -> str:
    """Kill a host process while its run is in progress. Returns the run's id."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        str(ROOT / "tests" / "support" / "dying_host.py"),
        str(root),
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
    )
    run_id = (await child.stdout.readline()).decode().strip()
    child.kill()
    await child.communicate()
    assert run_id
    return run_id


async def test_one_live_run_per_conversation_across_engines(open_engine: Engines):
    leave = asyncio.Event()

    async def gated(ctx):
        yield delta("…")
        await leave.wait()
        yield done(ctx.input.to_text())

    first, second = await open_engine(gated), await open_engine(gated)
    held = await send(first, message("one"))
    ticket = await second.runs.submit(message("two"))
    assert ticket.waits_for == held
    leave.set()

    run = await wait_for_run(second, await ticket.started)

    assert run.row.status == "completed"
    assert await lines_of(second) == [("user", "one"), ("assistant", "one"), ("user", "two"), ("assistant", "two")]


async def test_second_host_does_not_close_runs_of_a_live_host(open_engine: Engines):
    first = await open_engine(waits)
    run_id = await send(first)
    await wait_for_entry(first, run_id, "message.delta")
    second = await open_engine(waits)

    assert second.recovered_runs == []
    assert (await second.runs.get(run_id)).status == "running"
    await open_engine.close(second)
    assert (await first.runs.get(run_id)).status == "running"


async def test_repeated_event_is_recognised_by_another_engine(open_engine: Engines):
    async def answers(ctx):
        yield done("x")

    first, second = await open_engine(answers), await open_engine(answers)
    run = await run_event(first, message(event_id="e1"))
    ticket = await second.runs.submit(message(event_id="e1"))

    assert (ticket.is_repeat, await ticket.started) == (True, run.run_id)


async def test_cancel_from_another_engine_stops_the_run(open_engine: Engines):
    host, other = await open_engine(waits), await open_engine(waits)
    run_id = await send(host)
    await wait_for_entry(host, run_id, "message.delta")
    await other.runs.cancel(run_id)

    run = await wait_for_run(host, run_id)

    assert run.row.status == "cancelled"
    assert run.one("cancel.requested").source == "user"


async def test_reader_can_cancel_a_run(open_engine: Engines):
    host, reader = await open_engine(waits), await open_engine(mode="read")
    run_id = await send(host)
    await wait_for_entry(host, run_id, "message.delta")
    await reader.runs.cancel(run_id)

    assert (await wait_for_run(host, run_id)).row.status == "cancelled"


async def test_opening_as_host_closes_runs_of_a_dead_host(open_engine: Engines, tmp_path: Path):
    run_id = await die_with_a_run(tmp_path)
    engine = await open_engine(waits)

    assert list(engine.recovered_runs) == [run_id]
    run = await engine.runs.get(run_id)
    assert (run.status, run.status_reason) == ("failed", "host_restarted")
    journal = await journal_of(engine, run_id)
    assert [entry.type for entry in journal] == ["run.started", "message.delta", "run.finished"]
    assert [entry.position for entry in journal] == [1, 2, 3]
    assert journal[-1].data == {
        "status": "failed",
        "reason": "host_restarted",
        "error": "the host ended before the run did",
        "retryable": True,
    }


async def test_run_of_a_dead_host_has_the_size_of_its_journal(open_engine: Engines, tmp_path: Path):
    run_id = await die_with_a_run(tmp_path)
    engine = await open_engine(waits)

    run = await wait_for_run(engine, run_id)

    assert run.row.journal_bytes == journal_bytes(engine, run)


async def test_queued_messages_of_a_dead_host_are_dropped_and_stay_in_the_transcript(
    open_engine: Engines, tmp_path: Path
):
    await die_with_a_run(tmp_path)
    engine = await open_engine(waits)

    (item,) = read_database(engine, lambda conn: every(conn, select(queue), QueueItem))
    assert (item.event_id, item.fate, item.reason) == ("waiting", Fate.DROPPED, "host_restarted")
    assert await lines_of(engine) == [("user", "one"), ("user", "two")]


async def test_slot_of_a_dead_host_is_freed(open_engine: Engines, tmp_path: Path):
    await die_with_a_run(tmp_path)

    async def answers(ctx):
        yield done("back again")

    engine = await open_engine(answers)
    run = await run_event(engine, message("three"), runner="answers")

    assert run.row.status == "completed"


async def test_reader_does_not_recover_runs(open_engine: Engines, tmp_path: Path):
    run_id = await die_with_a_run(tmp_path)
    reader = await open_engine(mode="read")

    assert reader.recovered_runs == ()
    assert (await reader.runs.get(run_id)).status == "running"
    assert [entry.type for entry in await journal_of(reader, run_id)] == ["run.started", "message.delta"]


async def test_recovery_closes_only_runs_of_dead_hosts(open_engine: Engines, tmp_path: Path):
    live = await open_engine(waits)
    own = await send(live, message(session="mine"))
    await wait_for_entry(live, own, "message.delta")
    dead = await die_with_a_run(tmp_path)
    third = await open_engine(waits)

    assert list(third.recovered_runs) == [dead]
    assert (await third.runs.get(own)).status == "running"


async def test_reader_cannot_submit_events(open_engine: Engines):
    import pytest

    from engine.api import StoreError

    await open_engine(waits)
    reader = await open_engine(mode="read")

    with pytest.raises(StoreError, match="opened to read"):
        await reader.runs.submit(message())
