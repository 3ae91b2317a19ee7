"""The welcome card fits into small terminals."""

import pytest

from console.app import Trackside
from console.launch import LaunchOptions
from console.ui.main.welcome import WelcomeCard
from tests.support.console.pilot import at_the_screen
from tests.support.engines import Engines, done, said


async def rehearsal(ctx: object):
    yield said("hello")
    yield done()


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (60, 15), (60, 10)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_welcome_card_is_fully_visible(open_engine: Engines, size: tuple[int, int]):
    app = Trackside(LaunchOptions(), lambda: open_engine(rehearsal))
    async with at_the_screen(app, size) as pilot:
        app.main.card.display = True
        await pilot.pause()
        card, prompt = app.main.query_one(WelcomeCard), app.main.prompt
        strips = app.screen._compositor.render_strips()
        text = "\n".join("".join(segment.text for segment in strip) for strip in strips)

        for words in (
            "run the example",
            "to steer it",
            "pause at the next steering point",
            "^q quits",
            "trackside path/to/runner.py",
        ):
            assert words in text
        assert card.region.bottom <= prompt.region.y
        assert card.region.width <= 60
        assert card.region.height <= 10
