"""Scenes of the ways a run can end, and of runs of other processes."""

import os
import signal
from typing import Any

from console.launch import LaunchOptions
from engine.api import Engine
from engine.runtimes.child import ChildExecution
from engine.runtimes.pool import ChildPool
from tests.console.pictures.run_scenes import MAY, earlier, guided
from tests.console.pictures.scene import scene
from tests.console.pictures.scene_runners import DYING, TOOLS, breaker, greeter, guide, silent, sleeper
from tests.support.console.scene_driver import SceneDriver

HOTELS = "Find me a hostel with a kitchen"
ELSEWHERE = "ses_elsewhere"


@guided()
async def completed(driver: SceneDriver) -> None:
    """After three turns, with one message delivered."""
    await driver.submit_text("Plan a day in Kyoto")
    await driver.wait_for_step()
    await driver.submit_text("use Fahrenheit")
    driver.advance_clock(1.4)
    await driver.continue_runner()
    await driver.continue_runner()
    driver.steps.allow_next()
    await driver.wait_for_run_end()


@scene(breaker)
async def failed(driver: SceneDriver) -> None:
    """The runner's code raised."""
    await driver.submit_text(HOTELS)
    await driver.wait_for_step()
    driver.steps.allow_next()
    await driver.wait_for_run_end()


@scene(sleeper)
async def cancelled(driver: SceneDriver) -> None:
    """Stopped by the user."""
    await driver.submit_text(HOTELS)
    await driver.wait_for_step()
    await driver.press("f8")
    await driver.wait_for_run_end()


@scene(sleeper)
async def dropped(driver: SceneDriver) -> None:
    """Stopped before a queued message was delivered."""
    await driver.submit_text(HOTELS)
    await driver.wait_for_step()
    await driver.submit_text("and a bath, please")
    driver.advance_clock(4)
    await driver.press("f8")
    await driver.wait_for_run_end()


@scene(sleeper, agent={"config": {"timeout": 30}})
async def timeout(driver: SceneDriver) -> None:
    """The run exceeded its time limit."""
    await driver.submit_text(HOTELS)
    await driver.wait_for_step()
    view = driver.app.services.updater.view
    assert view is not None
    assert view.status.began_at is not None
    driver.advance_clock(30 - (driver.clock.now() - view.status.began_at) / 1_000_000)
    await driver.wait_for_run_end()


@scene(silent)
async def completed_without_output(driver: SceneDriver) -> None:
    await driver.submit_text("Count me in")
    await driver.wait_for_run_end()


class PoolWithoutVersions(ChildPool):
    """Records no loaded code, because pictures must not depend on the versions that are installed."""

    async def begin(self, *arguments: Any) -> ChildExecution:
        execution = await super().begin(*arguments)
        execution.loaded_code = no_loaded_code
        return execution


async def no_loaded_code() -> None:
    return None


async def in_a_child(driver: SceneDriver) -> Engine:
    """Open the engine with a runner in a child process, which can be killed."""
    (driver.engines.folder / "cartographer.py").write_text(DYING)
    (driver.engines.folder / "trackside.yaml").write_text("runners: [cartographer.py]")
    return await Engine.open(
        driver.engines.folder,
        db=driver.engines.db,
        runtime=PoolWithoutVersions(),
        clock=driver.clock,
        ids=driver.engines.ids,
    )


@scene(engine=in_a_child)
async def runner_lost(driver: SceneDriver) -> None:
    """The runner's process was killed."""
    folder = driver.engines.folder
    await driver.submit_text("Show me the way")
    # Output and results arrive on different channels, so each step waits for the entry of the one before.
    for count in (2, 3):
        await driver.wait_until(lambda count=count: driver.entry_count == count)
        (folder / f"go_{count}").touch()
    await driver.wait_until(lambda: driver.entry_count == 5)
    driver.advance_clock(12)
    os.kill(int((folder / "pid").read_text()), signal.SIGKILL)
    await driver.wait_for_run_end()


async def begun_elsewhere(driver: SceneDriver, engine: Engine) -> None:
    """Start a run of another host in the session that the console opens."""
    await earlier(driver, engine)
    other = await driver.open_second_host()
    await driver.start_run(other, "Plan a day in Kyoto", session=ELSEWHERE)
    await driver.steps.is_reached.wait()


@scene(
    guide, greeter, silent, prepare=begun_elsewhere, agent=MAY, tools=TOOLS, options=LaunchOptions(session=ELSEWHERE)
)
async def another_process(driver: SceneDriver) -> None:
    """A run of another process, which can be watched and stopped."""
    driver.advance_clock(2)
    await driver.app.health.check()


async def cannot(driver: SceneDriver) -> Engine:
    raise OSError("the database cannot be opened: /data/[b]trackside.db[/b] is read-only")


@scene(engine=cannot)
async def cannot_open(driver: SceneDriver) -> None:
    """The console shows why the database cannot be opened."""
    await driver.paste_text("still here")
