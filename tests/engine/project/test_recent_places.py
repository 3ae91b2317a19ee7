"""Files and folders of runners that are added while the engine is open."""

import asyncio
import io
import json
import threading
from pathlib import Path

import pytest

from engine.api import RunnersError, RunOptions
from tests.support.engines import Engines, done, message

RUNNER = "async def run(ctx):\n    yield\n"


async def only(ctx):
    yield done("x")


async def test_runner_of_added_file_can_be_used_also_after_reload(open_engine: Engines, tmp_path):
    engine = await open_engine(only)
    other = tmp_path / "elsewhere.py"
    other.write_text(RUNNER)

    (found,) = await engine.runners.add_place(other)

    assert str(found.id) == "plugin:local/elsewhere/default"
    await engine.runners.reload()
    order = engine.settings.preview_grants(RunOptions(runner="elsewhere"))
    assert order.grants.runner_id == "plugin:local/elsewhere/default"


async def test_place_without_runner_is_refused_and_nothing_changes(open_engine: Engines, tmp_path):
    engine = await open_engine(only)
    before = engine.runners.list()
    (tmp_path / "broken.py").write_text("def run(:\n")
    (tmp_path / "empty").mkdir()

    for name, words in (("broken.py", "broken.py:1"), ("empty", "no runner in this folder"), ("gone", "no such file")):
        with pytest.raises(RunnersError, match=words):
            await engine.runners.add_place(tmp_path / name)
    assert engine.runners.list() == before


async def test_duplicate_runner_name_is_refused_with_both_paths(open_engine: Engines, tmp_path):
    engine = await open_engine(only)
    other = tmp_path / "only.py"
    other.write_text(RUNNER)

    with pytest.raises(RunnersError, match="already taken by") as refused:
        await engine.runners.add_place(other)
    assert str(open_engine.folder / "only.py") in str(refused.value)


@pytest.mark.parametrize("is_first", [True, False])
async def test_place_added_during_reload_keeps_both_changes(open_engine: Engines, tmp_path, is_first: bool):
    engine = await open_engine(only)
    other = tmp_path / "elsewhere.py"
    other.write_text(RUNNER)
    agents = [{"id": "new", "runner": "only"}]
    (open_engine.folder / "trackside.yaml").write_text(json.dumps({"agents": agents}))

    both = [engine.runners.add_place(other), engine.runners.reload()]
    await asyncio.gather(*(both if is_first else reversed(both)))

    assert "plugin:local/elsewhere/default" in map(str, (runner.id for runner in engine.runners.list()))
    assert [agent.agent_id for agent in engine.runners.agents()] == ["new"]


async def test_runner_files_are_not_read_on_the_event_loop(open_engine: Engines, tmp_path, monkeypatch):
    opened, here, other = io.open, threading.get_ident(), tmp_path / "elsewhere.py"
    read: dict[bool, set[str]] = {True: set(), False: set()}

    def watched(file, mode="r", *args, **kwargs):
        if "r" in mode:
            read[threading.get_ident() == here].add(Path(file).name)
        return opened(file, mode, *args, **kwargs)

    other.write_text(RUNNER)
    (open_engine.folder / "module.py").write_text("WORD = 1\n")
    monkeypatch.setattr(io, "open", watched)
    engine = await open_engine(only, agents=[{"id": "me", "runner": "plugin:local/only/default"}])
    engine.runs.prepare(message())
    await engine.runners.add_place(other)
    engine.runners.problems()
    await engine.runners.reload()
    engine.runners.problems()

    assert read[True] == set()
    assert read[False] >= {"only.py", "module.py", "elsewhere.py", "trackside.yaml", "manifest.yaml"}
