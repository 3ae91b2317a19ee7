"""Scenes of how a run can end, and of runs that are not this console's."""

import os
import signal

from console.opening import Opening
from engine.api import Engine
from engine.runtimes.pool import ChildPool
from tests.console.pictures.course import MAY, earlier, guided
from tests.console.pictures.runners import DYING, TOOLS, breaker, greeter, guide, silent, sleeper
from tests.console.pictures.scene import scene
from tests.console.pictures.studio import Studio

HOTELS = "Find me a hostel with a kitchen"
ELSEWHERE = "ses_elsewhere"


@guided()
async def completed(studio: Studio) -> None:
    """After three turns, one message taken in."""
    await studio.say("Plan a day in Kyoto")
    await studio.at_cue()
    await studio.say("use Fahrenheit")
    studio.wait(1.4)
    await studio.go_on()
    await studio.go_on()
    studio.cue.go()
    await studio.over()


@scene(breaker)
async def failed(studio: Studio) -> None:
    """Its code raised."""
    await studio.say(HOTELS)
    await studio.at_cue()
    studio.cue.go()
    await studio.over()


@scene(sleeper)
async def cancelled(studio: Studio) -> None:
    """Stopped by the person."""
    await studio.say(HOTELS)
    await studio.at_cue()
    await studio.press("f8")
    await studio.over()


@scene(sleeper)
async def dropped(studio: Studio) -> None:
    """Stopped with a message that it had not taken in yet."""
    await studio.say(HOTELS)
    await studio.at_cue()
    await studio.say("and a bath, please")
    studio.wait(4)
    await studio.press("f8")
    await studio.over()


@scene(sleeper, agent={"config": {"timeout": 30}})
async def timeout(studio: Studio) -> None:
    """It took longer than it may."""
    await studio.say(HOTELS)
    await studio.at_cue()
    view = studio.app.hearing.view
    assert view is not None
    assert view.status.began_at is not None
    studio.wait(30 - (studio.clock.now() - view.status.began_at) / 1_000_000)
    await studio.over()


@scene(silent)
async def completed_without_output(studio: Studio) -> None:
    await studio.say("Count me in")
    await studio.over()


async def in_a_child(studio: Studio) -> Engine:
    """The console's engine, with a runner that can be killed."""
    (studio.engines.folder / "cartographer.py").write_text(DYING)
    (studio.engines.folder / "trackside.yaml").write_text("runners: [cartographer.py]")
    return await Engine.open(
        studio.engines.folder,
        db=studio.engines.db,
        runtime=ChildPool(),
        clock=studio.clock,
        ids=studio.engines.ids,
    )


@scene(engine=in_a_child)
async def runner_lost(studio: Studio) -> None:
    """Its process was killed."""
    folder = studio.engines.folder
    await studio.say("Show me the way")
    # What it prints and what it says come by different ways, so that each has to wait for the one before.
    for count in (2, 3):
        await studio.until(lambda count=count: studio.entries == count)
        (folder / f"go_{count}").touch()
    await studio.until(lambda: studio.entries == 5)
    studio.wait(12)
    os.kill(int((folder / "pid").read_text()), signal.SIGKILL)
    await studio.over()


async def begun_elsewhere(studio: Studio, engine: Engine) -> None:
    """Another host works in the session that the console is opened on."""
    await earlier(studio, engine)
    other = await studio.another()
    await studio.send(other, "Plan a day in Kyoto", session=ELSEWHERE)
    await studio.cue.reached.wait()


@scene(guide, greeter, silent, prepare=begun_elsewhere, agent=MAY, tools=TOOLS, opening=Opening(session=ELSEWHERE))
async def another_process(studio: Studio) -> None:
    """It can be watched, and stopped."""
    studio.wait(2)
    await studio.app.vigil.look()


async def cannot(studio: Studio) -> Engine:
    raise OSError("the database cannot be opened: /data/[b]trackside.db[/b] is read-only")


@scene(engine=cannot)
async def cannot_open(studio: Studio) -> None:
    """The screen lives, and says why nothing else does."""
    await studio.type("still here")
