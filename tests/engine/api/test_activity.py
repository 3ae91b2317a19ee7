"""The activity of runs: when it is written, runs that are idle, and runs that nothing executes any more."""

import asyncio
from typing import Any

import pytest

from engine import host as host_module
from engine.api import Engine, Fate, HostGone, RunRow, Status, StoreError
from engine.host import Host
from engine.store import runs
from engine.store.errors import DiskFull
from engine.store.writer import Writer
from tests.support.engines import (
    Engines,
    FakeClock,
    FinishedRun,
    delta,
    done,
    journal_of,
    message,
    run_event,
    wait_for_entry,
    waits,
)
from tests.support.limits import MAX_WAIT_SECONDS
from tests.support.queue.steering import ControlledRun, open_steering, wait_until


async def stored(engine: Engine, run_id: str, holds: Any) -> RunRow:
    """The row of a run, as soon as the condition holds."""
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        while not holds(run := await engine.runs.get(run_id)):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    return run


@pytest.fixture
def quick_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_module, "POLL_SECONDS", 0.01)


@pytest.mark.usefixtures("quick_polls")
async def test_results_and_calls_are_activity_and_other_entries_are_not(open_engine: Engines, clock: FakeClock):
    steering = await open_steering(open_engine)
    engine, run = steering.engine, await steering.start()
    at_result = await stored(engine, run.run_id, lambda row: row.last_activity_at is not None)
    assert at_result.last_activity_at == clock.now()

    clock.advance(2)
    await run.pull()
    at_call = await stored(engine, run.run_id, lambda row: row.last_activity_at == clock.now())
    called_at = clock.now()
    clock.advance(2)
    (item_id,) = await steering.send_claimed("no activity of the runner")
    await engine.queue.withdraw(item_id)
    clock.advance(2)
    await run.yields(delta("more"))

    again = await stored(engine, run.run_id, lambda row: row.last_activity_at != called_at)
    assert (at_call.last_activity_at, again.last_activity_at) == (called_at, clock.now())
    finished = await run.end(done())
    assert finished.row.last_activity_at == clock.now()


