"""Scenes of what takes a moment, and of what is said meanwhile."""

from console.opening import Opening
from console.screens.farewell import Farewell
from tests.console.pictures.course import guided, running
from tests.console.pictures.scene import BOTH, TINY
from tests.console.pictures.studio import Studio

LOCKED = "Leaving: waiting for the database…\n/data/facts.db is locked by another process. Wait for it or end it."


@guided(sizes=(*BOTH, TINY))
async def stopping(studio: Studio) -> None:
    """A runner that does not listen was asked to stop."""
    await running(studio)
    view = studio.app.hearing.view
    assert view is not None
    studio.app.hearing.ask_to_stop(view.run_id, studio.clock.now())
    studio.wait(0.6)


@guided()
async def sending(studio: Studio) -> None:
    """What was said cannot be written yet."""
    await running(studio)
    studio.app.sending.append("use Fahrenheit")
    await studio.until("sending…")


@guided()
async def leaving_waits(studio: Studio) -> None:
    await running(studio)
    studio.app.push_screen(Farewell(lambda: LOCKED))
    await studio.until("leaves now")


@guided(opening=Opening(session="ses_mornign"))
async def session_mistyped(studio: Studio) -> None:
    """A name that nothing has yet, and one that is near."""
    await studio.until("Did you mean")


@guided()
async def no_such_entry(studio: Studio) -> None:
    """A number was typed that no entry has."""
    await running(studio)
    await studio.go_to("stream")
    await studio.press("colon", *"9999", "enter")
    await studio.until("the entries are")


@guided()
async def cursor_hidden_by_a_filter(studio: Studio) -> None:
    """The cursor is on the nearest row that is shown, and everything is as of that."""
    await running(studio)
    await studio.go_to("stream")
    await studio.press("k", "k", "slash", *"kind:run.*", "enter")
    await studio.until("is hidden")
