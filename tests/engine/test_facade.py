"""The facade: opening, finding runs, looking things up."""

import pytest

from engine.api import FactsError, NotFound
from engine.runners.errors import AmbiguousRunner, FormError, RunnerNotFound
from tests.support import Engines, FakeClock, Stage, declares, done, failed, lines_of, message, perform, send


async def test_run_ids_sort_by_time_and_last_is_the_newest(play: Stage, clock: FakeClock):
    ids = []
    for _ in range(3):
        clock.advance(1)
        ids.append((await play(done("x"))).run_id)

    assert ids == sorted(ids)
    assert (await play.engine.run("last")).run_id == ids[-1]
    assert [run.run_id for run in await play.engine.runs()] == ids[::-1]


async def test_a_run_is_found_by_a_unique_beginning_of_its_id(play: Stage):
    first, second = await play(done("x")), await play(done("y"))

    assert (await play.engine.run(first.run_id)).run_id == first.run_id
    with pytest.raises(FactsError, match=f"'run_' fits several runs: {second.run_id}, {first.run_id}"):
        await play.engine.run("run_")
    with pytest.raises(NotFound, match="no run zzz"):
        await play.engine.run("zzz")


async def test_runs_are_paged_and_filtered(play: Stage, clock: FakeClock):
    runs = []
    for session, result in (("a", done("x")), ("b", failed()), ("a", failed())):
        clock.advance(1)
        runs.append((await play(result, event=message(session=session))).run_id)

    engine = play.engine
    assert [run.run_id for run in await engine.runs(status="failed")] == [runs[2], runs[1]]
    assert [run.run_id for run in await engine.runs(conversation_id="a")] == [runs[2], runs[0]]
    assert [run.run_id for run in await engine.runs(before=runs[2], limit=1)] == [runs[1]]
    assert [run.run_id for run in await engine.runs(after=runs[0], limit=2)] == [runs[1], runs[2]]
    assert await engine.runs(runner_id="plugin:a/b/c") == []


async def test_the_ledger_knows_when_a_run_was_created_started_and_finished(play: Stage, clock: FakeClock):
    run = (await play(done("x"))).row

    assert run.created_at == run.started_at == run.finished_at == run.updated_at == clock.now()
    assert run.binding_id == "agent_default_plugin:local/play/default"
    assert run.host.startswith("host_")


async def test_a_transcript_is_paged_both_ways(play: Stage):
    for text in ("one", "two"):
        await play(done(f"re {text}"), event=text)
    engine = play.engine

    newest = await engine.transcript("s", limit=2)
    assert [line.content for line in newest] == ["re two", "two"]
    assert [line.content for line in await engine.transcript("s", before=newest[-1].seq)] == ["re one", "one"]
    assert [line.content for line in await engine.transcript("s", after=newest[-1].seq)] == ["re two"]


async def test_the_runner_to_use_must_be_named_where_there_are_several(open_engine: Engines):
    async def one(ctx):
        yield done("one")

    async def two(ctx):
        yield done("two")

    engine = await open_engine(one, two)

    with pytest.raises(AmbiguousRunner):
        await send(engine)
    with pytest.raises(RunnerNotFound):
        await send(engine, runner="three")
    await perform(engine, runner="two")
    assert await lines_of(engine) == [("user", "hi"), ("assistant", "two")]


async def test_a_config_that_does_not_fit_the_form_is_refused_before_anything_is_recorded(open_engine: Engines):
    @declares(config=[{"name": "depth", "type": "integer", "required": True}])
    async def strict(ctx):
        yield done()

    engine = await open_engine(strict)

    with pytest.raises(FormError, match="depth is required"):
        await send(engine)
    with pytest.raises(FormError, match="depth must be an integer, not text"):
        await send(engine, config={"depth": "deep"})
    assert await engine.runs() == []


async def test_a_setting_given_as_text_is_read_by_the_runners_form(open_engine: Engines):
    @declares(config=[{"name": "depth", "type": "integer"}, {"name": "tone", "type": "string"}])
    async def strict(ctx):
        yield done()

    run = await perform(await open_engine(strict), settings={"depth": "3", "tone": "3"})

    assert run.context["config"] == {"depth": 3, "tone": "3"}


async def test_a_reader_needs_a_database_that_is_there(open_engine: Engines):
    with pytest.raises(FactsError, match=r"there is no database at .*facts\.db"):
        await open_engine(mode="read")


async def test_a_reader_sees_all_that_a_closed_host_recorded(open_engine: Engines):
    async def answers(ctx):
        yield done("kept")

    engine = await open_engine(answers)
    run = await perform(engine)
    await open_engine.close(engine)
    reader = await open_engine(mode="read")

    assert (await reader.run("last")).run_id == run.run_id
    assert await lines_of(reader) == [("user", "hi"), ("assistant", "kept")]
    assert await reader.integrity() == []


async def test_no_lock_file_is_left_when_a_host_closes(open_engine: Engines):
    async def answers(ctx):
        yield done("x")

    engine = await open_engine(answers)
    assert list(open_engine.db.parent.glob("*.lock"))
    await open_engine.close(engine)

    assert list(open_engine.db.parent.glob("*.lock")) == []
