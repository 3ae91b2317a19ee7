"""Reload: the workspace is replaced as a whole or not at all."""

import asyncio
import json
from pathlib import Path

import pytest

from engine.api import ConfigError, Engine, IntakeError, Reloaded, RunnersError, RunOptions
from tests.support.engines import (
    Engines,
    ScriptRunner,
    declares,
    delta,
    done,
    message,
    run_event,
    send,
    wait_for_entry,
    waits,
)

HELLO = "async def run(ctx):\n    yield {'type': 'run.completed', 'data': {}}\n"
MODEL = {"id": "m", "kind": "scripted", "replies": [{"text": "old"}]}


def configure(engines: Engines, **project: object) -> None:
    (engines.folder / "trackside.yaml").write_text(json.dumps(project))


async def test_reload_reports_added_changed_and_removed_runners(open_engine: Engines):
    engine = await open_engine(waits)
    engine.runners.list()
    folder = open_engine.folder
    (folder / "stays.py").write_text(HELLO)
    (folder / "goes.py").write_text(HELLO)
    assert await engine.runners.reload() == Reloaded(added=("plugin:local/goes/default", "plugin:local/stays/default"))
    assert not await engine.runners.reload()

    (folder / "goes.py").unlink()
    (folder / "stays.py").write_text("label = 'Stays'\n" + HELLO)
    (folder / "torn.py").write_text("async def run(ctx:\n")
    reloaded = await engine.runners.reload()

    assert (reloaded.added, reloaded.gone) == ((), ("plugin:local/goes/default",))
    assert reloaded.changed == ("plugin:local/stays/default",)
    assert [problem.path.name for problem in reloaded.problems] == ["torn.py"]
    assert engine.runners.registry.get("stays").manifest.label == {"en_US": "Stays"}
    with pytest.raises(RunnersError, match="no runner called 'goes'"):
        engine.runners.registry.get("goes")


async def test_reload_reports_code_change_with_unchanged_manifest(open_engine: Engines):
    engine = await open_engine(waits)
    (open_engine.folder / "other.py").write_text(HELLO)
    (open_engine.folder / "beside.py").write_text("WORD = 1\n")
    await engine.runners.reload()

    (open_engine.folder / "waits.py").write_text("# more\nasync def run(ctx):\n    yield\n")
    assert (await engine.runners.reload()).changed == ("plugin:local/waits/default",)
    (open_engine.folder / "beside.py").write_text("WORD = 12\n")
    assert sorted((await engine.runners.reload()).changed) == [
        "plugin:local/other/default",
        "plugin:local/waits/default",
    ]


@pytest.mark.parametrize(
    ("written", "error"),
    [
        ("agents: [", r"trackside\.yaml:\d: not YAML"),
        ("models:\n- id: m\n  kind: scripted\n  script: gone.yaml\n", r"models\[0\]\.script: no such file"),
        ("moon: full\n", r"trackside\.yaml:1: moon: unknown key"),
    ],
)
async def test_reload_of_invalid_config_raises_and_keeps_the_old_one(open_engine: Engines, written: str, error: str):
    engine = await open_engine(waits, agents=[{"id": "old", "runner": "waits"}])
    project, registry = engine.project, engine.runners.registry
    (open_engine.folder / "fresh.py").write_text(HELLO)
    (open_engine.folder / "trackside.yaml").write_text(written)

    with pytest.raises(ConfigError, match=error):
        await engine.runners.reload()

    assert (engine.project, engine.runners.registry) == (project, registry)
    assert engine.runs.prepare(message()).binding.agent_id == "old"


async def test_reload_leaves_out_invalid_files_and_uses_the_rest(open_engine: Engines):
    good = {"id": "good", "runner": "waits"}
    engine = await open_engine(waits, agents=[good, {"id": "poor", "runner": "other"}])
    other = open_engine.folder / "other.py"
    other.write_text(HELLO)
    await engine.runners.reload()
    assert engine.runners.invalid_agents() == ()

    other.write_text("async def run(ctx:\n")
    configure(open_engine, agents=[good | {"events": ["message.recalled"]}, {"id": "poor", "runner": "other"}])
    reloaded = await engine.runners.reload()

    assert reloaded.is_project_changed
    assert [problem.path.name for problem in reloaded.problems] == ["other.py"]
    assert [(agent.agent_id, agent.key) for agent in engine.runners.invalid_agents()] == [("poor", "runner")]
    with pytest.raises(IntakeError, match=r"no enabled agent handles message\.received"):
        engine.runs.prepare(message(), RunOptions(runner="good"))


