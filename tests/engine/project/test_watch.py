"""The watcher reports edits soon after they are saved."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from engine.api import CodeChange, Engine
from tests.support.engines import Engines, waits

HELLO = "async def run(ctx):\n    yield\n"
TIMEOUT_SECONDS = 15


class ReportedChanges:
    """Collects the reported changes in order."""

    def __init__(self) -> None:
        self.changes: asyncio.Queue[CodeChange] = asyncio.Queue()
        self.is_over = asyncio.Event()

    async def collect(self, engine: Engine) -> None:
        async for change in engine.runners.watch():
            self.changes.put_nowait(change)
        self.is_over.set()

    async def next(self) -> CodeChange:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return await self.changes.get()

    async def until(self, path: Path) -> CodeChange:
        """The change that contains a file; one save may be reported as two changes."""
        while path not in (change := await self.next()).paths:
            pass
        return change


@asynccontextmanager
async def watching(engine: Engine) -> AsyncIterator[ReportedChanges]:
    reported = ReportedChanges()
    collecting = asyncio.ensure_future(reported.collect(engine))
    try:
        yield reported
    finally:
        collecting.cancel()
        await asyncio.gather(collecting, return_exceptions=True)


async def test_saved_runner_is_reported_with_its_id(open_engine: Engines):
    engine = await open_engine(waits)
    path = open_engine.folder / "waits.py"
    engine.runners.list()

    async with watching(engine) as reported:
        path.write_text("# new\n" + HELLO)
        change = await reported.until(path)

        assert change == CodeChange((path,), ("plugin:local/waits/default",), is_project=False)
        # As editors do it: written beside, then put in its place.
        (open_engine.folder / ".waits.swp").write_text("# newer\n" + HELLO)
        (open_engine.folder / ".waits.swp").rename(path)
        assert (await reported.next()).paths == (path,)


async def test_edit_before_the_watch_began_is_reported(open_engine: Engines):
    engine = await open_engine(waits)
    engine.runners.list()
    (open_engine.folder / "waits.py").write_text("# new\n" + HELLO)

    async with watching(engine) as reported:
        assert (await reported.next()).runner_ids == ("plugin:local/waits/default",)


async def test_edits_of_config_and_its_scripts_are_reported_as_project_changes(open_engine: Engines):
    script = open_engine.folder / "script.yaml"
    script.write_text("{}")
    engine = await open_engine(waits, models=[{"id": "m", "kind": "scripted", "script": "script.yaml"}])

    async with watching(engine) as reported:
        for path in (open_engine.folder / "trackside.yaml", script):
            path.write_text(path.read_text() + "\n")
            assert await reported.until(path) == CodeChange((path,), (), is_project=True)


async def test_plugin_is_watched_recursively_without_installed_and_written_files(tmp_path: Path):
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
        engine.runners.list()
        async with watching(engine) as reported:
            for name in (".venv/lib/a.py", ".git/b.py", "__pycache__/c.py", "env/lib/d.py", "notes.log", "out.json"):
                (plugin / name).write_text("x = 1")
            deep = plugin / "lib" / "deep" / "more.py"
            deep.write_text("x = 1")
            assert await reported.until(deep) == CodeChange((deep,), ("plugin:acme/demo/main",), is_project=False)
            new = plugin / "fresh" / "module.py"
            new.parent.mkdir()
            new.write_text("x = 1")
            assert (await reported.until(new)).paths == (new,)
            assert reported.changes.empty()


async def test_new_places_are_watched_after_reload(open_engine: Engines, tmp_path: Path):
    engine = await open_engine(waits)
    elsewhere = tmp_path / "elsewhere" / "other.py"
    elsewhere.parent.mkdir()
    elsewhere.write_text(HELLO)
    async with watching(engine) as reported:
        (open_engine.folder / "trackside.yaml").write_text(json.dumps({"runners": ["waits.py", "../elsewhere"]}))
        await reported.next()
        await engine.runners.reload()

        elsewhere.write_text("# new\n" + HELLO)
        assert (await reported.until(elsewhere)).runner_ids == ("plugin:local/other/default",)


async def test_reload_includes_reported_edits(open_engine: Engines):
    engine = await open_engine(waits)
    engine.runners.list()
    fresh = open_engine.folder / "fresh.py"
    async with watching(engine) as reported:
        fresh.write_text(HELLO)
        assert (await reported.until(fresh)).runner_ids == (), "nobody knows it yet"
        assert (await engine.runners.reload()).added == ("plugin:local/fresh/default",)
        fresh.write_text("# again\n" + HELLO)
        assert (await reported.until(fresh)).runner_ids == ("plugin:local/fresh/default",)


@pytest.mark.parametrize("begun", [True, False])
async def test_closing_engine_ends_the_watch(open_engine: Engines, begun: bool):
    engine = await open_engine(waits)
    engine.runners.list()
    reported = ReportedChanges()
    collecting = asyncio.ensure_future(reported.collect(engine))
    if begun:
        (open_engine.folder / "waits.py").write_text("# new\n" + HELLO)
        await reported.next()
    await open_engine.close(engine)

    async with asyncio.timeout(TIMEOUT_SECONDS):
        await reported.is_over.wait()
        await collecting
