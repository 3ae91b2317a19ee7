"""How a run ends: by its terminal result, by the end of its stream, or by an exception."""

import pytest

from tests.support.engines import (
    Engines,
    ScriptRunner,
    artifact_created,
    delta,
    done,
    failed,
    lines_of,
    run_event,
    said,
    wait_for_entry,
    wait_forever,
)


async def test_first_terminal_result_ends_the_run_and_later_results_are_ignored(run_script: ScriptRunner):
    run = await run_script(said("one"), done(), said("two"), failed(), done("three"), {"no": "type"}, {"type": "x"})

    assert (run.row.status, run.row.status_reason) == ("completed", "stop")
    after = run.journal[3:-1]
    assert [entry.outcome for entry in after] == ["ignored"] * 5
    assert {entry.reason for entry in after} == {"came after run.completed"}
    assert await lines_of(run_script.engine) == [("user", "hi"), ("assistant", "one")]


async def test_foreign_run_id_after_the_end_is_ignored(run_script: ScriptRunner):
    run = await run_script(failed("broke"), delta("x") | {"run_id": "run_other"})

    assert run.row.status_reason == "runner.error"
    assert run.one("message.delta").outcome == "ignored"


async def test_stream_without_terminal_result_is_completed(run_script: ScriptRunner):
    run = await run_script(said("all I have to say"))

    assert (run.row.status, run.row.status_reason) == ("completed", "ended")


async def test_host_records_no_terminal_result_for_the_runner(run_script: ScriptRunner):
    run = await run_script(said("x"))

    assert run.types == ["run.started", "message.completed", "run.finished"]
    assert [entry.source for entry in run.journal] == ["host", "runner", "host"]


@pytest.mark.parametrize(
    "results", [(), (done(),), (artifact_created(),), (delta(""),), (delta(None), done())], ids=str
)
async def test_run_without_messages_is_completed_with_no_output_and_writes_no_line(
    run_script: ScriptRunner, results: tuple
):
    run = await run_script(*results)

    assert (run.row.status, run.row.status_reason) == ("completed", "no output")
    assert run.finished["reason"] == "no output"
    assert await lines_of(run_script.engine) == [("user", "hi")]


async def test_finish_reason_is_the_reason_of_the_run(run_script: ScriptRunner):
    run = await run_script(done("enough", reason="length"))

    assert run.finished == {"status": "completed", "reason": "length"}


@pytest.mark.parametrize(
    ("said_so", "status", "reason", "retryable"),
    [
        (failed("x"), "failed", "runner.error", False),
        (failed("x", retryable=True), "failed", "runner.error", True),
        (failed("x", code="my.code"), "failed", "my.code", False),
        (failed("x", code="runner.timeout"), "timeout", "runner.timeout", True),
        (failed("x", code="runner.timeout", retryable=False), "timeout", "runner.timeout", False),
        (failed("x", code="cancelled"), "cancelled", "cancelled", None),
        (failed("x", code="runner.lost"), "failed", "runner.lost", False),
    ],
)
async def test_the_code_of_a_failure_decides_the_status(
    run_script: ScriptRunner, said_so: dict, status: str, reason: str, retryable: bool | None
):
    run = await run_script(said_so)

    assert (run.row.status, run.row.status_reason) == (status, reason)
    assert run.finished["error"] == "x"
    assert run.finished.get("retryable") is retryable


async def test_deltas_of_a_failed_run_are_only_in_the_journal(run_script: ScriptRunner):
    run = await run_script(delta("half an ans"), failed())

    assert run.one("message.delta").data["chunk"]["content"] == "half an ans"
    assert await lines_of(run_script.engine) == [("user", "hi")]


async def test_completed_messages_of_a_failed_run_stay_in_the_transcript(run_script: ScriptRunner):
    await run_script(said("whole"), delta("half"), failed())

    assert await lines_of(run_script.engine) == [("user", "hi"), ("assistant", "whole")]


async def test_a_runner_that_raises_fails_with_its_traceback_in_the_journal(open_engine: Engines):
    async def breaks(ctx):
        yield delta("so far")
        raise KeyError("missing")

    run = await run_event(await open_engine(breaks))

    assert (run.row.status, run.row.status_reason) == ("failed", "runner.exception")
    assert "missing" in run.finished["error"]
    trace = run.one("output").data
    assert trace["stream"] == "traceback"
    assert "KeyError" in trace["text"]
    assert "in breaks" in trace["text"]


async def test_exception_in_a_runner_affects_only_its_own_run(open_engine: Engines):
    async def moody(ctx):
        if ctx.input.to_text() == "break":
            raise RuntimeError("no")
        yield done("fine")

    engine = await open_engine(moody)
    assert (await run_event(engine, "break")).row.status == "failed"
    assert (await run_event(engine, "go on")).row.status == "completed"


async def test_runner_that_is_not_an_async_generator_fails_with_the_reason(open_engine: Engines):
    async def answers(ctx):
        return done()

    run = await run_event(await open_engine(answers))

    assert run.row.status_reason == "runner.exception"
    assert "this one has no `yield`" in run.finished["error"]


async def test_a_runner_that_cannot_be_started_fails_as_not_loaded(open_engine: Engines):
    async def here(ctx):
        yield done()

    engine = await open_engine(here)
    open_engine._runners.clear()

    run = await run_event(engine)

    assert (run.row.status, run.row.status_reason) == ("failed", "runner.not_loaded")


async def test_runner_that_continues_after_its_terminal_result_is_stopped_and_keeps_its_status(open_engine: Engines):
    async def lingers(ctx):
        yield done("bye")
        await wait_forever()

    engine = await open_engine(lingers)
    run = await run_event(engine)

    assert (run.row.status, run.row.status_reason) == ("completed", "stop")


async def test_run_finished_is_announced_once_the_run_is_final(run_script: ScriptRunner):
    run = await run_script(done("x"))

    last = await wait_for_entry(run_script.engine, run.run_id, "run.finished")
    assert last.position == len(run.journal)
    assert (await run_script.engine.runs.get(run.run_id)).status == "completed"
