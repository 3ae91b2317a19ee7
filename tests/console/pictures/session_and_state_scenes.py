"""Scenes of the session browser and the state browser."""

from typing import Any

from console.ui.sessions.screen import SessionsScreen
from engine.api import Engine
from tests.console.pictures.scene import BOTH, TINY, scene
from tests.console.pictures.scene_runners import HOSTILE
from tests.support.console.scene_driver import SceneDriver
from tests.support.engines import Runner, declares, done, said, state_updated


def keeper(driver: SceneDriver) -> Runner:
    """A runner that writes state of the conversation and of the actor."""

    @declares(capabilities={"steering": True})
    async def keeper(ctx: Any):
        text = ctx.input.to_text()
        yield state_updated("trip.city", {"name": text, "days": 2, "hotels": ["Hana", "Kita"]})
        yield state_updated("last.said", text)
        yield state_updated("mood", "calm", "actor")
        yield said(f"I shall remember: {text}")
        yield done()

    return keeper


async def a_week(driver: SceneDriver, engine: Engine) -> None:
    """Make some sessions, one of them forked twice, one with hostile text."""
    await driver.run_to_end(engine, "我想去京都旅行", session="ses_kyoto", runner="keeper")
    driver.advance_clock(7_200)
    await driver.run_to_end(engine, "Is the museum of gold open on Mondays?", session="ses_gold", runner="keeper")
    await driver.run_to_end(engine, "And is it cheap?", session="ses_gold", runner="keeper")
    driver.advance_clock(600)
    fork = await engine.sessions.fork("ses_gold", title="The museum, on Tuesdays")
    driver.advance_clock(60)
    await engine.sessions.fork(fork.session_id, title="The museum, at night")
    driver.advance_clock(86_400)
    await driver.run_to_end(engine, HOSTILE, session="ses_hostile", runner="keeper")
    driver.advance_clock(300)


browsing = scene.with_defaults(keeper, prepare=a_week)


async def in_sessions(driver: SceneDriver) -> None:
    await driver.press("ctrl+l")
    await driver.wait_until("Sessions")
    await driver.wait_until("museum")
    await driver.wait_until_settled()


def _has_found(driver: SceneDriver, query: str) -> bool:
    """Return whether the results of this search are shown."""
    screen = driver.app.screen
    assert isinstance(screen, SessionsScreen)
    return screen.found is not None and screen.found.query == query and not screen.reading


@browsing(sizes=(*BOTH, TINY))
async def sessions(driver: SceneDriver) -> None:
    """All sessions, with forks under their parents."""
    await in_sessions(driver)
    await driver.press("down")


@browsing()
async def sessions_found(driver: SceneDriver) -> None:
    """Results of a search in titles and lines."""
    await in_sessions(driver)
    await driver.press("slash", *"museum", "enter")
    await driver.wait_until(lambda: _has_found(driver, "museum"))
    await driver.wait_until_settled()
    await driver.press("down", "down", "down", "down", "down")


@browsing(sizes=BOTH)
async def sessions_new(driver: SceneDriver) -> None:
    """The dialog that creates a session, with an id that is taken."""
    await in_sessions(driver)
    await driver.press("n")
    await driver.wait_until("New session")
    await driver.press(*"ses_gold", "tab", *"Gold", "enter")
    await driver.wait_until("exists already")
    await driver.wait_until_settled()


@browsing()
async def sessions_not_found(driver: SceneDriver) -> None:
    await in_sessions(driver)
    await driver.press("slash", *"xylophone")
    await driver.wait_until("No results for")


@browsing()
async def sessions_details(driver: SceneDriver) -> None:
    """Details of a session: beside the list, or instead of it."""
    await in_sessions(driver)
    await driver.press("down", "tab")
    await driver.wait_until("And is it cheap?")
    await driver.wait_until_settled()
    await driver.press("down")


@browsing()
async def sessions_deleted(driver: SceneDriver) -> None:
    """A session was just deleted, and its forks are at the top level."""
    await in_sessions(driver)
    await driver.press("down", "d")
    await driver.wait_until("u undo")
    await driver.wait_until(lambda: not driver.app.controllers.deleter.pending)


@browsing()
async def sessions_renamed(driver: SceneDriver) -> None:
    """Asked for a new title."""
    await in_sessions(driver)
    await driver.press("down", "r")


async def in_states(driver: SceneDriver) -> None:
    await driver.app.action_perform("app.states")
    await driver.wait_until("State")
    await driver.wait_until("mood")
    await driver.wait_until_settled()


@browsing(sizes=(*BOTH, TINY))
async def states(driver: SceneDriver) -> None:
    """All state, grouped by owner."""
    await in_states(driver)
    await driver.press("G", "up")


async def _look_for_gold(driver: SceneDriver) -> None:
    await driver.press("slash", *"ses_gold", "enter")
    await driver.wait_until("2 keys of all runners")
    await driver.wait_until_settled()


@browsing()
async def state_details(driver: SceneDriver) -> None:
    """Details of a value: beside the list, or instead of it."""
    await in_states(driver)
    await _look_for_gold(driver)
    await driver.press("down", "tab")
    await driver.wait_until("hotels")
    await driver.wait_until_settled()
    await driver.press("G", "space")


@browsing()
async def state_history(driver: SceneDriver) -> None:
    """History of a key."""
    await in_states(driver)
    await _look_for_gold(driver)
    await driver.press("down", "h")
    await driver.wait_until("History of")


@browsing()
async def state_not_json(driver: SceneDriver) -> None:
    """The edited value is not JSON."""
    await in_states(driver)
    await driver.press("enter")
    await driver.wait_until("f4 saves")
    await driver.press("end", ",", "f4")
    await driver.wait_until("line 1, column")


@browsing()
async def state_moved(driver: SceneDriver) -> None:
    """The value changed during the edit."""
    await in_states(driver)
    await _look_for_gold(driver)
    await driver.press("enter")
    await driver.wait_until("f4 saves")
    engine = driver.app.active_session.engine
    row = (await engine.state.browse(text="ses_gold"))[0]
    await engine.state.set(row.identity, row.key, "Is it open at night?")
    await driver.press("end", "left", "!", "f4")
    await driver.wait_until("f4 again")


@scene(keeper)
async def states_empty(driver: SceneDriver) -> None:
    await driver.app.action_perform("app.states")
    await driver.wait_until("No state yet.")
