"""Several processes on one database: none closes the runs of another, and dead hosts are recognised."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from engine.api import AlreadyFinal, Engine, RunOptions, message
from tests.support.faults.faults import (
    MARK_VARIABLE,
    PooledEngine,
    marked_processes,
    open_pooled_engine,
    other_process,
    read_line,
    until,
)
from tests.support.faults.forked_host import ForkedHost, forked_host
from tests.support.limits import slowness


@asynccontextmanager
async def live_host(db: Path, session: str = "s") -> AsyncIterator[tuple[ForkedHost, str]]:
    """Another process that hosts a run without an end, and the run's id."""
    with forked_host(os.environ[MARK_VARIABLE], db, "chaos", "hang", session=session, runs=1, waits=True) as other:
        while (announced := json.loads(await asyncio.to_thread(other.lines.readline)))["type"] != "message.delta":
            pass
        yield other, announced["run_id"]


def locks(db: Path) -> list[str]:
    return sorted(path.name for path in db.parent.glob("*.lock"))


async def test_a_process_that_reads_beside_a_live_host_closes_none_of_its_runs(tmp_path: Path, mark: str):
    db = tmp_path / "facts.db"
    async with live_host(db) as (_, run_id):
        for _ in range(2):
            async with await Engine.open(db=db, mode="read") as reader:
                assert list(reader.recovered_runs) == []
                run = await reader.runs.get(run_id)
                assert (run.status, run.finished_at) == ("running", None)
                assert [entry.type for entry in await reader.runs.journal(run_id)] == ["run.started", "message.delta"]
        assert len(locks(db)) == 1


async def test_a_process_that_hosts_beside_a_live_host_closes_none_of_its_runs(tmp_path: Path, mark: str):
    db = tmp_path / "facts.db"
    async with live_host(db) as (_, run_id):
        async with open_pooled_engine(db) as beside:
            assert list(beside.engine.recovered_runs) == []
            assert len(locks(db)) == 2
            await beside.check_normal()
            assert (await beside.engine.runs.get(run_id)).status == "running"
        assert len(locks(db)) == 1
        async with open_pooled_engine(db) as beside:
            assert (await beside.engine.runs.get(run_id)).status == "running"


async def test_reader_does_not_recover_runs_of_a_dead_host(tmp_path: Path, mark: str):
    db = tmp_path / "facts.db"
    async with live_host(db) as (other, run_id):
        await asyncio.to_thread(other.kill)
    async with await Engine.open(db=db, mode="read") as reader:
        assert (await reader.runs.get(run_id)).status == "running"
    assert len(locks(db)) == 1


async def test_next_host_closes_run_of_a_dead_host_and_removes_its_lock(tmp_path: Path, mark: str):
    db = tmp_path / "facts.db"
    async with live_host(db, "theirs") as (_, living), live_host(db, "dying") as (other, run_id):
        await asyncio.to_thread(other.kill)
        async with open_pooled_engine(db) as beside:
            assert list(beside.engine.recovered_runs) == [run_id]
            closed = await beside.wait_for_end(run_id)
            closed.check_journal()
            assert (closed.run.status, closed.run.status_reason) == ("failed", "host_restarted")
            assert closed.last["retryable"] is True
            assert (await beside.engine.runs.get(living)).status == "running"
            assert len(locks(db)) == 2
            again = await beside.run("echo", "the slot is free", session="dying")
            assert again.run.status == "completed"
        assert len(locks(db)) == 1


async def test_two_hosts_that_open_at_once_close_a_dead_hosts_run_once(tmp_path: Path, mark: str):
    db = tmp_path / "facts.db"
    async with live_host(db) as (other, run_id):
        await asyncio.to_thread(other.kill)
    opened = await asyncio.gather(*(Engine.open(db=db) for _ in range(4)))
    try:
        assert sorted(run for engine in opened for run in engine.recovered_runs) == [run_id]
        entries = [entry async for entry in opened[0].runs.entries(run_id)]
        assert [entry.type for entry in entries].count("run.finished") == 1
    finally:
        for engine in opened:
            await engine.close()
    assert locks(db) == []