async def test_invalid_agent_that_does_not_handle_the_event_is_ignored(open_engine: Engines):
    poor = {"id": "poor", "runner": "nobody", "events": ["message.recalled"]}
    engine = await open_engine(waits, agents=[{"id": "good", "runner": "waits"}, poor])

    assert engine.runs.prepare(message()).binding.agent_id == "good"
    configure(open_engine, agents=[{"id": "good", "runner": "waits"}, {"id": "poor", "runner": "nobody"}])
    await engine.runners.reload()
    with pytest.raises(ConfigError, match=r"agents\[1\]\.runner: no runner called 'nobody'"):
        engine.runs.prepare(message())  # it might have been meant


async def test_reload_applies_changed_agents_models_and_settings(open_engine: Engines):
    engine = await open_engine(waits)
    assert engine.runs.prepare(message()).binding.agent_id is None

    configure(open_engine, agents=[{"id": "a", "runner": "waits"}], models=[MODEL], database={"synchronous": "FULL"})
    reloaded = await engine.runners.reload()

    assert reloaded.is_project_changed
    assert [note.partition(";")[0] for note in reloaded.notes] == ["database in trackside.yaml has changed"]
    configure(open_engine, agents=[{"id": "a", "runner": "waits"}], models=[MODEL], limits={"child_starts": 2})
    notes = (await engine.runners.reload()).notes
    assert [note.partition(" ")[0] for note in notes] == ["database", "limits"]
    assert engine.runs.prepare(message()).binding.agent_id == "a"
    assert [option.value for option in (await engine.resources.choices()).models] == ["m"]


async def test_edited_resource_script_counts_as_project_change(open_engine: Engines):
    script = open_engine.folder / "script.yaml"
    script.write_text(json.dumps({"replies": [{"text": "old"}]}))
    engine = await open_engine(waits, models=[{"id": "m", "kind": "scripted", "script": "script.yaml"}])

    assert not (await engine.runners.reload()).is_project_changed
    script.write_text(json.dumps({"replies": [{"text": "newer"}]}))
    assert (await engine.runners.reload()).is_project_changed


async def test_run_in_progress_keeps_its_resources_after_reload(open_engine: Engines):
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
    await wait_for_entry(engine, run_id, "message.delta")

    configure(open_engine)
    await engine.runners.reload()
    go.set()

    assert (await engine.runs.wait_for_end(run_id)).status == "completed"
    assert (await engine.sessions.transcript("s", limit=1))[0].content == "old"
    assert engine.runs.prepare(message()).grants.resources.models == []


async def test_run_in_progress_reports_stale_code(open_engine: Engines):
    engine = await open_engine(waits)
    run_id = await send(engine)
    await wait_for_entry(engine, run_id, "message.delta")
    assert not await engine.runners.has_stale_code(run_id)

    (open_engine.folder / "waits.py").write_text("# new\nasync def run(ctx):\n    yield\n")
    assert await engine.runners.has_stale_code(run_id)
    await engine.runs.stop(run_id)
    assert not await engine.runners.has_stale_code(run_id), "it has no code any more"


async def test_reload_of_missing_target_raises_and_keeps_the_old_one(tmp_path: Path):
    runner = tmp_path / "hello.py"
    runner.write_text(HELLO)
    async with await Engine.open(runner, db=tmp_path / "facts.db") as engine:
        engine.runners.list()
        runner.rename(tmp_path / "elsewhere.py")
        with pytest.raises(RunnersError, match="no such file or folder"):
            await engine.runners.reload()
        assert str(engine.runs.prepare(message()).binding.runner_id) == "plugin:local/hello/default"


async def test_reload_imports_runner_modules_again(tmp_path: Path):
    runner, words = tmp_path / "hello.py", tmp_path / "words.txt"
    words.write_text("old")
    runner.write_text(
        "from pathlib import Path\n"
        f"WORDS = Path({str(words)!r}).read_text()\n"
        "async def run(ctx):\n"
        "    yield {'type': 'run.completed', 'data': {'message': {'role': 'assistant', 'content': WORDS}}}\n"
    )
    async with await Engine.open(runner, db=tmp_path / "facts.db") as engine:
        await run_event(engine)
        words.write_text("new")
        await engine.runners.reload()
        await run_event(engine)
        assert [line.content for line in await engine.sessions.transcript("s", after=0)] == ["hi", "old", "hi", "new"]


async def test_scripted_engine_works_after_reload(run_script: ScriptRunner):
    await run_script.engine.runners.reload()
    assert (await run_script(done("x"))).row.status == "completed"
    assert run_script.engine.runs.prepare(message(), RunOptions()).grants.runner_id == "plugin:local/play/default"
