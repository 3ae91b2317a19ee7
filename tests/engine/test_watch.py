"""Edits are told soon after they are saved, and nothing else is."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from engine.api import CodeChange, Engine
from tests.support import Engines, waits

HELLO = "async def run(ctx):\n    yield\n"
LONG = 15


class Told:
    """What was told, in order."""

    def __init__(self) -> None:
        self.changes: asyncio.Queue[CodeChange] = asyncio.Queue()
        self.is_over = asyncio.Event()

    async def hear(self, engine: Engine) -> None:
        async for change in engine.watch():
            self.changes.put_nowait(change)
        self.is_over.set()

    async def next(self) -> CodeChange:
        async with asyncio.timeout(LONG):
            return await self.changes.get()

    async def until(self, path: Path) -> CodeChange:
        """The change that names a file; a save may be told in two."""
        while path not in (change := await self.next()).paths:
            pass
        return change


@asynccontextmanager
async def watching(engine: Engine) -> AsyncIterator[Told]:
    told = Told()
    hearing = asyncio.ensure_future(told.hear(engine))
    try:
        yield told
    finally:
        hearing.cancel()
        await asyncio.gather(hearing, return_exceptions=True)


async def test_a_saved_runner_is_told_with_its_id(open_engine: Engines):
    engine = await open_engine(waits)
    path = open_engine.folder / "waits.py"
    engine.runners()

    async with watching(engine) as told:
        path.write_text("# new\n" + HELLO)
        change = await told.until(path)

        assert change == CodeChange((path,), ("plugin:local/waits/default",), is_project=False)
        # As editors do it: written beside, then put in its place.
        (open_engine.folder / ".waits.swp").write_text("# newer\n" + HELLO)
        (open_engine.folder / ".waits.swp").rename(path)
        assert (await told.next()).paths == (path,)


async def test_what_was_saved_before_anyone_listened_is_told_too(open_engine: Engines):
    engine = await open_engine(waits)
    engine.runners()
    (open_engine.folder / "waits.py").write_text("# new\n" + HELLO)

    async with watching(engine) as told:
        assert (await told.next()).runner_ids == ("plugin:local/waits/default",)


async def test_the_config_and_its_scripts_are_told_as_the_projects(open_engine: Engines):
    script = open_engine.folder / "script.yaml"
    script.write_text("{}")
    engine = await open_engine(waits, models=[{"id": "m", "kind": "scripted", "script": "script.yaml"}])

    async with watching(engine) as told:
        for path in (open_engine.folder / "trackside.yaml", script):
            path.write_text(path.read_text() + "\n")
            assert await told.until(path) == CodeChange((path,), (), is_project=True)


async def test_a_plugin_is_watched_to_its_depth_but_not_what_was_installed_or_written_there(tmp_path: Path):
    plugin = tmp_path / "demo"
    (plugin / "lib" / "deep").mkdir(parents=True)
    for folder in (".venv/lib", ".git", "__pycache__", "env/lib"):
        (plugin / folder).mkdir(parents=True)
    (plugin / "env" / "pyvenv.cfg").touch()
    (plugin / "manifest.yaml").write_text(
        "metadata: {author: acme, name: demo}\nspec: {components: {AgentRunner: {fromFiles: [main.yaml]}}}\n"
    )
    (plugin / "main.yaml").write_text(
        "kind: AgentRunner\nmetadata: {name: main}\nexecution: {python: {path: main.py, attr: run}}\n"
    )
    (plugin / "main.py").write_text(HELLO)
    async with await Engine.open(plugin, db=tmp_path / "facts.db") as engine:
        engine.runners()
        async with watching(engine) as told:
            for name in (".venv/lib/a.py", ".git/b.py", "__pycache__/c.py", "env/lib/d.py", "notes.log", "out.json"):
                (plugin / name).write_text("x = 1")
            deep = plugin / "lib" / "deep" / "more.py"
            deep.write_text("x = 1")
            assert await told.until(deep) == CodeChange((deep,), ("plugin:acme/demo/main",), is_project=False)
            new = plugin / "fresh" / "module.py"
            new.parent.mkdir()
            new.write_text("x = 1")
            assert (await told.until(new)).paths == (new,)
            assert told.changes.empty()


async def test_after_a_reload_the_new_places_are_watched(open_engine: Engines, tmp_path: Path):
    engine = await open_engine(waits)
    elsewhere = tmp_path / "elsewhere" / "other.py"
    elsewhere.parent.mkdir()
    elsewhere.write_text(HELLO)
    async with watching(engine) as told:
        (open_engine.folder / "trackside.yaml").write_text(json.dumps({"runners": ["waits.py", "../elsewhere"]}))
        await told.next()
        await engine.reload()

        elsewhere.write_text("# new\n" + HELLO)
        assert (await told.until(elsewhere)).runner_ids == ("plugin:local/other/default",)


async def test_a_reload_takes_in_what_was_told(open_engine: Engines):
    engine = await open_engine(waits)
    engine.runners()
    fresh = open_engine.folder / "fresh.py"
    async with watching(engine) as told:
        fresh.write_text(HELLO)
        assert (await told.until(fresh)).runner_ids == (), "nobody knows it yet"
        assert (await engine.reload()).added == ("plugin:local/fresh/default",)
        fresh.write_text("# again\n" + HELLO)
        assert (await told.until(fresh)).runner_ids == ("plugin:local/fresh/default",)


@pytest.mark.parametrize("begun", [True, False])
async def test_closing_the_engine_ends_the_watch(open_engine: Engines, begun: bool):
    engine = await open_engine(waits)
    engine.runners()
    told = Told()
    hearing = asyncio.ensure_future(told.hear(engine))
    if begun:
        (open_engine.folder / "waits.py").write_text("# new\n" + HELLO)
        await told.next()
    await open_engine.close(engine)

    async with asyncio.timeout(LONG):
        await told.is_over.wait()
        await hearing
