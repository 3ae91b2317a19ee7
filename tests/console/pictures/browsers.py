"""Scenes of the session browser and the state browser."""

from typing import Any

from console.screens.sessions.screen import Sessions
from engine.api import Engine
from tests.console.pictures.runners import HOSTILE
from tests.console.pictures.scene import BOTH, TINY, scene
from tests.console.pictures.studio import Studio
from tests.support import Runner, declares, done, kept, said


def keeper(studio: Studio) -> Runner:
    """Remembers what it is told, about the talk and about who talks."""

    @declares(capabilities={"steering": True})
    async def keeper(ctx: Any):
        text = ctx.input.to_text()
        yield kept("trip.city", {"name": text, "days": 2, "hotels": ["Hana", "Kita"]})
        yield kept("last.said", text)
        yield kept("mood", "calm", "actor")
        yield said(f"I shall remember: {text}")
        yield done()

    return keeper


async def a_week(studio: Studio, engine: Engine) -> None:
    """Some sessions, one of them forked twice, one with words that nobody should obey."""
    await studio.perform(engine, "我想去京都旅行", session="ses_kyoto", runner="keeper")
    studio.wait(7_200)
    await studio.perform(engine, "Is the museum of gold open on Mondays?", session="ses_gold", runner="keeper")
    await studio.perform(engine, "And is it cheap?", session="ses_gold", runner="keeper")
    studio.wait(600)
    fork = await engine.fork_session("ses_gold", title="The museum, on Tuesdays")
    studio.wait(60)
    await engine.fork_session(fork.session_id, title="The museum, at night")
    studio.wait(86_400)
    await studio.perform(engine, HOSTILE, session="ses_hostile", runner="keeper")
    studio.wait(300)


browsing = scene.with_(keeper, prepare=a_week)


async def in_sessions(studio: Studio) -> None:
    await studio.press("ctrl+l")
    await studio.until("Sessions")
    await studio.until("museum")
    await studio.settled()


def _has_found(studio: Studio, query: str) -> bool:
    """All that was typed has been looked for, and is shown."""
    screen = studio.app.screen
    assert isinstance(screen, Sessions)
    return screen.found is not None and screen.found.query == query and not screen.reading


@browsing(sizes=(*BOTH, TINY))
async def sessions(studio: Studio) -> None:
    """All there are, forks under their parents."""
    await in_sessions(studio)
    await studio.press("down")


@browsing()
async def sessions_found(studio: Studio) -> None:
    """What a search has found in titles and lines."""
    await in_sessions(studio)
    await studio.press("slash", *"museum", "enter")
    await studio.until(lambda: _has_found(studio, "museum"))
    await studio.settled()
    await studio.press("down", "down", "down", "down", "down")


@browsing()
async def sessions_not_found(studio: Studio) -> None:
    await in_sessions(studio)
    await studio.press("slash", *"xylophone")
    await studio.until("Nothing was found")


@browsing()
async def sessions_details(studio: Studio) -> None:
    """All that is told of one: beside the list, or in its place."""
    await in_sessions(studio)
    await studio.press("down", "tab")
    await studio.until("And is it cheap?")
    await studio.settled()
    await studio.press("down")


@browsing()
async def sessions_deleted(studio: Studio) -> None:
    """One was deleted a moment ago; those that came of it stand for themselves."""
    await in_sessions(studio)
    await studio.press("down", "d")
    await studio.until("u undo")


@browsing()
async def sessions_renamed(studio: Studio) -> None:
    """While a title is asked for."""
    await in_sessions(studio)
    await studio.press("down", "r")


async def in_states(studio: Studio) -> None:
    await studio.app.action_perform("app.states")
    await studio.until("State")
    await studio.until("mood")
    await studio.settled()


@browsing(sizes=(*BOTH, TINY))
async def states(studio: Studio) -> None:
    """What runners keep, under whose it is."""
    await in_states(studio)
    await studio.press("G", "up")


async def _look_for_gold(studio: Studio) -> None:
    await studio.press("slash", *"ses_gold", "enter")
    await studio.until("2 keys of all runners")
    await studio.settled()


@browsing()
async def state_details(studio: Studio) -> None:
    """A value that unfolds: beside the list, or in its place."""
    await in_states(studio)
    await _look_for_gold(studio)
    await studio.press("down", "tab")
    await studio.until("hotels")
    await studio.settled()
    await studio.press("G", "space")


@browsing()
async def state_history(studio: Studio) -> None:
    """What became of a key, and who did it."""
    await in_states(studio)
    await _look_for_gold(studio)
    await studio.press("down", "h")
    await studio.until("history of")


@browsing()
async def state_not_json(studio: Studio) -> None:
    """What was typed is wrong, and stays."""
    await in_states(studio)
    await studio.press("enter")
    await studio.until("f4 saves")
    await studio.press("end", ",", "f4")
    await studio.until("not JSON")


@browsing()
async def state_moved(studio: Studio) -> None:
    """Someone else wrote it meanwhile: nothing is overwritten unasked."""
    await in_states(studio)
    await _look_for_gold(studio)
    await studio.press("enter")
    await studio.until("f4 saves")
    engine = studio.app.stage.engine
    row = (await engine.states(text="ses_gold"))[0]
    await engine.set_state(row.identity, row.key, "Is it open at night?")
    await studio.press("end", "left", "!", "f4")
    await studio.until("f4 again")


@scene(keeper)
async def states_empty(studio: Studio) -> None:
    await studio.app.action_perform("app.states")
    await studio.until("Nothing is kept yet")
