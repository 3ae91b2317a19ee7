"""External runs: executed elsewhere, recorded here with the same checks as if their runner had run here."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.api import (
    AlreadyFinal,
    BreakpointError,
    Engine,
    EventTaken,
    NotFound,
    OwnedByOtherHost,
    RunOptions,
    SlotTaken,
    Status,
    StoreError,
    message,
)
from engine.protocol import AgentRunResult, Message
from tests.support import recorded_runner
from tests.support.engines import (
    Engines,
    FakeClock,
    FinishedRun,
    delta,
    done,
    journal_of,
    lines_of,
    said,
    send,
    wait_for_entry,
    wait_for_run,
    waits,
)
from tests.support.engines import message as sent

ROOT = Path(__file__).parents[3]
ELSEWHERE = "the run is executed elsewhere and only recorded here"


async def record(engine: Engine, *results: Any, text: str = "hi", **options: Any) -> FinishedRun:
    """Record a run with these results."""
    run = await engine.runs.create(sent(text), RunOptions(**options))
    for result in results:
        await engine.runs.append_result(run.run_id, result)
    return FinishedRun(await engine.runs.finalize(run.run_id), await journal_of(engine, run.run_id))


async def entries_of_runner(engine: Engine, run_id: str) -> list[tuple[Any, ...]]:
    """Return the entries that the runner caused, without the ids that the host gave to artifacts."""
    return [
        (
            entry.position,
            entry.type,
            re.sub(r"\bart_\w+", "ART", entry.data),
            entry.outcome,
            entry.reason,
            entry.sequence,
            entry.turn,
            entry.usage,
        )
        async for entry in engine.runs.entries(run_id)
        if entry.source == "runner"
    ]


async def test_ten_thousand_results_from_outside_give_the_entries_of_the_same_runner_run_here(tmp_path: Path):
    target = Path(recorded_runner.__file__)
    options = RunOptions(settings={"api_key": recorded_runner.SECRET})
    async with await Engine.open(target, db=tmp_path / "facts.db") as engine:
        ticket = await engine.runs.submit(message("e1", "hi", conversation_id="here"), options)
        here = await engine.runs.wait_for_end(await ticket.started)
        event = message("e2", "hi", conversation_id="outside")
        run = await engine.runs.create(event, options, external_id=here.run_id)
        for result in recorded_runner.results(here.run_id):
            await engine.runs.append_result(run.run_id, result)
        outside = await engine.runs.finalize(run.run_id)

        expected = await entries_of_runner(engine, here.run_id)
        assert len(expected) >= recorded_runner.RESULTS
        assert {"dropped", "refused", "unknown", "warned", "ignored", None} == {entry[3] for entry in expected}
        assert {'{"total_tokens":7}', '{"key":"‹secret api_key›"}', None} < {entry[7] for entry in expected}
        assert await entries_of_runner(engine, outside.run_id) == expected
        assert (outside.status, outside.status_reason, outside.usage) == (here.status, here.status_reason, here.usage)
        lines = [(line.role, line.content, line.content_json) for line in await engine.sessions.transcript("here")]
        assert [
            (line.role, line.content, line.content_json) for line in await engine.sessions.transcript("outside")
        ] == lines
        assert recorded_runner.SECRET not in str(expected)


async def test_results_have_their_effects_and_the_journal_says_that_the_run_is_external(open_engine: Engines):
    engine = await open_engine(waits)
    result = AgentRunResult.message_completed("", Message(role="assistant", content="hello"))

    run = await record(engine, delta("hel"), result.model_dump(exclude={"run_id"}), done())

    assert run.types == ["run.started", "message.delta", "message.completed", "run.completed", "run.finished"]
    assert await lines_of(engine) == [("user", "hi"), ("assistant", "hello")]
    assert (run.row.status, run.row.metadata["external"]) == ("completed", True)
    assert run.one("run.started").data["external"] is True
    assert not any(run.context["context"]["available_apis"].values())
    assert run.row.authorization is not None
    assert {api["clause"] for api in run.row.authorization["apis"].values()} == {ELSEWHERE}


async def test_a_line_is_a_result_and_one_that_is_not_json_is_recorded_as_unreadable(open_engine: Engines):
    engine = await open_engine(waits)
    run = await engine.runs.create(sent())

    for line in (b'{"type": "x", "data": {"a": 1}}', b"{", b"[1]"):
        await engine.runs.append_line(run.run_id, line)
    await engine.runs.finalize(run.run_id)

    recorded = [(entry.type, entry.outcome) for entry in await journal_of(engine, run.run_id)][1:-1]
    assert recorded == [
        *(("x", "unknown"), ("result.unreadable", "refused"), ("result.untyped", "refused"), ("run.stopped", None))
    ]


async def test_results_may_carry_the_id_of_the_run_elsewhere_and_no_other(open_engine: Engines):
    engine = await open_engine(waits)
    run = await engine.runs.create(sent(), external_id="abc")
    await engine.runs.append_result(run.run_id, {**said("one"), "run_id": "abc"})
    await engine.runs.append_result(run.run_id, {**said("two"), "run_id": run.run_id})
    await engine.runs.append_result(run.run_id, {**said("three"), "run_id": "other"})
    await engine.runs.finalize(run.run_id)

    ended = await wait_for_run(engine, run.run_id)

    assert (ended.row.status, ended.row.status_reason) == ("failed", "protocol.error")
    assert ended.finished["error"] == "run_id 'other' is not this run's"
    assert await lines_of(engine) == [("user", "hi"), ("assistant", "one"), ("assistant", "two")]


async def test_an_external_run_can_be_named_like_any_other_and_its_id_elsewhere_is_limited(open_engine: Engines):
    engine = await open_engine(waits)
    for external_id in ("", "x" * 256):
        with pytest.raises(StoreError, match="has 1 to 255 characters"):
            await engine.runs.create(sent(), external_id=external_id)
    run = await engine.runs.create(sent(), external_id="x" * 255)

    await engine.runs.append_result("last", said("hello"))

    assert (await engine.runs.finalize(run.run_id[:-1])).status_reason == "ended"


async def test_an_external_run_takes_the_slot_and_messages_wait_for_its_end(open_engine: Engines):
    async def answers(ctx):
        yield done("later")

    engine = await open_engine(answers)
    run = await engine.runs.create(sent())

    ticket = await engine.runs.submit(sent("next"))
    assert (ticket.waits_for, ticket.not_claimed_reason) == (
        run.run_id,
        f"the run in progress cannot be steered: {ELSEWHERE}",
    )
    report = await engine.queue.receipts(run.run_id)
    assert (report.can_steer, report.why_not) == (False, ELSEWHERE)
    with pytest.raises(SlotTaken, match=f"session s is busy with run {run.run_id}"):
        await engine.runs.create(sent("third"))
    await engine.runs.finalize(run.run_id)
    await wait_for_run(engine, await ticket.started)

    assert [row.metadata["input"] for row in await engine.runs.list()] == ["next", "hi"]


async def test_nothing_is_recorded_of_a_run_whose_slot_or_event_is_taken(open_engine: Engines):
    engine = await open_engine(waits)
    live = await send(engine, sent("one", event_id="e1"))
    await wait_for_entry(engine, live, "message.delta")

    with pytest.raises(SlotTaken):
        await engine.runs.create(sent("two", event_id="e2"))
    with pytest.raises(EventTaken, match=r"event e1 was accepted before. Use another event_id."):
        await engine.runs.create(sent("one", "elsewhere", event_id="e1"))
    await engine.runs.stop(live)

    assert await lines_of(engine) == [("user", "one")]
    assert [session.session_id for session in await engine.sessions.list()] == ["s"]
    assert (await record(engine, done("two"))).row.status == "completed"


async def test_the_deadline_of_the_binding_ends_the_run(open_engine: Engines, clock: FakeClock):
    engine = await open_engine(waits)
    run = await engine.runs.create(sent(), RunOptions(config={"timeout": 5}))
    await engine.runs.append_result(run.run_id, delta("…"))

    clock.advance(5)
    ended = await wait_for_run(engine, run.run_id)

    assert (ended.row.status, ended.row.status_reason) == ("timeout", "runner.timeout")
    assert (await engine.runs.finalize(run.run_id)).status == "timeout"
    with pytest.raises(AlreadyFinal, match="no result can be added"):
        await engine.runs.append_result(run.run_id, done())
    with pytest.raises(AlreadyFinal, match="is timeout; it cannot become completed"):
        await engine.runs.finalize(run.run_id, Status.COMPLETED)


async def test_a_user_can_stop_it_but_not_pause_it(open_engine: Engines):
    engine = await open_engine(waits)
    with pytest.raises(BreakpointError, match="Leave the breakpoints out"):
        await engine.runs.create(sent(), RunOptions(breakpoints=("tool",)))
    run = await engine.runs.create(sent())

    for pausing in (
        engine.breakpoints.set(run.run_id, "message.completed"),
        engine.runs.step(run.run_id),
        engine.runs.continue_run(run.run_id),
    ):
        with pytest.raises(BreakpointError, match=f"{ELSEWHERE}, so it cannot be paused"):
            await pausing
    await engine.runs.append_result(run.run_id, said("not paused"))
    stopped = await engine.runs.stop(run.run_id)

    assert stopped.run.status == "cancelled"
    assert "message.completed" in [entry.type for entry in await journal_of(engine, run.run_id)]
    with pytest.raises(AlreadyFinal):
        await engine.runs.append_result(run.run_id, said("too late"))


@pytest.mark.parametrize(
    ("results", "status", "expected"),
    [
        ([said("a")], None, ("completed", "ended")),
        ([], None, ("completed", "no output")),
        ([said("a")], Status.COMPLETED, ("completed", "ended")),
        ([said("a")], Status.FAILED, ("failed", "runner.exception")),
        ([said("a")], Status.CANCELLED, ("cancelled", "cancelled")),
        ([said("a")], Status.TIMEOUT, ("timeout", "runner.timeout")),
        ([done("a")], None, ("completed", "stop")),
    ],
)
async def test_finalize_ends_the_run_by_its_results_or_with_a_status(
    open_engine: Engines, results: list, status: Status | None, expected: tuple
):
    engine = await open_engine(waits)
    run = await engine.runs.create(sent())
    for result in results:
        await engine.runs.append_result(run.run_id, result)

    ended = await engine.runs.finalize(run.run_id, status, error="" if status is None else "the power went")

    assert (ended.status, ended.status_reason) == expected
    error = (await journal_of(engine, run.run_id))[-1].data.get("error")
    assert error == (None if status in (None, Status.COMPLETED) else "the power went")
    assert await engine.runs.finalize(run.run_id, status) == ended


async def test_a_terminal_result_decides_over_another_status(open_engine: Engines):
    engine = await open_engine(waits)
    run = await engine.runs.create(sent())
    await engine.runs.append_result(run.run_id, done("fine"))

    with pytest.raises(AlreadyFinal, match="is completed; it cannot become failed"):
        await engine.runs.finalize(run.run_id, Status.FAILED)
    with pytest.raises(StoreError, match="a run cannot end as running"):
        await engine.runs.finalize(run.run_id, Status.RUNNING)


async def test_only_external_runs_of_this_process_take_results(open_engine: Engines):
    engine, other = await open_engine(waits), await open_engine(waits)
    here = await send(engine)
    await wait_for_entry(engine, here, "message.delta")
    elsewhere = await other.runs.create(sent("x", "theirs"))

    for refused, words in ((here, "is executed by its runner here"), (elsewhere.run_id, "belongs to another process")):
        with pytest.raises(StoreError, match=words):
            await engine.runs.append_result(refused, done())
        with pytest.raises(StoreError, match=words):
            await engine.runs.finalize(refused)
    with pytest.raises(OwnedByOtherHost):
        await engine.runs.append_result(elsewhere.run_id, done())
    with pytest.raises(NotFound):
        await engine.runs.append_result("run_nobody", done())


async def test_no_result_is_added_once_the_end_is_decided(open_engine: Engines):
    engine = await open_engine(waits)
    run = await engine.runs.create(sent())

    finalizing = asyncio.ensure_future(engine.runs.finalize(run.run_id))
    await asyncio.sleep(0)
    with pytest.raises(AlreadyFinal, match="no result can be added"):
        await engine.runs.append_result(run.run_id, said("too late"))

    assert (await finalizing).status_reason == "no output"


async def test_large_and_small_results_keep_their_order(open_engine: Engines):
    engine = await open_engine(waits)
    run = await engine.runs.create(sent())
    texts = ["x" * 300_000, "small", "y" * 300_000, "last"]

    await asyncio.gather(*(engine.runs.append_result(run.run_id, delta(text)) for text in texts))
    await engine.runs.finalize(run.run_id)

    entries = [entry for entry in await journal_of(engine, run.run_id) if entry.type == "message.delta"]
    assert [entry.data["chunk"]["content"][:5] for entry in entries] == [text[:5] for text in texts]


async def test_closing_the_engine_stops_an_external_run(open_engine: Engines):
    engine = await open_engine(waits)
    run = await engine.runs.create(sent())

    await open_engine.close(engine)

    engine = await open_engine(waits)
    ended = await engine.runs.get(run.run_id)
    assert (ended.status, ended.metadata["error"]) == ("cancelled", "the host was closed")


DYING = """
import asyncio, os, sys
from pathlib import Path
from engine.api import Engine, RunOptions, message

async def main():
    engine = await Engine.open(db=Path(sys.argv[1]))
    run = await engine.runs.create(message("e", "hi", conversation_id="s"), RunOptions(runner="echo"))
    await engine.runs.append_line(run.run_id, b'{"type": "message.delta", "data": {"chunk": {"content": "half"}}}')
    await engine.check_writable()
    print(run.run_id, flush=True)
    os._exit(9)

asyncio.run(main())
"""


async def test_a_run_whose_process_is_gone_is_closed_like_one_of_a_dead_host(tmp_path: Path):
    command = [sys.executable, "-c", DYING, str(tmp_path / "facts.db")]
    died = await asyncio.to_thread(subprocess.run, command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert died.returncode == 9, died.stderr

    async with await Engine.open(db=tmp_path / "facts.db") as engine:
        run = await wait_for_run(engine, died.stdout.strip())

        assert engine.recovered_runs == [run.run_id]
        assert (run.row.status, run.row.status_reason) == ("failed", "host_restarted")
        assert run.types == ["run.started", "message.delta", "run.finished"]
