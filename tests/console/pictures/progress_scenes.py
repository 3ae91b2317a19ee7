"""Scenes of operations in progress and of their messages."""

import asyncio

from console.launch import LaunchOptions
from console.ui.main.quit_progress import QuitProgress
from engine.api import Engine
from tests.console.pictures.run_scenes import guided, running
from tests.console.pictures.scene import BOTH, TINY, scene
from tests.support.console.scene_driver import SceneDriver

LOCKED = "Quitting: waiting for the database…\n/data/facts.db is locked by another process. Wait for it or end it."


@guided(sizes=(*BOTH, TINY))
async def stopping(driver: SceneDriver) -> None:
    """A runner that does not react was asked to stop."""
    await running(driver)
    view = driver.app.services.updater.view
    assert view is not None
    driver.app.services.updater.mark_stopping(view.run_id, driver.clock.now())
    driver.advance_clock(0.6)


@guided()
async def sending(driver: SceneDriver) -> None:
    """A message cannot be written yet."""
    await running(driver)
    driver.app.controllers.sender.sending.append("use Fahrenheit")
    await driver.wait_until("sending…")


@guided()
async def leaving_waits(driver: SceneDriver) -> None:
    await running(driver)
    driver.app.push_screen(QuitProgress(lambda: LOCKED))
    await driver.wait_until("quits now")


async def upgrades_for_ever(driver: SceneDriver) -> Engine:
    driver.app.active_session._set_upgrade(40, driver.app._show_upgrade)
    await asyncio.Event().wait()
    raise AssertionError("not reached")


@scene(engine=upgrades_for_ever, options=LaunchOptions(runner="guide"))
async def upgrading(driver: SceneDriver) -> None:
    """The database is being upgraded, and a message waits."""
    await driver.submit_text("Plan a day in Kyoto")
    await driver.wait_until("as soon as the engine is open")


@guided(options=LaunchOptions(session="ses_mornign"))
async def session_mistyped(driver: SceneDriver) -> None:
    """An unknown session name, with a similar one suggested."""
    await driver.wait_until("Did you mean")


@guided()
async def no_such_entry(driver: SceneDriver) -> None:
    """The number of an entry that does not exist."""
    await running(driver)
    await driver.focus_pane("stream")
    await driver.press("colon", *"9999", "enter")
    await driver.wait_until("Enter a number from 1 to")


@guided()
async def cursor_hidden_by_a_filter(driver: SceneDriver) -> None:
    """A filter hides the cursor's row, and the cursor moves to the nearest row."""
    await running(driver)
    await driver.focus_pane("stream")
    await driver.press("k", "k", "slash", *"kind:run.*", "enter")
    await driver.wait_until("is hidden")