async def test_one_live_run_per_conversation_holds_across_processes(tmp_path: Path, mark: str):
    db = tmp_path / "facts.db"
    async with live_host(db, "shared") as (_, run_id), open_pooled_engine(db) as beside:
        engine = beside.engine
        choice = RunOptions(runner="echo")
        ticket = await engine.runs.submit(message("evt_waits", "me too", conversation_id="shared"), choice)
        assert ticket.waits_for == run_id
        other_thread = message("evt_thread", "me too", conversation_id="shared", thread_id="t")
        thread = await engine.runs.submit(other_thread, choice)
        assert (await engine.runs.wait_for_end(await thread.started)).status == "completed"
        assert not ticket.started.done()

        await engine.runs.cancel(run_id)
        run = await engine.runs.wait_for_end(await ticket.started)
        assert run.status == "completed"
        cancelled = await engine.runs.get(run_id)
        assert cancelled.status == "cancelled"
        assert (run.started_at or 0) >= (cancelled.finished_at or 0) > 0


async def test_a_cancel_from_another_process_is_noticed(tmp_path: Path, mark: str):
    db = tmp_path / "facts.db"
    async with live_host(db) as (_, run_id), await Engine.open(db=db, mode="read") as reader:
        await reader.runs.cancel(run_id)
        async with reader.subscribe(run_id=run_id) as news:
            async for batch in news:
                if batch[-1].entry.type == "run.finished":
                    break
        run = await reader.runs.get(run_id)
        assert (run.status, run.status_reason) == ("cancelled", "cancelled")
        assert run.cancel_requested_at is not None
        entries = await reader.runs.journal(run_id)
        (noticed,) = [entry for entry in entries if entry.type == "cancel.requested"]
        assert noticed.source == "user"
        # The rule is half a second on a free machine.
        assert noticed.at - run.cancel_requested_at <= 2_000_000 * slowness()
        with pytest.raises(AlreadyFinal, match="nothing to stop"):
            await reader.runs.cancel(run_id)


async def test_message_queued_in_a_dead_host_is_dropped_with_the_reason(tmp_path: Path, mark: str):
    db = tmp_path / "facts.db"
    script = tmp_path / "waiting.py"
    script.write_text(WAITING)
    with other_process(script, db) as other:
        assert await asyncio.to_thread(read_line, other) == "queued"
        other.send_signal(signal.SIGKILL)
        await asyncio.to_thread(other.wait)
    async with open_pooled_engine(db) as opened:
        await check_dropped(opened)
    await until(lambda: not marked_processes(mark), 1.0)


WAITING = """
import asyncio, sys
from pathlib import Path
from engine.api import Engine, RunOptions, message

async def main():
    engine = await Engine.open(db=Path(sys.argv[1]))
    first = await engine.runs.submit(message("evt_1", "hang", conversation_id="s"), RunOptions(runner="chaos"))
    async for batch in engine.subscribe(run_id=await first.started):
        break
    await engine.runs.submit(message("evt_2", "and then this", conversation_id="s"), RunOptions(runner="chaos"))
    print("queued", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def check_dropped(opened: PooledEngine) -> None:
    engine = opened.engine
    (run,) = await engine.runs.list()
    assert (run.status, run.status_reason) == ("failed", "host_restarted")
    lines = await engine.sessions.transcript("s")
    assert [(line.role, line.content) for line in lines] == [("user", "and then this"), ("user", "hang")]
    rows = await engine._core.read(lambda conn: conn.exec_driver_sql("SELECT fate, reason FROM queue").fetchall())
    assert [tuple(row) for row in rows] == [("dropped", "host_restarted")]
    again = await opened.run("echo", "hello", session="s")
    assert again.run.status == "completed"
