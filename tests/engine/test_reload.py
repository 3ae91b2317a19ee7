"""Another look at the files: what runs are made from changes as a whole or not at all."""

import asyncio
import json
from pathlib import Path

import pytest

from engine.api import Choice, ConfigError, Engine, IntakeError, Reloaded, RunnersError
from tests.support import Engines, Stage, declares, delta, done, message, perform, send, until, waits

HELLO = "async def run(ctx):\n    yield {'type': 'run.completed', 'data': {}}\n"
MODEL = {"id": "m", "kind": "scripted", "replies": [{"text": "old"}]}


def configure(engines: Engines, **project: object) -> None:
    (engines.folder / "trackside.yaml").write_text(json.dumps(project))


async def test_runners_that_were_added_changed_and_taken_away_are_told(open_engine: Engines):
    engine = await open_engine(waits)
    engine.runners()
    folder = open_engine.folder
    (folder / "stays.py").write_text(HELLO)
    (folder / "goes.py").write_text(HELLO)
    assert await engine.reload() == Reloaded(added=("plugin:local/goes/default", "plugin:local/stays/default"))
    assert not await engine.reload()

    (folder / "goes.py").unlink()
    (folder / "stays.py").write_text("label = 'Stays'\n" + HELLO)
    (folder / "torn.py").write_text("async def run(ctx:\n")
    reloaded = await engine.reload()

    assert (reloaded.added, reloaded.gone) == ((), ("plugin:local/goes/default",))
    assert reloaded.changed == ("plugin:local/stays/default",)
    assert [problem.path.name for problem in reloaded.problems] == ["torn.py"]
    assert engine.registry.get("stays").manifest.label == {"en_US": "Stays"}
    with pytest.raises(RunnersError, match="no runner called 'goes'"):
        engine.registry.get("goes")


async def test_code_that_changes_under_the_same_manifest_is_a_change_too(open_engine: Engines):
    engine = await open_engine(waits)
    (open_engine.folder / "other.py").write_text(HELLO)
    (open_engine.folder / "beside.py").write_text("WORD = 1\n")
    await engine.reload()

    (open_engine.folder / "waits.py").write_text("# more\nasync def run(ctx):\n    yield\n")
    assert (await engine.reload()).changed == ("plugin:local/waits/default",)
    (open_engine.folder / "beside.py").write_text("WORD = 12\n")
    assert sorted((await engine.reload()).changed) == ["plugin:local/other/default", "plugin:local/waits/default"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("agents: [", r"trackside\.yaml:\d: not YAML"),
        ("models:\n- id: m\n  kind: scripted\n  script: gone.yaml\n", r"models\[0\]\.script: no such file"),
        ("moon: full\n", r"trackside\.yaml:1: moon: unknown key"),
    ],
)
async def test_a_broken_config_is_an_error_and_the_old_one_stays(open_engine: Engines, written: str, said: str):
    engine = await open_engine(waits, agents=[{"id": "old", "runner": "waits"}])
    project, registry = engine.project, engine.registry
    (open_engine.folder / "fresh.py").write_text(HELLO)
    (open_engine.folder / "trackside.yaml").write_text(written)

    with pytest.raises(ConfigError, match=said):
        await engine.reload()

    assert (engine.project, engine.registry) == (project, registry)
    assert engine.prepare(message()).binding.agent_id == "old"


async def test_what_is_broken_is_left_out_and_the_rest_is_taken_over(open_engine: Engines):
    good = {"id": "good", "runner": "waits"}
    engine = await open_engine(waits, agents=[good, {"id": "poor", "runner": "other"}])
    other = open_engine.folder / "other.py"
    other.write_text(HELLO)
    await engine.reload()
    assert engine.unfit_agents() == ()

    other.write_text("async def run(ctx:\n")
    configure(open_engine, agents=[good | {"events": ["message.recalled"]}, {"id": "poor", "runner": "other"}])
    reloaded = await engine.reload()

    assert reloaded.is_project_changed
    assert [problem.path.name for problem in reloaded.problems] == ["other.py"]
    assert [(agent.agent_id, agent.key) for agent in engine.unfit_agents()] == [("poor", "runner")]
    with pytest.raises(IntakeError, match=r"no enabled agent takes message\.received"):
        engine.prepare(message(), Choice(runner="good"))


