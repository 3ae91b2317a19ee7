"""Scenes of past runs, the inspector's tabs, the palette and help, and of hostile text."""

from engine.api import Engine
from tests.console.pictures.run_end_scenes import completed, in_a_child, runner_lost
from tests.console.pictures.run_scenes import guided, running
from tests.console.pictures.scene import BOTH, NARROW, TINY, scene
from tests.console.pictures.scene_runners import HOSTILE, greeter, rogue
from tests.support.console.scene_driver import SceneDriver


@guided()
async def past_run(driver: SceneDriver) -> None:
    """A past run opened from the list, with its conversation."""
    await driver.focus_pane("rail")
    await driver.press("down", "down", "enter")
    await driver.wait_until("You said: Is it open on Mondays?")


@guided()
async def as_of(driver: SceneDriver) -> None:
    """The cursor is in the stream, and the state tab shows the state as of that entry."""
    await completed(driver)
    await to_entry(driver, "state.updated")
    await tab(driver, "state")


@guided(sizes=(NARROW,))
async def as_of_in_stream(driver: SceneDriver) -> None:
    await completed(driver)
    await to_entry(driver, "state.updated")


@guided()
async def event_tab(driver: SceneDriver) -> None:
    await completed(driver)
    await to_entry(driver, "tool.call.started")
    await driver.press("enter")


@guided()
async def state_tab(driver: SceneDriver) -> None:
    await completed(driver)
    await tab(driver, "state")


@guided()
async def transcript_tab(driver: SceneDriver) -> None:
    await completed(driver)
    await tab(driver, "transcript")


@guided()
async def context_tab(driver: SceneDriver) -> None:
    await completed(driver)
    await tab(driver, "context")


@guided()
async def calls_tab(driver: SceneDriver) -> None:
    await completed(driver)
    await tab(driver, "calls")


@guided()
async def receipts_tab(driver: SceneDriver) -> None:
    await completed(driver)
    await tab(driver, "receipts")


@scene(engine=in_a_child)
async def output_tab(driver: SceneDriver) -> None:
    await runner_lost(driver)
    await tab(driver, "output")


@guided()
async def filtered(driver: SceneDriver) -> None:
    await completed(driver)
    await driver.focus_pane("stream")
    await driver.press("slash", *"kind:tool.*", "enter")


@guided()
async def palette(driver: SceneDriver) -> None:
    await running(driver)
    await driver.press("ctrl+p")
    await driver.wait_until("artifact: Browse")


@guided(sizes=(*BOTH, TINY))
async def help_in_prompt(driver: SceneDriver) -> None:
    await running(driver)
    await driver.press("f1")


@guided()
async def help_in_stream(driver: SceneDriver) -> None:
    await running(driver)
    await driver.focus_pane("stream")
    await driver.press("f1")


# Hostile text is shown as text


async def renamed(driver: SceneDriver, engine: Engine) -> None:
    await driver.run_to_end(engine, HOSTILE, session="ses_hostile", runner="greeter")
    await engine.sessions.rename("ses_hostile", HOSTILE)


hostile = scene.with_defaults(rogue, greeter, prepare=renamed)


@hostile()
async def hostile_chat(driver: SceneDriver) -> None:
    await driver.submit_text(HOSTILE)
    await driver.wait_for_step()
    await driver.submit_text(HOSTILE)
    await driver.wait_until_settled()
    driver.steps.allow_next()
    await driver.wait_for_run_end()


@hostile(sizes=(NARROW,))
async def hostile_stream(driver: SceneDriver) -> None:
    await hostile_chat(driver)
    await driver.focus_pane("stream")


@hostile(sizes=(NARROW,))
async def hostile_runs(driver: SceneDriver) -> None:
    await hostile_chat(driver)
    await driver.focus_pane("rail")


@hostile()
async def hostile_state(driver: SceneDriver) -> None:
    await hostile_chat(driver)
    await tab(driver, "state")


# Steps


async def to_entry(driver: SceneDriver, kind: str) -> None:
    """Move the cursor up the stream to the last row of this kind."""
    await driver.focus_pane("stream")
    stream = driver.app.main.stream
    for _ in range(40):
        await driver.press("k")
        if stream._kind == kind:
            return
    raise AssertionError(f"no row of {kind}")


async def tab(driver: SceneDriver, name: str) -> None:
    await driver.focus_pane("inspector")
    place = [*driver.app.main.inspector._order].index(name) + 1
    await driver.press(str(place))
