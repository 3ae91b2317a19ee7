"""Scenes of looking: back in time, into an entry, and at what there is to do."""

from engine.api import Engine
from tests.console.pictures.course import guided, running
from tests.console.pictures.endings import completed, in_a_child, runner_lost
from tests.console.pictures.runners import HOSTILE, greeter, rogue
from tests.console.pictures.scene import BOTH, NARROW, TINY, scene
from tests.console.pictures.studio import Studio


@guided()
async def past_run(studio: Studio) -> None:
    """Opened from the list, with its own conversation."""
    await studio.go_to("rail")
    await studio.press("down", "down", "enter")
    await studio.until("Is it open on Mondays?")


@guided()
async def as_of(studio: Studio) -> None:
    """The cursor is in the stream, and the state is that of then."""
    await completed(studio)
    await to_entry(studio, "state.updated")
    await tab(studio, "state")


@guided(sizes=(NARROW,))
async def as_of_in_stream(studio: Studio) -> None:
    await completed(studio)
    await to_entry(studio, "state.updated")


@guided()
async def event_tab(studio: Studio) -> None:
    await completed(studio)
    await to_entry(studio, "tool.call.started")
    await studio.press("enter")


@guided()
async def state_tab(studio: Studio) -> None:
    await completed(studio)
    await tab(studio, "state")


@guided()
async def transcript_tab(studio: Studio) -> None:
    await completed(studio)
    await tab(studio, "transcript")


@guided()
async def context_tab(studio: Studio) -> None:
    await completed(studio)
    await tab(studio, "context")


@guided()
async def calls_tab(studio: Studio) -> None:
    await completed(studio)
    await tab(studio, "calls")


@guided()
async def receipts_tab(studio: Studio) -> None:
    await completed(studio)
    await tab(studio, "receipts")


@scene(engine=in_a_child)
async def output_tab(studio: Studio) -> None:
    await runner_lost(studio)
    await tab(studio, "output")


@guided()
async def filtered(studio: Studio) -> None:
    await completed(studio)
    await studio.go_to("stream")
    await studio.press("slash", *"kind:tool.*", "enter")


@guided()
async def palette(studio: Studio) -> None:
    await running(studio)
    await studio.press("ctrl+p")
    await studio.until("artifact: Browse")


@guided(sizes=(*BOTH, TINY))
async def help_in_prompt(studio: Studio) -> None:
    await running(studio)
    await studio.press("f1")


@guided()
async def help_in_stream(studio: Studio) -> None:
    await running(studio)
    await studio.go_to("stream")
    await studio.press("f1")


# What a runner says is only ever text


async def renamed(studio: Studio, engine: Engine) -> None:
    await studio.perform(engine, HOSTILE, session="ses_hostile", runner="greeter")
    await engine.rename_session("ses_hostile", HOSTILE)


hostile = scene.with_(rogue, greeter, prepare=renamed)


@hostile()
async def hostile_chat(studio: Studio) -> None:
    await studio.say(HOSTILE)
    await studio.at_cue()
    await studio.say(HOSTILE)
    await studio.settled()
    studio.cue.go()
    await studio.over()


@hostile(sizes=(NARROW,))
async def hostile_stream(studio: Studio) -> None:
    await hostile_chat(studio)
    await studio.go_to("stream")


@hostile(sizes=(NARROW,))
async def hostile_runs(studio: Studio) -> None:
    await hostile_chat(studio)
    await studio.go_to("rail")


@hostile()
async def hostile_state(studio: Studio) -> None:
    await hostile_chat(studio)
    await tab(studio, "state")


# How one gets there


async def to_entry(studio: Studio, kind: str) -> None:
    """Up in the stream, to the last row of a kind."""
    await studio.go_to("stream")
    stream = studio.app.main.stream
    for _ in range(40):
        await studio.press("k")
        if stream._kind == kind:
            return
    raise AssertionError(f"no row of {kind}")


async def tab(studio: Studio, name: str) -> None:
    await studio.go_to("inspector")
    place = [*studio.app.main.inspector._order].index(name) + 1
    await studio.press(str(place))
