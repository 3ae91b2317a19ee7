"""The facade: open an engine, find and read runs."""

import asyncio
import threading
from pathlib import Path

import pytest

from engine.api import Engine, NotFound, StoreError
from engine.runners.errors import AmbiguousRunner, FormError, RunnerNotFound
from engine.store import tables
from engine.store.writer import Writer
from tests.support.engines import (
    Engines,
    FakeClock,
    ScriptRunner,
    declares,
    delta,
    done,
    failed,
    journal_of,
    lines_of,
    message,
    run_event,
    send,
)
from tests.support.faults.faults import until
from tests.support.limits import MAX_WAIT_SECONDS
from tests.support.old_databases import contents, make_database, old_rows


async def test_run_ids_sort_by_time_and_last_is_newest(run_script: ScriptRunner, clock: FakeClock):
    ids = []
    for _ in range(3):
        clock.advance(1)
        ids.append((await run_script(done("x"))).run_id)

    assert ids == sorted(ids)
    assert (await run_script.engine.runs.get("last")).run_id == ids[-1]
    assert [run.run_id for run in await run_script.engine.runs.list()] == ids[::-1]


async def test_run_is_found_by_unique_id_prefix(run_script: ScriptRunner):
    first, second = await run_script(done("x")), await run_script(done("y"))

    assert (await run_script.engine.runs.get(first.run_id)).run_id == first.run_id
    with pytest.raises(StoreError, match=f"'run_' matches several runs: {second.run_id}, {first.run_id}"):
        await run_script.engine.runs.get("run_")
    with pytest.raises(NotFound, match="no run zzz"):
        await run_script.engine.runs.get("zzz")


async def test_runs_are_paged_and_filtered(run_script: ScriptRunner, clock: FakeClock):
    runs = []
    for session, result in (("a", done("x")), ("b", failed()), ("a", failed())):
        clock.advance(1)
        runs.append((await run_script(result, event=message(session=session))).run_id)

    engine = run_script.engine
    assert [run.run_id for run in await engine.runs.list(status="failed")] == [runs[2], runs[1]]
    assert [run.run_id for run in await engine.runs.list(conversation_id="a")] == [runs[2], runs[0]]
    assert [run.run_id for run in await engine.runs.list(before=runs[2], limit=1)] == [runs[1]]
    assert [run.run_id for run in await engine.runs.list(after=runs[0], limit=2)] == [runs[1], runs[2]]
    assert await engine.runs.list(runner_id="plugin:a/b/c") == []


async def test_run_row_has_created_started_and_finished_times(run_script: ScriptRunner, clock: FakeClock):
    run = (await run_script(done("x"))).row

    assert run.created_at == run.started_at == run.finished_at == run.updated_at == clock.now()
    assert run.binding_id == "agent_default_plugin:local/play/default"
    assert run.host.startswith("host_")


async def test_transcript_is_paged_in_both_directions(run_script: ScriptRunner):
    for text in ("one", "two"):
        await run_script(done(f"re {text}"), event=text)
    engine = run_script.engine

    newest = await engine.sessions.transcript("s", limit=2)
    assert [line.content for line in newest] == ["re two", "two"]
    assert [line.content for line in await engine.sessions.transcript("s", before=newest[-1].seq)] == ["re one", "one"]
    assert [line.content for line in await engine.sessions.transcript("s", after=newest[-1].seq)] == ["re two"]


async def test_runner_must_be_named_if_there_are_several(open_engine: Engines):
    async def one(ctx):
        yield done("one")

    async def two(ctx):
        yield done("two")

    engine = await open_engine(one, two)

    with pytest.raises(AmbiguousRunner):
        await send(engine)
    with pytest.raises(RunnerNotFound):
        await send(engine, runner="three")
    await run_event(engine, runner="two")
    assert await lines_of(engine) == [("user", "hi"), ("assistant", "two")]


async def test_invalid_config_is_refused_before_anything_is_recorded(open_engine: Engines):
    @declares(config=[{"name": "depth", "type": "integer", "required": True}])
    async def strict(ctx):
        yield done()

    engine = await open_engine(strict)

    with pytest.raises(FormError, match="depth is required"):
        await send(engine)
    with pytest.raises(FormError, match="depth must be an integer, not text"):
        await send(engine, config={"depth": "deep"})
    assert await engine.runs.list() == []


async def test_text_setting_is_parsed_by_runner_form(open_engine: Engines):
    @declares(config=[{"name": "depth", "type": "integer"}, {"name": "tone", "type": "string"}])
    async def strict(ctx):
        yield done()

    run = await run_event(await open_engine(strict), settings={"depth": "3", "tone": "3"})

    assert run.context["config"] == {"depth": 3, "tone": "3"}


async def test_reader_requires_existing_database(open_engine: Engines):
    with pytest.raises(StoreError, match=r"there is no database at .*facts\.db"):
        await open_engine(mode="read")


async def test_reader_sees_everything_a_closed_host_recorded(open_engine: Engines):
    async def answers(ctx):
        yield done("kept")

    engine = await open_engine(answers)
    run = await run_event(engine)
    await open_engine.close(engine)
    reader = await open_engine(mode="read")

    assert (await reader.runs.get("last")).run_id == run.run_id
    assert await lines_of(reader) == [("user", "hi"), ("assistant", "kept")]
    assert await reader.integrity() == []


async def test_flush_waits_until_everything_recorded_so_far_is_on_disk(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    # The writer collects entries for an hour, or until an operation is queued.
    monkeypatch.setattr(Writer.__init__, "__kwdefaults__", {"window_seconds": 3_600.0, "busy_seconds": 30.0})
    yielded, may_end = asyncio.Event(), asyncio.Event()

    async def streams(ctx):
        for number in range(50):
            yield delta(str(number))
        yielded.set()
        await may_end.wait()
        yield done()

    engine = await open_engine(streams)
    run_id = await send(engine)
    await yielded.wait()
    await engine.flush()
    types = [entry.type for entry in await journal_of(engine, run_id)]
    may_end.set()
    await engine.runs.wait_for_end(run_id)
    reader = await open_engine(mode="read")

    assert types.count("message.delta") == 50
    await reader.flush()


async def test_closing_host_removes_its_lock_file(open_engine: Engines):
    async def answers(ctx):
        yield done("x")

    engine = await open_engine(answers)
    assert list(open_engine.db.parent.glob("*.lock"))
    await open_engine.close(engine)

    assert list(open_engine.db.parent.glob("*.lock")) == []


async def test_cancelled_open_ends_its_upgrade_and_changes_nothing(tmp_path: Path):
    path = tmp_path / "upgraded.db"
    make_database(path, "0001", old_rows("0001"))
    before = contents(path)
    loop = asyncio.get_running_loop()
    is_cancelled = threading.Event()
    reports: list[int] = []

    def report(done: int, _: int) -> None:
        reports.append(done)
        loop.call_soon_threadsafe(opening.cancel)
        is_cancelled.wait(MAX_WAIT_SECONDS)

    opening = asyncio.ensure_future(Engine.open(db=path, on_progress=report))
    with pytest.raises(asyncio.CancelledError):
        await opening
    is_cancelled.set()
    await until(lambda: list(tmp_path.iterdir()) == [path])  # SQLite's files are gone when the thread ends

    assert reports == [0]
    assert contents(path) == before
    async with await Engine.open(db=path) as engine:
        assert engine.remarks == (f"The database was upgraded from schema 0001 to {tables.SCHEMA_VERSION}.",)
        _, total = await engine.search.lines("idnigh")
    assert total == 100
