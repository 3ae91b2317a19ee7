"""The journal of a run: ordered, complete, with one last entry."""

import json
import sqlite3
from pathlib import Path
from unittest.mock import Mock

import pytest

from engine.clock import SystemClock, TimeIds, rfc3339
from engine.journal import recorder
from engine.journal.recorder import MAX_ENTRY_PART_BYTES, OUTPUT_LIMIT, ROW_BYTES, Recorder
from engine.journal.secret_mask import SecretMask
from engine.protocol import AgentAPIException
from engine.store.batch import Transaction
from engine.store.database import Database
from engine.store.entries import INSERT_ONE
from engine.store.writer import Writer
from tests.support.engines import (
    START,
    Engines,
    FakeClock,
    FinishedRun,
    ScriptRunner,
    artifact_created,
    delta,
    done,
    failed,
    run_event,
    said,
    send,
    state_updated,
    wait_for_entry,
    wait_for_run,
    waits,
)


def assert_invariants(run: FinishedRun) -> None:
    assert [entry.position for entry in run.journal] == list(range(1, len(run.journal) + 1))
    assert run.types[0] == "run.started"
    assert run.types.count("run.finished") == 1
    assert run.types[-1] == "run.finished"


async def test_positions_rise_from_1_without_a_gap_and_run_finished_is_last(run_script: ScriptRunner):
    run = await run_script(
        delta("a"),
        state_updated("k", 1),
        artifact_created(),
        state_updated("k", 2, "subject"),
        said("b"),
        {"type": "x"},
        done(),
    )

    assert_invariants(run)
    assert run.types[1:-1] == [
        "message.delta",
        "state.updated",
        "artifact.created",
        "state.updated",
        "message.completed",
        "x",
        "run.completed",
    ]


async def test_every_way_to_end_has_run_finished_as_its_last_entry(open_engine: Engines):
    async def ends(ctx):
        match ctx.input.to_text():
            case "raise":
                raise RuntimeError
            case "fail":
                yield failed()
            case "break the protocol":
                yield {}
            case "late":
                yield done()
                yield delta("x")

    engine = await open_engine(ends)
    for how in ("raise", "fail", "break the protocol", "late", "just end"):
        assert_invariants(await run_event(engine, how))


async def test_a_cancelled_run_has_run_finished_as_its_last_entry(open_engine: Engines):
    engine = await open_engine(waits)
    run_id = await send(engine)
    await wait_for_entry(engine, run_id, "message.delta")
    await engine.runs.cancel(run_id)

    assert_invariants(await wait_for_run(engine, run_id))


async def test_sources_distinguish_host_runner_and_user(open_engine: Engines):
    engine = await open_engine(waits)
    run_id = await send(engine)
    await wait_for_entry(engine, run_id, "message.delta")
    await engine.runs.cancel(run_id)

    run = await wait_for_run(engine, run_id)

    assert [(entry.source, entry.type) for entry in run.journal] == [
        ("host", "run.started"),
        ("runner", "message.delta"),
        ("user", "cancel.requested"),
        ("host", "run.finished"),
    ]


async def test_an_entry_is_one_line_of_json_that_never_changes(run_script: ScriptRunner):
    run = await run_script(said("ä") | {"sequence": 2}, done())

    lines = [entry.line() async for entry in run_script.engine.runs.entries(run.run_id)]
    assert lines == [entry.line() async for entry in run_script.engine.runs.entries(run.run_id)]
    assert lines[1] == (
        f'{{"run_id":"{run.run_id}","position":2,"at":"{rfc3339(START)}","source":"runner",'
        '"type":"message.completed","data":{"message":{"role":"assistant","content":"ä"}},'
        '"outcome":"warned","reason":"sequence 2, expected 1","sequence":2}'
    )
    assert all(json.loads(line)["run_id"] == run.run_id for line in lines)


async def test_a_global_row_orders_the_entries_of_all_runs(run_script: ScriptRunner):
    first, second = await run_script(done("a")), await run_script(done("b"))

    async with run_script.engine.subscribe() as news:
        batch = await anext(aiter(news))
    rows = [announced.row for announced in batch]
    assert rows == list(range(1, len(first.journal) + len(second.journal) + 1))
    assert [announced.entry.run_id for announced in batch] == [first.run_id] * 3 + [second.run_id] * 3


async def test_journal_is_paged_in_both_directions(run_script: ScriptRunner):
    run = await run_script(*(delta(str(number)) for number in range(6)), done())
    page = run_script.engine.runs.journal

    assert [entry.position for entry in await page(run.run_id, limit=3)] == [1, 2, 3]
    assert [entry.position for entry in await page(run.run_id, after=3, limit=3)] == [4, 5, 6]
    assert [entry.position for entry in await page(run.run_id, before=4, limit=2)] == [3, 2]
    assert await page(run.run_id, after=99) == []


async def test_a_call_and_its_reply_are_entries(open_engine: Engines):
    seen = []

    async def asks(ctx):
        seen.append(await ctx.api.run_get())
        yield done("x")

    run = await run_event(await open_engine(asks))

    asked, replied = run.one("call.requested"), run.one("call.replied")
    assert (asked.source, asked.data["action"]) == ("runner", "run_get")
    assert (replied.source, replied.data["call_id"]) == ("host", asked.data["call_id"])
    assert replied.data["reply"]["status"] == "running"


