"""Deadlines, cancels and what a run leaves when it is stopped."""

import asyncio

import pytest

from engine.api import AlreadyFinal, NotFound
from tests.support import (
    Engines,
    FakeClock,
    Stage,
    delta,
    done,
    forever,
    lines_of,
    message,
    perform,
    played,
    said,
    send,
    until,
    waits,
)


async def started(engine, runner="hi", **choice) -> str:
    run_id = await send(engine, runner, **choice)
    await until(engine, run_id, "message.delta")
    return run_id


async def test_a_run_past_its_deadline_is_closed_as_timeout_and_retryable(open_engine: Engines, clock: FakeClock):
    engine = await open_engine(waits)
    run_id = await started(engine, config={"timeout": 5})

    clock.advance(5)
    run = await played(engine, run_id)

    assert (run.row.status, run.row.status_reason) == ("timeout", "runner.timeout")
    assert run.finished == {
        "status": "timeout",
        "reason": "runner.timeout",
        "error": "the run took longer than 5 s",
        "retryable": True,
    }
    assert await lines_of(engine) == [("user", "hi")], "the deltas of a run that failed make no line"


async def test_a_run_just_before_its_deadline_is_left_alone(open_engine: Engines, clock: FakeClock):
    go_on = asyncio.Event()

    async def slow(ctx):
        yield delta("…")
        await go_on.wait()
        yield done("made it")

    engine = await open_engine(slow)
    run_id = await started(engine, config={"timeout": 5})
    clock.advance(4.999)
    go_on.set()

    assert (await played(engine, run_id)).row.status == "completed"


async def test_the_default_deadline_is_300_s(open_engine: Engines, clock: FakeClock):
    engine = await open_engine(waits)
    run_id = await started(engine)
    clock.advance(300)

    assert (await played(engine, run_id)).row.status == "timeout"


async def test_a_run_without_a_deadline_outlasts_any_time(open_engine: Engines, clock: FakeClock):
    go_on = asyncio.Event()

    async def slow(ctx):
        yield delta("…")
        await go_on.wait()
        yield done("at last")

    engine = await open_engine(slow)
    run_id = await started(engine, config={"timeout": 0})
    clock.advance(10**7)
    go_on.set()

    assert (await played(engine, run_id)).row.status == "completed"


async def test_what_comes_after_the_deadline_is_ignored(open_engine: Engines, clock: FakeClock):
    async def stubborn(ctx):
        yield delta("…")
        try:
            await forever()
        except asyncio.CancelledError:
            yield done("too late")

    engine = await open_engine(stubborn)
    run_id = await started(engine, config={"timeout": 1})
    clock.advance(1)
    run = await played(engine, run_id)

    assert run.row.status == "timeout"
    late = run.one("run.completed")
    assert (late.outcome, late.reason) == ("ignored", "came after the run was stopped (deadline)")


async def test_the_first_reason_to_stop_a_run_stands(open_engine: Engines, clock: FakeClock):
    async def slow_to_leave(ctx):
        yield {"data": "no type"}
        try:
            await forever()
        except asyncio.CancelledError:
            clock.advance(300)
            raise

    run = await perform(await open_engine(slow_to_leave))

    assert (run.row.status, run.row.status_reason) == ("failed", "protocol.error")


async def test_a_cancel_is_recorded_and_the_run_is_cancelled(open_engine: Engines, clock: FakeClock):
    engine = await open_engine(waits)
    run_id = await started(engine)
    clock.advance(2)
    await engine.cancel(run_id)
    run = await played(engine, run_id)

    assert (run.row.status, run.row.status_reason) == ("cancelled", "cancelled")
    assert run.row.cancel_requested_at == clock.now()
    assert run.types[-2:] == ["cancel.requested", "run.finished"]
    assert run.finished == {"status": "cancelled", "reason": "cancelled"}


async def test_the_runner_sees_the_cancel_as_an_interrupt_and_through_run_get(open_engine: Engines):
    seen = []

    async def watches(ctx):
        yield delta("…")
        try:
            await forever()
        except asyncio.CancelledError:
            seen.append((await ctx.api.run_get()).cancel_requested_at)
            raise

    engine = await open_engine(watches)
    run_id = await started(engine)
    await engine.cancel(run_id)
    await played(engine, run_id)

    assert seen == ["2026-01-02T03:04:05.000000Z"]


async def test_a_runner_that_ignores_a_cancel_is_stopped_all_the_same(open_engine: Engines):
    ignored = []

    async def deaf(ctx):
        yield delta("…")
        while len(ignored) < 1:
            try:
                await forever()
            except asyncio.CancelledError as error:
                ignored.append(error)
        await forever()

    engine = await open_engine(deaf)
    run_id = await started(engine)
    await engine.cancel(run_id)

    assert (await played(engine, run_id)).row.status == "cancelled"
    assert len(ignored) == 1


async def test_a_run_that_has_ended_cannot_be_cancelled(play: Stage):
    run = await play(done("x"))

    with pytest.raises(AlreadyFinal, match=f"run {run.run_id} is completed already; there is nothing to cancel"):
        await play.engine.cancel(run.run_id)


async def test_a_run_that_never_was_cannot_be_cancelled(play: Stage):
    with pytest.raises(NotFound, match="no run run_zzz"):
        await play.engine.cancel("run_zzz")


async def test_closing_the_engine_stops_its_runs_and_records_their_end(open_engine: Engines):
    engine = await open_engine(waits)
    run_id = await started(engine)
    await open_engine.close(engine)
    reader = await open_engine(mode="read")

    run = await reader.run(run_id)
    assert (run.status, run.metadata["error"]) == ("cancelled", "the host was closed")
    assert [entry.type async for entry in reader.entries(run_id)][-1] == "run.finished"


async def test_a_failure_of_the_host_itself_closes_the_run_and_says_why(open_engine: Engines):
    async def sound(ctx):
        yield said("fine")

    engine = await open_engine(sound)

    class Broken:
        async def begin(self, *_):
            raise OSError("no more processes")

        async def close(self):
            pass

    engine._host.orchestrator._runtime = Broken()
    run = await perform(engine)

    assert (run.row.status, run.row.status_reason) == ("failed", "host.failed")
    assert run.finished["error"] == "OSError: no more processes"


async def test_closing_stops_a_run_that_was_taken_in_this_very_moment(open_engine: Engines):
    engine = await open_engine(waits)
    ticket = await engine.submit(message())
    async with asyncio.timeout(5):
        await open_engine.close(engine)

    reader = await open_engine(mode="read")
    run = await reader.run(ticket.started.result())
    assert (run.status, run.metadata["error"]) == ("cancelled", "the host was closed")


async def test_closing_stops_a_run_that_is_just_being_taken_in(open_engine: Engines):
    engine = await open_engine(waits)
    sending = asyncio.ensure_future(engine.submit(message()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        await open_engine.close(engine)

    reader = await open_engine(mode="read")
    assert (await reader.run((await sending).started.result())).status == "cancelled"
