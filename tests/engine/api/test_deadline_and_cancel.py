"""Deadlines and cancels, and how a stopped run ends."""

import asyncio

import pytest

from engine.api import AlreadyFinal, NotFound
from tests.support.engines import (
    START,
    Engines,
    FakeClock,
    ScriptRunner,
    delta,
    done,
    lines_of,
    message,
    run_event,
    said,
    send,
    wait_for_entry,
    wait_for_run,
    wait_forever,
    waits,
)
from tests.support.limits import MAX_WAIT_SECONDS


async def started(engine, runner="hi", **choice) -> str:
    run_id = await send(engine, runner, **choice)
    await wait_for_entry(engine, run_id, "message.delta")
    return run_id


async def test_run_past_its_deadline_ends_as_retryable_timeout(open_engine: Engines, clock: FakeClock):
    engine = await open_engine(waits)
    run_id = await started(engine, config={"timeout": 5})

    clock.advance(5)
    run = await wait_for_run(engine, run_id)

    assert (run.row.status, run.row.status_reason) == ("timeout", "runner.timeout")
    assert run.finished == {
        "status": "timeout",
        "reason": "runner.timeout",
        "error": "the run took longer than 5 s",
        "retryable": True,
    }
    assert await lines_of(engine) == [("user", "hi")], "the deltas of a run that failed make no line"


async def test_run_before_its_deadline_continues(open_engine: Engines, clock: FakeClock):
    go_on = asyncio.Event()

    async def slow(ctx):
        yield delta("…")
        await go_on.wait()
        yield done("made it")

    engine = await open_engine(slow)
    run_id = await started(engine, config={"timeout": 5})
    clock.advance(4.999)
    go_on.set()

    assert (await wait_for_run(engine, run_id)).row.status == "completed"


async def test_default_deadline_is_300_seconds(open_engine: Engines, clock: FakeClock):
    engine = await open_engine(waits)
    run_id = await started(engine)
    clock.advance(300)

    assert (await wait_for_run(engine, run_id)).row.status == "timeout"


async def test_run_without_deadline_never_times_out(open_engine: Engines, clock: FakeClock):
    go_on = asyncio.Event()

    async def slow(ctx):
        yield delta("…")
        await go_on.wait()
        yield done("at last")

    engine = await open_engine(slow)
    run_id = await started(engine, config={"timeout": 0})
    clock.advance(10**7)
    go_on.set()

    assert (await wait_for_run(engine, run_id)).row.status == "completed"


async def test_results_after_the_deadline_are_ignored(open_engine: Engines, clock: FakeClock):
    async def stubborn(ctx):
        yield delta("…")
        try:
            await wait_forever()
        except asyncio.CancelledError:
            yield done("too late")

    engine = await open_engine(stubborn)
    run_id = await started(engine, config={"timeout": 1})
    clock.advance(1)
    run = await wait_for_run(engine, run_id)

    assert run.row.status == "timeout"
    late = run.one("run.completed")
    assert (late.outcome, late.reason) == ("ignored", "came after the run was stopped (deadline)")


async def test_first_stop_reason_is_final(open_engine: Engines, clock: FakeClock):
    async def slow_to_leave(ctx):
        yield {"data": "no type"}
        try:
            await wait_forever()
        except asyncio.CancelledError:
            clock.advance(300)
            raise

    run = await run_event(await open_engine(slow_to_leave))

    assert (run.row.status, run.row.status_reason) == ("failed", "protocol.error")


async def test_cancel_is_recorded_and_run_ends_as_cancelled(open_engine: Engines, clock: FakeClock):
    engine = await open_engine(waits)
    run_id = await started(engine)
    clock.advance(2)
    await engine.runs.cancel(run_id)
    run = await wait_for_run(engine, run_id)

    assert (run.row.status, run.row.status_reason) == ("cancelled", "cancelled")
    assert run.row.cancel_requested_at == clock.now()
    assert run.types[-2:] == ["cancel.requested", "run.finished"]
    assert run.finished == {"status": "cancelled", "reason": "cancelled"}


async def test_runner_sees_cancel_as_interrupt_and_in_run_get(open_engine: Engines):
    seen = []

    async def watches(ctx):
        yield delta("…")
        try:
            await wait_forever()
        except asyncio.CancelledError:
            seen.append((await ctx.api.run_get()).cancel_requested_at)
            raise

    engine = await open_engine(watches)
    run_id = await started(engine)
    await engine.runs.cancel(run_id)
    await wait_for_run(engine, run_id)

    assert seen == [START // 1_000_000]


async def test_runner_that_ignores_cancel_is_killed(open_engine: Engines):
    ignored = []

    async def deaf(ctx):
        yield delta("…")
        while len(ignored) < 1:
            try:
                await wait_forever()
            except asyncio.CancelledError as error:
                ignored.append(error)
        await wait_forever()

    engine = await open_engine(deaf)
    run_id = await started(engine)
    await engine.runs.cancel(run_id)

    assert (await wait_for_run(engine, run_id)).row.status == "cancelled"
    assert len(ignored) == 1


async def test_ended_run_cannot_be_cancelled(run_script: ScriptRunner):
    run = await run_script(done("x"))

    with pytest.raises(AlreadyFinal, match=f"run {run.run_id} is completed already; there is nothing to stop"):
        await run_script.engine.runs.cancel(run.run_id)


async def test_unknown_run_cannot_be_cancelled(run_script: ScriptRunner):
    with pytest.raises(NotFound, match="no run run_zzz"):
        await run_script.engine.runs.cancel("run_zzz")


async def test_closing_engine_stops_runs_and_records_their_end(open_engine: Engines):
    engine = await open_engine(waits)
    run_id = await started(engine)
    await open_engine.close(engine)
    reader = await open_engine(mode="read")

    run = await reader.runs.get(run_id)
    assert (run.status, run.metadata["error"]) == ("cancelled", "the host was closed")
    assert [entry.type async for entry in reader.runs.entries(run_id)][-1] == "run.finished"


async def test_host_failure_ends_run_with_the_error(open_engine: Engines):
    async def sound(ctx):
        yield said("fine")

    engine = await open_engine(sound)

    class Broken:
        async def reserve(self, *_):
            raise OSError("no more processes")

        async def close(self):
            pass

    engine._core.host.orchestrator._runtime = Broken()
    run = await run_event(engine)

    assert (run.row.status, run.row.status_reason) == ("failed", "host.failed")
    assert run.finished["error"] == "OSError: no more processes"


async def test_closing_stops_run_that_was_just_accepted(open_engine: Engines):
    engine = await open_engine(waits)
    ticket = await engine.runs.submit(message())
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        await open_engine.close(engine)

    reader = await open_engine(mode="read")
    run = await reader.runs.get(ticket.started.result())
    assert (run.status, run.metadata["error"]) == ("cancelled", "the host was closed")


async def test_closing_stops_run_that_is_being_accepted(open_engine: Engines):
    engine = await open_engine(waits)
    sending = asyncio.ensure_future(engine.runs.submit(message()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        await open_engine.close(engine)

    reader = await open_engine(mode="read")
    assert (await reader.runs.get((await sending).started.result())).status == "cancelled"
