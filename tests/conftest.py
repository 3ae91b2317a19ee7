import gc
from collections.abc import AsyncIterator, Iterator
from inspect import isasyncgenfunction, iscoroutinefunction
from pathlib import Path

import pytest

from tests.support.command_server import CommandServer
from tests.support.commands import Trackside, make_trackside
from tests.support.engines import Engines, FakeClock, ScriptRunner, open_script_runner

TIMING_FIXTURES = frozenset({"snap_compare", "trackside"})
"""Fixtures that are no coroutines, but draw the screen or start a process."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests whose result could depend on timing: those that wait, draw or start a process."""
    for item in items:
        if isinstance(item, pytest.Function) and depends_on_timing(item):
            item.add_marker(pytest.mark.timing)


def depends_on_timing(test: pytest.Function) -> bool:
    definitions = test._fixtureinfo.name2fixturedefs.values()
    functions = [test.function, *(found[-1].func for found in definitions if found)]
    return not TIMING_FIXTURES.isdisjoint(test.fixturenames) or any(
        iscoroutinefunction(function) or isasyncgenfunction(function) for function in functions
    )


def pytest_collection_finish() -> None:
    """Leave the imported modules out of garbage collection: a collection then takes 5 ms instead of 80."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def open_engine(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Engines]:
    """Opens a real engine on `tmp_path` with runners that live in the test: `await open_engine(run, agents=[…])`."""
    engines = Engines(tmp_path, clock)
    yield engines
    await engines.close_all()


@pytest.fixture
async def run_script(open_engine: Engines) -> ScriptRunner:
    """Runs a runner that yields the given results: `run = await run_script(delta("a"), done())`."""
    return await open_script_runner(open_engine)


@pytest.fixture(scope="session")
def command_server() -> Iterator[CommandServer]:
    server = CommandServer()
    yield server
    server.close()


@pytest.fixture
def trackside(tmp_path: Path, command_server: CommandServer) -> Trackside:
    """Runs commands as users type them: `trackside("run", "-m", "hi")`."""
    return make_trackside(tmp_path, command_server)
