"""A file or folder that someone names while the engine is open."""

import asyncio
import io
import json
import threading
from pathlib import Path

import pytest

from engine.api import Choice, RunnersError
from tests.support import Engines, done, message

RUNNER = "async def run(ctx):\n    yield\n"


async def only(ctx):
    yield done("x")


async def test_a_runner_of_another_file_can_be_used_from_then_on_and_after_a_reload(open_engine: Engines, tmp_path):
    engine = await open_engine(only)
    other = tmp_path / "elsewhere.py"
    other.write_text(RUNNER)

    (found,) = await engine.add_place(other)

    assert str(found.id) == "plugin:local/elsewhere/default"
    await engine.reload()
    order = engine.grants_preview(Choice(runner="elsewhere"))
    assert order.grants.runner_id == "plugin:local/elsewhere/default"


async def test_a_place_without_a_runner_is_refused_in_words_and_nothing_changes(open_engine: Engines, tmp_path):
    engine = await open_engine(only)
    before = engine.runners()
    (tmp_path / "broken.py").write_text("def run(:\n")
    (tmp_path / "empty").mkdir()

    for name, words in (("broken.py", "broken.py:1"), ("empty", "no runner in this folder"), ("gone", "no such file")):
        with pytest.raises(RunnersError, match=words):
            await engine.add_place(tmp_path / name)
    assert engine.runners() == before


async def test_a_name_that_another_file_has_is_refused_with_both_paths(open_engine: Engines, tmp_path):
    engine = await open_engine(only)
    other = tmp_path / "only.py"
    other.write_text(RUNNER)

    with pytest.raises(RunnersError, match="already taken by") as refused:
        await engine.add_place(other)
    assert str(open_engine.folder / "only.py") in str(refused.value)


@pytest.mark.parametrize("is_first", [True, False])
async def test_a_place_that_is_added_while_files_are_read_again_stays_and_so_does_what_they_say(
    open_engine: Engines, tmp_path, is_first: bool
):
    engine = await open_engine(only)
    other = tmp_path / "elsewhere.py"
    other.write_text(RUNNER)
    agents = [{"id": "new", "runner": "only"}]
    (open_engine.folder / "trackside.yaml").write_text(json.dumps({"agents": agents}))

    both = [engine.add_place(other), engine.reload()]
    await asyncio.gather(*(both if is_first else reversed(both)))

    assert "plugin:local/elsewhere/default" in map(str, (runner.id for runner in engine.runners()))
    assert [agent.agent_id for agent in engine.agents()] == ["new"]


async def test_no_runner_or_manifest_is_read_on_the_loop(open_engine: Engines, tmp_path, monkeypatch):
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
    engine.prepare(message())
    await engine.add_place(other)
    engine.problems()
    await engine.reload()
    engine.problems()

    assert read[True] == set()
    assert read[False] >= {"only.py", "module.py", "elsewhere.py", "trackside.yaml", "manifest.yaml"}