@pytest.mark.usefixtures("quick_polls")
async def test_activity_is_written_once_a_second_for_all_runs_together(
    open_engine: Engines, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    written: list[set[str]] = []
    note = runs.note_activity
    monkeypatch.setattr(runs, "note_activity", lambda conn, active: (written.append(set(active)), note(conn, active)))
    polls: list[None] = []
    write = Host._write_activity
    monkeypatch.setattr(Host, "_write_activity", lambda host: (polls.append(None), write(host)))
    steering = await open_steering(open_engine)
    controlled = [await steering.start(session=f"s{number}") for number in range(3)]
    clock.advance(1)
    for run in controlled:
        await run.yields(delta("x"))
    ids = {run.run_id for run in controlled}
    await stored(steering.engine, controlled[0].run_id, lambda row: row.last_activity_at == clock.now())
    assert written[-1] == ids
    before = len(written)

    clock.advance(0.9)
    for run in controlled:
        await run.yields(delta("y"))
    polled = len(polls)
    await wait_until(lambda: len(polls) > polled + 3)
    assert len(written) == before

    clock.advance(0.1)
    await wait_until(lambda: len(written) > before)
    assert written[-1] == ids
    for run in controlled:
        await run.end(done())


async def test_short_run_has_its_activity_at_its_end(open_engine: Engines, clock: FakeClock):
    async def answers(ctx):
        yield done("x")

    engine = await open_engine(answers)
    run = await run_event(engine, message())

    assert (run.row.status, run.row.last_activity_at) == ("completed", clock.now())


async def test_idle_runs_are_listed_and_ended_ones_are_not(open_engine: Engines, clock: FakeClock):
    steering = await open_steering(open_engine)
    old = await steering.start(session="old")
    ended = await steering.start(session="ended")
    await ended.end(done())
    clock.advance(60)
    await steering.start(session="new")

    idle = await steering.engine.runs.list(idle_since=clock.now() - 30_000_000)

    assert [run.run_id for run in idle] == [old.run_id]


# Runs that nothing executes


def add_run_without_child(engine: Engine, run_id: str, at: int, session: str | None = None) -> "asyncio.Future[None]":
    """Store a live run of this host that nothing executes, as a run that was recorded from outside."""
    host = engine._core.host
    assert host is not None
    row = RunRow(
        run_id=run_id,
        runner_id="plugin:a/b/c",
        created_at=at,
        updated_at=at,
        status=Status.RUNNING,
        started_at=at,
        host=host.host_id,
        conversation_id=session,
    )
    return host.writer.submit(lambda tx: runs.create(tx.connection, row))


async def test_stale_run_is_closed_and_a_running_or_paused_one_is_not(open_engine: Engines, clock: FakeClock):
    steering = await open_steering(open_engine)
    engine, running = steering.engine, await steering.start(config={"timeout": 0})
    await add_run_without_child(engine, "run_left", clock.now())
    clock.advance(3_000)
    await add_run_without_child(engine, "run_newer", clock.now())
    clock.advance(600)

    closed = await engine.runs.close_stale()

    assert [(run.run_id, run.status, run.status_reason) for run in closed] == [("run_left", "failed", "stale")]
    (last,) = await journal_of(engine, "run_left")
    assert (last.type, last.data["retryable"]) == ("run.finished", True)
    assert last.data["error"] == "nothing executed the run, and it had no activity for 3600 s"
    assert (await engine.runs.get("run_newer")).status == "running"
    assert (await engine.runs.get(running.run_id)).status == "running"
    assert await engine.runs.close_stale() == []
    with pytest.raises(StoreError, match="max_idle_seconds must be at least 1"):
        await engine.runs.close_stale(0)
    await running.end(done())


async def test_paused_run_is_not_stale(open_engine: Engines, clock: FakeClock):
    steering = await open_steering(open_engine)
    engine, run = steering.engine, await steering.start()
    await engine.breakpoints.set(run.run_id, "steering")
    pulling = run.pull_items()
    await wait_for_entry(engine, run.run_id, "pause.started")
    clock.advance(10_000)

    assert await engine.runs.close_stale() == []

    await engine.runs.continue_run(run.run_id)
    await pulling
    await run.end(done())


async def test_stale_run_of_another_host_is_closed_by_that_host(open_engine: Engines, clock: FakeClock):
    owner, other = await open_engine(waits), await open_engine(waits)
    await add_run_without_child(owner, "run_left", clock.now(), "s")
    waiting = await other.runs.submit(message("next"))
    clock.advance(10)
    reader = await open_engine(mode="read")

    assert await reader.runs.close_stale() == []
    closed = await reader.runs.close_stale(5)

    assert [(run.run_id, run.status_reason) for run in closed] == [("run_left", "stale")]
    await other.runs.stop(await waiting.started)


async def test_runs_of_a_dead_host_are_left_to_recovery(open_engine: Engines, clock: FakeClock):
    owner, other = await open_engine(waits), await open_engine(waits)
    await add_run_without_child(owner, "run_left", clock.now())
    assert owner._core.host is not None
    owner._core.host._lock.release()
    clock.advance(10)

    assert await other.runs.close_stale(5) == []
    assert (await other.runs.get("run_left")).status == "running"
    with pytest.raises(HostGone):
        await other.runs.cancel("run_left")
    assert await other.recover() == ["run_left"]


async def test_run_whose_end_the_disk_refused_is_closed(
    open_engine: Engines, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(host_module, "POLL_SECONDS", 3_600)  # so that only the call closes the run
    steering = await open_steering(open_engine)
    engine, run = steering.engine, await steering.start()
    (item_id,) = await steering.send_claimed("not delivered")
    ending = await end_on_a_full_disk(run, monkeypatch)
    assert (await engine.runs.get(run.run_id)).status == "running"
    clock.advance(10)

    (closed,) = await engine.runs.close_stale(5)

    assert (closed.run_id, closed.status, closed.status_reason) == (run.run_id, "failed", "storage.failed")
    assert steering.item(item_id).fate == Fate.DROPPED
    await ending


async def end_on_a_full_disk(run: ControlledRun, monkeypatch: pytest.MonkeyPatch) -> "asyncio.Future[FinishedRun]":
    """Let the runner of a run end while every operation of the writer fails. The future waits for its stored end."""
    host = run.engine._core.host
    assert host is not None
    task = host.dispatcher.run_task(run.run_id)
    assert task is not None

    def refuse(self: Writer, operation: Any, size: int = 0) -> "asyncio.Future[Any]":
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        future.set_exception(DiskFull("no space is left"))
        return future

    with monkeypatch.context() as patched:
        patched.setattr(Writer, "submit", refuse)
        ending = asyncio.ensure_future(run.end())
        await task
    return ending