async def test_a_call_that_this_host_does_not_answer_is_refused_and_recorded(open_engine: Engines):
    seen = []

    async def asks(ctx):
        try:
            await ctx.api.history_page()
        except AgentAPIException as problem:
            seen.append(problem.error.code)
        yield done("x")

    run = await run_event(await open_engine(asks))

    assert seen == ["unauthorized"]
    assert run.one("call.decided").outcome == "refused"
    assert run.row.status == "completed"


class Pages:
    """A writer that only keeps its entries."""

    def __init__(self) -> None:
        self.entries = []

    def append(self, entry) -> None:
        self.entries.append(entry)


def test_output_beyond_8_mib_is_counted_in_one_entry():
    pages = Pages()
    pen = Recorder(pages, FakeClock(), "run", SecretMask())
    line = "x" * ((1 << 20) - ROW_BYTES - len('{"stream":"stdout","text":""}'))
    for _ in range(10):
        pen.output("stdout", line)
    pen.close_output()

    assert len(pages.entries) == OUTPUT_LIMIT // len(line) + 1
    assert json.loads(pages.entries[-1].data) == {
        "stream": "cut",
        "lines": 2,
        "bytes": 2 * len(line),
        "limit": OUTPUT_LIMIT,
    }


def test_empty_lines_count_what_they_take_on_disk():
    pages = Pages()
    pen = Recorder(pages, FakeClock(), "run", SecretMask())
    for _ in range(OUTPUT_LIMIT // ROW_BYTES):
        pen.output("stdout", "")
    pen.close_output()

    *kept, cut = pages.entries
    assert sum(len(entry.data) + ROW_BYTES for entry in kept) <= OUTPUT_LIMIT
    assert json.loads(cut.data)["lines"] == OUTPUT_LIMIT // ROW_BYTES - len(kept)


def test_the_size_of_a_row_is_measured(tmp_path: Path):
    rows = 5_000
    Database.open(tmp_path / "rows.db", write=True).close()
    driver = sqlite3.connect(tmp_path / "rows.db")
    driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = (tmp_path / "rows.db").stat().st_size
    pages = Pages()
    pen = Recorder(pages, SystemClock(), TimeIds(SystemClock()).new("run"), SecretMask())
    for _ in range(rows):
        pen.output("stdout", "")
    driver.executemany(INSERT_ONE, pages.entries)
    driver.commit()
    driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    driver.close()

    taken = ((tmp_path / "rows.db").stat().st_size - before) / rows - len(pages.entries[0].data)
    assert 0.8 * ROW_BYTES <= taken <= ROW_BYTES


async def test_a_journal_over_its_limit_fails_the_run(run_script: ScriptRunner, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recorder, "JOURNAL_LIMIT", 10_000)
    run = await run_script(delta("x" * 10_000), said("too late"))

    assert (run.row.status, run.row.status_reason) == ("failed", "journal.full")
    assert run.one("message.completed").outcome == "ignored"
    assert_invariants(run)


# Turns


async def test_every_entry_has_its_turn_number(run_script: ScriptRunner):
    call = {"tool_call_id": "1", "tool_name": "t", "parameters": {}}
    run = await run_script(
        delta("a"),
        {"type": "tool.call.started", "data": call},
        {"type": "tool.call.completed", "data": call},
        delta("b"),
        done("b"),
    )

    assert [entry.turn for entry in run.journal] == [1, 1, 1, 1, 2, 2, 2]


async def test_dropped_result_starts_no_turn(run_script: ScriptRunner):
    call = {"tool_call_id": "1", "tool_name": "t", "parameters": {}}
    run = await run_script(
        {"type": "tool.call.started", "data": call},
        {"type": "tool.call.completed", "data": call},
        {"type": "message.delta", "data": {"chunk": 7}},
        done("x"),
    )

    assert {entry.turn for entry in run.journal} == {1}


async def test_part_whose_write_was_undone_is_stored_by_the_next_entry(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    text = json.dumps("x" * MAX_ENTRY_PART_BYTES).encode()
    database = Database.open(open_engine.db, write=True)
    writer = Writer(database.writing_connection, database.path, on_committed=lambda *_: None, on_failure=pytest.fail)
    pen = Recorder(writer, SystemClock(), "run_1", SecretMask())
    with monkeypatch.context() as patch:
        patch.setattr(Transaction, "record", Mock(side_effect=[ValueError("no"), 1]))
        pen.record_call("runner", "call.requested", {}, {"arguments": text})
        await writer.flush()
    pen.record_call("runner", "call.requested", {}, {"arguments": text})
    await writer.close()

    stored = database.read_now(lambda conn: conn.exec_driver_sql("SELECT digest FROM parts").scalars().all())
    (data,) = database.read_now(lambda conn: conn.exec_driver_sql("SELECT data FROM journal").scalars().all())
    database.close()
    assert [json.loads(data)["arguments_ref"]] == stored