async def test_an_agent_that_is_broken_is_in_nobodys_way_where_it_does_not_take_the_event(open_engine: Engines):
    poor = {"id": "poor", "runner": "nobody", "events": ["message.recalled"]}
    engine = await open_engine(waits, agents=[{"id": "good", "runner": "waits"}, poor])

    assert engine.prepare(message()).binding.agent_id == "good"
    configure(open_engine, agents=[{"id": "good", "runner": "waits"}, {"id": "poor", "runner": "nobody"}])
    await engine.reload()
    with pytest.raises(ConfigError, match=r"agents\[1\]\.runner: no runner called 'nobody'"):
        engine.prepare(message())  # it might have been meant


async def test_agents_models_and_settings_of_a_changed_config_are_in_force(open_engine: Engines):
    engine = await open_engine(waits)
    assert engine.prepare(message()).binding.agent_id is None

    configure(open_engine, agents=[{"id": "a", "runner": "waits"}], models=[MODEL], database={"synchronous": "FULL"})
    reloaded = await engine.reload()

    assert reloaded.is_project_changed
    assert [note.partition(";")[0] for note in reloaded.notes] == ["database in trackside.yaml has changed"]
    assert engine.prepare(message()).binding.agent_id == "a"
    assert [option.value for option in (await engine.choices()).models] == ["m"]


async def test_a_script_that_the_config_names_counts_as_its_own(open_engine: Engines):
    script = open_engine.folder / "script.yaml"
    script.write_text(json.dumps({"replies": [{"text": "old"}]}))
    engine = await open_engine(waits, models=[{"id": "m", "kind": "scripted", "script": "script.yaml"}])

    assert not (await engine.reload()).is_project_changed
    script.write_text(json.dumps({"replies": [{"text": "newer"}]}))
    assert (await engine.reload()).is_project_changed


async def test_a_run_at_work_keeps_the_resources_that_it_was_granted(open_engine: Engines):
    @declares(
        permissions={"models": ["invoke"]}, config=[{"name": "model", "type": "llm-model-selector", "default": "m"}]
    )
    async def asks(ctx):
        yield delta("…")
        await go.wait()
        reply = await ctx.api.invoke_llm("m", [{"role": "user", "content": "hi"}])
        yield done(reply.content)

    go = asyncio.Event()
    engine = await open_engine(asks, models=[MODEL])
    run_id = await send(engine)
    await until(engine, run_id, "message.delta")

    configure(open_engine)
    await engine.reload()
    go.set()

    assert (await engine.finished(run_id)).status == "completed"
    assert (await engine.transcript("s", limit=1))[0].content == "old"
    assert engine.prepare(message()).grants.resources.models == []


async def test_a_run_at_work_tells_that_its_code_is_old(open_engine: Engines):
    engine = await open_engine(waits)
    run_id = await send(engine)
    await until(engine, run_id, "message.delta")
    assert not await engine.has_old_code(run_id)

    (open_engine.folder / "waits.py").write_text("# new\nasync def run(ctx):\n    yield\n")
    assert await engine.has_old_code(run_id)
    await engine.stop(run_id)
    assert not await engine.has_old_code(run_id), "it has no code any more"


async def test_a_target_that_is_gone_is_an_error_and_the_old_stays(tmp_path: Path):
    runner = tmp_path / "hello.py"
    runner.write_text(HELLO)
    async with await Engine.open(runner, db=tmp_path / "facts.db") as engine:
        engine.runners()
        runner.rename(tmp_path / "elsewhere.py")
        with pytest.raises(RunnersError, match="no such file or folder"):
            await engine.reload()
        assert str(engine.prepare(message()).binding.runner_id) == "plugin:local/hello/default"


async def test_after_a_reload_what_a_warm_child_read_at_its_import_is_read_again(tmp_path: Path):
    runner, words = tmp_path / "hello.py", tmp_path / "words.txt"
    words.write_text("old")
    runner.write_text(
        "from pathlib import Path\n"
        f"WORDS = Path({str(words)!r}).read_text()\n"
        "async def run(ctx):\n"
        "    yield {'type': 'run.completed', 'data': {'message': {'role': 'assistant', 'content': WORDS}}}\n"
    )
    async with await Engine.open(runner, db=tmp_path / "facts.db") as engine:
        await perform(engine)
        words.write_text("new")
        await engine.reload()
        await perform(engine)
        assert [line.content for line in await engine.transcript("s", after=0)] == ["hi", "old", "hi", "new"]


async def test_the_stage_of_a_test_goes_on_after_a_reload(play: Stage):
    await play.engine.reload()
    assert (await play(done("x"))).row.status == "completed"
    assert play.engine.prepare(message(), Choice()).grants.runner_id == "plugin:local/play/default"
