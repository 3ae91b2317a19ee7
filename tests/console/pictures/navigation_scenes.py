"""Scenes of jump mode, themes, the tour and the prompt's history."""

from tests.console.pictures.run_end_scenes import completed
from tests.console.pictures.run_scenes import guided
from tests.console.pictures.scene import BOTH, TINY
from tests.support.console.scene_driver import SceneDriver


@guided(sizes=(*BOTH, TINY))
async def jump(driver: SceneDriver) -> None:
    await completed(driver)
    await driver.wait_until_settled()  # jump mode draws its letters over a copy of the screen
    await driver.press("ctrl+o")


@guided()
async def found_again(driver: SceneDriver) -> None:
    await driver.press("ctrl+r")
    await driver.press(*"is")


@guided()
async def found_nothing(driver: SceneDriver) -> None:
    await driver.press("ctrl+r")
    await driver.press(*"xyz")


async def wearing(driver: SceneDriver, theme: str) -> None:
    await completed(driver)
    driver.app.controllers.preferences.use_theme(theme)
    await driver.wait_until_drawn()


@guided()
async def light(driver: SceneDriver) -> None:
    await wearing(driver, "light")


@guided()
async def high_contrast(driver: SceneDriver) -> None:
    await wearing(driver, "high-contrast")


@guided()
async def themes(driver: SceneDriver) -> None:
    await completed(driver)
    await driver.app.action_perform("app.theme")
    await driver.wait_until_drawn()
    await driver.press(*"latte")
    await driver.wait_until(lambda: driver.app.theme == "catppuccin-latte")


@guided(sizes=(*BOTH, TINY))
async def tour(driver: SceneDriver) -> None:
    await driver.app.action_perform("app.tour")
    await driver.wait_until_drawn()
    await driver.press("enter", "enter")
