"""Scenes of a run in progress."""

from collections.abc import Mapping
from typing import Any

from console.launch import LaunchOptions
from engine.api import Engine
from engine.runtimes.inprocess import InProcessExecution, InProcessRuntime
from engine.runtimes.runtime import Launch, RunnerCall
from tests.console.pictures.scene import BOTH, MEDIUM, NARROW, TINY, scene
from tests.console.pictures.scene_runners import TOOLS, greeter, guide, silent
from tests.support.console.scene_driver import SceneDriver, StepControl

MAY = {"resources": {"allowed_tool_names": ["weather"]}}


async def earlier(driver: SceneDriver, engine: Engine) -> None:
    """Make two earlier sessions."""
    await driver.run_to_end(engine, "Good morning!", session="ses_morning", runner="greeter")
    driver.advance_clock(600)
    await driver.run_to_end(engine, "Is it open on Mondays?", session="ses_morning", runner="greeter")
    driver.advance_clock(1_200)
    await driver.run_to_end(engine, "Count me in", session="ses_count", runner="silent")
    driver.advance_clock(3_600)


guided = scene.with_defaults(guide, greeter, silent, prepare=earlier, agent=MAY, tools=TOOLS)
"""Scenes with the guide runner and two earlier sessions."""


async def bundled(driver: SceneDriver) -> Engine:
    """Open the engine without a project, on an empty database."""
    return await Engine.open(db=driver.engines.db, clock=driver.clock, ids=driver.engines.ids)


@scene(sizes=(*BOTH, TINY), engine=bundled)
async def first_run(driver: SceneDriver) -> None:
    """First start: no configuration and no runs."""
    await driver.wait_until("Plan a day in Kyoto")


@guided()
async def idle(driver: SceneDriver) -> None:
    """A new session, with earlier ones in the list."""


@guided(sizes=(*BOTH, MEDIUM, TINY))
async def running(driver: SceneDriver) -> None:
    """In the second turn, during a tool call."""
    await driver.submit_text("Plan a day in Kyoto")
    await driver.wait_for_step()
    await driver.continue_runner()


@guided(sizes=(NARROW,))
async def running_in_stream(driver: SceneDriver) -> None:
    await running(driver)
    await driver.focus_pane("stream")


@guided(sizes=(NARROW,))
async def running_in_runs(driver: SceneDriver) -> None:
    await running(driver)
    await driver.focus_pane("rail")


@guided(options=LaunchOptions(ascii_only=True))
async def running_in_ascii(driver: SceneDriver) -> None:
    await showpiece(driver)


@guided(sizes=(*BOTH, TINY))
async def queued(driver: SceneDriver) -> None:
    """One message queued for the run in progress, one for after it."""
    await driver.submit_text("Plan a day in Kyoto")
    await driver.wait_for_step()
    await driver.submit_text("use Fahrenheit, and no buses")
    await driver.press("ctrl+t")
    await driver.submit_text("write me a summary")
    driver.advance_clock(9)


class SlowCall:
    """A call whose reply is delayed."""

    def __init__(self, call: RunnerCall, steps: StepControl) -> None:
        self._call = call
        self._steps = steps
        self.cancel, self.close = call.cancel, call.close

    async def answer(self) -> Any:
        reply = await self._call.answer()
        await self._steps.wait()
        return reply


class SlowPullRuntime(InProcessRuntime):
    """Delays the reply to each pull."""

    def __init__(self, runners: Mapping[str, Any], steps: StepControl) -> None:
        super().__init__(runners)
        self._steps = steps

    def start(self, launch: Launch, context: dict[str, Any], sink: Any) -> InProcessExecution:
        request = sink.request

        def request_slowly(action: str, data: dict[str, Any]) -> RunnerCall:
            call = request(action, data)
            return SlowCall(call, self._steps) if action == "steering_pull" else call

        sink.request = request_slowly
        return super().start(launch, context, sink)


async def with_slow_pulls(driver: SceneDriver) -> Engine:
    return await driver.engines(
        *driver.runners, runtime=lambda them: SlowPullRuntime(them, driver.steps), **driver.project
    )


@guided(engine=with_slow_pulls)
async def pulled(driver: SceneDriver) -> None:
    """The runner has pulled, and the reply is still on its way."""
    await driver.submit_text("Plan a day in Kyoto")
    await driver.wait_for_step()
    await driver.submit_text("use Fahrenheit")
    driver.advance_clock(2)
    await driver.continue_runner()
    driver.advance_clock(1.2)


@guided()
async def injected(driver: SceneDriver) -> None:
    """The message was delivered, and the runner has replied to it."""
    await driver.submit_text("Plan a day in Kyoto")
    await driver.wait_for_step()
    await driver.submit_text("use Fahrenheit")
    driver.advance_clock(1.4)
    await driver.continue_runner()


@guided()
async def held(driver: SceneDriver) -> None:
    """Paused before a tool call."""
    await driver.submit_text("Plan a day in Kyoto")
    await driver.wait_for_step()
    await driver.set_breakpoint("tool")
    driver.steps.allow_next()
    await driver.wait_for_pause()
    driver.advance_clock(5)


@guided()
async def held_answer_in_edit(driver: SceneDriver) -> None:
    await held(driver)
    await driver.press("f7")
    await driver.wait_until_settled()
    await driver.press("f4")
    await driver.wait_until("uses this reply")


@guided()
async def quitting(driver: SceneDriver) -> None:
    """Asked to quit during a run."""
    await running(driver)
    await driver.press("ctrl+q")
    await driver.wait_until("Quit?")


@guided(sizes=())
async def showpiece(driver: SceneDriver) -> None:
    """For the README: three turns, one message delivered and one queued."""
    await injected(driver)
    await driver.continue_runner()
    await driver.submit_text("prefer places with a kitchen")
    driver.advance_clock(3)
