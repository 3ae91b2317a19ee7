"""Scenes of a run that is at work, from the first look to the plan."""

from collections.abc import Mapping
from typing import Any

from console.opening import Opening
from engine.api import Engine
from engine.runtimes.inprocess import InProcessExecution, InProcessRuntime
from engine.runtimes.runtime import Launch
from tests.console.pictures.runners import TOOLS, greeter, guide, silent
from tests.console.pictures.scene import BOTH, MEDIUM, NARROW, TINY, scene
from tests.console.pictures.studio import Cue, Studio

MAY = {"resources": {"allowed_tool_names": ["weather"]}}


async def earlier(studio: Studio, engine: Engine) -> None:
    """Two sessions of this morning."""
    await studio.perform(engine, "Good morning!", session="ses_morning", runner="greeter")
    studio.wait(600)
    await studio.perform(engine, "Is it open on Mondays?", session="ses_morning", runner="greeter")
    studio.wait(1_200)
    await studio.perform(engine, "Count me in", session="ses_count", runner="silent")
    studio.wait(3_600)


guided = scene.with_(guide, greeter, silent, prepare=earlier, agent=MAY, tools=TOOLS)
"""Scenes with the guide, and with a morning behind them."""


async def bundled(studio: Studio) -> Engine:
    """In a folder without a project, with nothing in the database."""
    return await Engine.open(db=studio.engines.db, clock=studio.clock, ids=studio.engines.ids)


@scene(sizes=(*BOTH, TINY), engine=bundled)
async def first_run(studio: Studio) -> None:
    """Nothing is configured and nothing ever ran."""
    await studio.until("Plan a day in Kyoto")


@guided()
async def idle(studio: Studio) -> None:
    """A new session, with others beside it."""


@guided(sizes=(*BOTH, MEDIUM, TINY))
async def running(studio: Studio) -> None:
    """In the second turn, with a tool at work."""
    await studio.say("Plan a day in Kyoto")
    await studio.at_cue()
    await studio.go_on()


@guided(sizes=(NARROW,))
async def running_in_stream(studio: Studio) -> None:
    await running(studio)
    await studio.go_to("stream")


@guided(sizes=(NARROW,))
async def running_in_runs(studio: Studio) -> None:
    await running(studio)
    await studio.go_to("rail")


@guided(opening=Opening(ascii_only=True))
async def running_in_ascii(studio: Studio) -> None:
    await showpiece(studio)


@guided(sizes=(*BOTH, TINY))
async def queued(studio: Studio) -> None:
    """One message for the run at work, one for after it."""
    await studio.say("Plan a day in Kyoto")
    await studio.at_cue()
    await studio.say("use Fahrenheit, and no buses")
    await studio.press("ctrl+t")
    await studio.say("write me a summary")
    studio.wait(9)


class LongWay(InProcessRuntime):
    """Where the answer to a pull is long on its way to the runner."""

    def __init__(self, runners: Mapping[str, Any], cue: Cue) -> None:
        super().__init__(runners)
        self._cue = cue

    async def begin(self, launch: Launch, run_id: str, context: dict[str, Any], sink: Any) -> InProcessExecution:
        ask = sink.call

        async def slowly(action: str, data: dict[str, Any]) -> Any:
            reply = await ask(action, data)
            if action == "steering_pull":
                await self._cue.wait()
            return reply

        sink.call = slowly
        return await super().begin(launch, run_id, context, sink)


async def by_the_long_way(studio: Studio) -> Engine:
    return await studio.engines(*studio.runners, runtime=lambda them: LongWay(them, studio.cue), **studio.project)


@guided(engine=by_the_long_way)
async def pulled(studio: Studio) -> None:
    """The runner has asked, and does not have it yet."""
    await studio.say("Plan a day in Kyoto")
    await studio.at_cue()
    await studio.say("use Fahrenheit")
    studio.wait(2)
    await studio.go_on()
    studio.wait(1.2)


@guided()
async def injected(studio: Studio) -> None:
    """It landed, and the runner has answered it."""
    await studio.say("Plan a day in Kyoto")
    await studio.at_cue()
    await studio.say("use Fahrenheit")
    studio.wait(1.4)
    await studio.go_on()


@guided()
async def held(studio: Studio) -> None:
    """Before a tool call is made."""
    await studio.say("Plan a day in Kyoto")
    await studio.at_cue()
    await studio.hold("tool")
    studio.cue.go()
    await studio.held()
    studio.wait(5)


@guided()
async def held_answer_in_edit(studio: Studio) -> None:
    await held(studio)
    await studio.press("f7")
    await studio.settled()
    await studio.press("f4")
    await studio.until("uses this answer")


@guided()
async def quitting(studio: Studio) -> None:
    """A run is at work."""
    await running(studio)
    await studio.press("ctrl+q")
    await studio.until("Leave?")


@guided(sizes=())
async def showpiece(studio: Studio) -> None:
    """Three turns, one message injected and one queued: what there is to see, in one picture."""
    await injected(studio)
    await studio.go_on()
    await studio.say("prefer places with a kitchen")
    studio.wait(3)
