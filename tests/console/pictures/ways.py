"""Scenes of the shorter ways: letters over the screen, other colours, the tour, what was sent before."""

from console.model.settings.file import read
from console.opening import Opening
from console.settling import Settled
from tests.console.pictures.course import guided
from tests.console.pictures.endings import completed
from tests.console.pictures.scene import BOTH, TINY
from tests.console.pictures.studio import Studio

SETTLED = Opening(settled=Settled(read("keys:\n  app.hodl: f5\n  app.stop: f6\n", "console.yaml")))


@guided(sizes=(*BOTH, TINY))
async def jump(studio: Studio) -> None:
    await completed(studio)
    await studio.settled()  # the letters lie on a picture of it
    await studio.press("ctrl+o")


@guided()
async def found_again(studio: Studio) -> None:
    await studio.press("ctrl+r")
    await studio.press(*"is")


@guided()
async def found_nothing(studio: Studio) -> None:
    await studio.press("ctrl+r")
    await studio.press(*"xyz")


async def wearing(studio: Studio, theme: str) -> None:
    await completed(studio)
    studio.app.wear(theme)
    await studio.drawn()


@guided()
async def light(studio: Studio) -> None:
    await wearing(studio, "light")


@guided()
async def high_contrast(studio: Studio) -> None:
    await wearing(studio, "high-contrast")


@guided()
async def themes(studio: Studio) -> None:
    await completed(studio)
    await studio.app.action_perform("app.theme")
    await studio.drawn()
    await studio.press(*"latte")
    await studio.until(lambda: studio.app.theme == "catppuccin-latte")


@guided(sizes=(*BOTH, TINY))
async def tour(studio: Studio) -> None:
    await studio.app.action_perform("app.tour")
    await studio.drawn()
    await studio.press("enter", "enter")


@guided(opening=SETTLED)
async def settings_wrong(studio: Studio) -> None:
    await studio.app.action_perform("app.choices")
    await studio.drawn()


@guided()
async def what_is_new(studio: Studio) -> None:
    await studio.app.action_perform("app.news")
    await studio.drawn()
