"""A run fails, its runner blocks or exits, or a message cannot be delivered."""

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from console.app import Trackside
from console.launch import LaunchOptions
from engine.api import RunRow, message
from tests.support.console.pilot import (
    Cue,
    at_both_sizes,
    at_the_screen,
    becomes,
    listener,
    say,
    sees,
    shown,
    until,
    waiting,
)
from tests.support.engines import Engines, declares, done, failed, said, wait_for_run

Size = tuple[int, int]
PID_RUNNER = """
import asyncio
import os
import time

capabilities = {"steering": True}

def said(text):
    return {"type": "message.completed", "data": {"message": {"role": "assistant", "content": text}}}

async def run(ctx):
    yield said(f"pid {os.getpid()}.")
    if "block" in ctx.input.to_text():
        time.sleep(3600)
    await asyncio.Event().wait()
"""


# A run that fails


def failing(cue: Cue) -> Any:
    """Make a runner that on cue fails without a pull if its input is `hello`, and else completes."""

    @declares(capabilities={"steering": True})
    async def fails(ctx: Any):
        yield said(f"You said: {ctx.input.to_text()}")
        await cue.wait()
        yield failed("the tool timed out") if ctx.input.to_text() == "hello" else done()

    return fails


@at_both_sizes
async def test_dropped_message_can_be_sent_again_with_enter(open_engine: Engines, size: Size):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: open_engine(failing(cue)))
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await say(pilot, "too early")
        await becomes(pilot, lambda: waiting(app), [("too early", "steer", "queued")])
        cue.go()
        await sees(pilot, "✗ failed: the tool timed out", "✕ dropped")
        await until(pilot, lambda: [item.fate for item in app.main.queue.items] == ["dropped"])

        await pilot.press("up", "enter", "enter")
        await sees(pilot, "You said: too early")
        cue.go()
        await sees(pilot, "completed")
        await until(pilot, lambda: not app.main.queue.items)

        again, first = await app.active_session.engine.runs.list()
        (receipt,) = (await app.active_session.engine.queue.receipts(first.run_id)).receipts
        assert (receipt.text, receipt.fate, receipt.reason) == ("too early", "dropped", "failed")
        assert receipt.sent_again_as is not None
        assert (await wait_for_run(app.active_session.engine, again.run_id)).context["input"]["text"] == "too early"


# A runner that blocks or exits


@pytest.fixture
def app(tmp_path: Path) -> Trackside:
    """A console on a runner in a child process that sends its pid."""
    (tmp_path / "trackside.yaml").write_text("")
    (tmp_path / "pid_runner.py").write_text(PID_RUNNER)
    return Trackside(LaunchOptions(target=tmp_path / "pid_runner.py", db=tmp_path / "facts.db"))


async def pid_of(pilot: Pilot[None], app: Trackside, text: str) -> int:
    """Send a message and read the pid of its runner from the screen."""
    before = {word for word in shown(app).split() if word.endswith(".")}
    await say(pilot, text)

    def new_pids() -> list[int]:
        after = [word for word in shown(app).split() if word.endswith(".") and word not in before]
        return [int(word[:-1]) for word in after if word[:-1].isdecimal()]

    await until(pilot, lambda: bool(new_pids()))
    return new_pids()[0]


def is_alive(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


async def last_run(app: Trackside) -> RunRow:
    return (await app.active_session.engine.runs.list(limit=1))[0]


@at_both_sizes
@pytest.mark.parametrize("keys", [("escape", "escape"), ("f8",)], ids=["esc esc", "f8"])
async def test_blocked_runner_is_stopped_and_its_dropped_message_can_be_sent_again(
    app: Trackside, size: Size, keys: tuple[str, ...]
):
    async with at_the_screen(app, size) as pilot:
        pid = await pid_of(pilot, app, "block")
        await say(pilot, "too late")
        await becomes(pilot, lambda: waiting(app), [("too late", "steer", "queued")])
        await pilot.press(*keys)
        await sees(pilot, "stopped by you", "dropped")
        await until(pilot, lambda: not is_alive(pid))
        assert (await last_run(app)).status == "cancelled"

        await until(pilot, lambda: [item.fate for item in app.main.queue.items] == ["dropped"])
        await pilot.press("up", "enter", "enter")
        await until(pilot, lambda: app.services.situation.is_running)
        run = await last_run(app)
        assert (run.status, run.metadata["input"]) == ("running", "too late")


@at_both_sizes
async def test_killed_runner_is_reported_and_the_next_message_starts_a_new_process(app: Trackside, size: Size):
    async with at_the_screen(app, size) as pilot:
        pid = await pid_of(pilot, app, "hello")
        await say(pilot, "never heard")
        await becomes(pilot, lambda: waiting(app), [("never heard", "steer", "queued")])
        os.kill(pid, signal.SIGKILL)
        await sees(pilot, "runner killed (SIGKILL)", "dropped")
        run = await last_run(app)
        assert (run.status, run.status_reason) == ("failed", "runner.lost")
        await until(pilot, lambda: not app.services.situation.is_running)

        other = await pid_of(pilot, app, "and now?")
        assert other != pid
        assert (await last_run(app)).status == "running"


async def test_runner_that_exits_is_reported_with_its_exit_code(tmp_path: Path):
    app = Trackside(LaunchOptions(runner="chaos", db=tmp_path / "facts.db"))
    async with at_the_screen(app) as pilot:
        await say(pilot, "exit")
        await sees(pilot, "runner exited (code 3)")
        await say(pilot, "no output")
        await sees(pilot, "completed with no output")


# A message that cannot be delivered


@at_both_sizes
async def test_message_to_a_runner_without_steering_is_queued_with_the_reason(open_engine: Engines, size: Size):
    cue = Cue()

    async def without_steering(ctx: Any):
        yield said(f"You said: {ctx.input.to_text()}")
        await cue.wait()
        yield done()

    app = Trackside(LaunchOptions(), lambda: open_engine(without_steering))
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello", "after ▸ steering is not in the manifest's capabilities")
        await say(pilot, "and then")
        await until(pilot, lambda: bool(app.main.queue.items))
        ((text, mode, fate),) = await waiting(app)
        assert (text, fate) == ("and then", "queued")
        assert mode != "steer"

        await pilot.press("up", "t")
        await sees(pilot, "The run cannot take this message: steering is not in the manifest's capabilities")
        cue.go()
        await sees(pilot, "You said: and then")
        assert len(await app.active_session.engine.runs.list()) == 2


async def test_message_is_queued_until_the_run_ends_if_its_queue_is_full(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        engine, session = app.active_session.engine, app.active_session.session_id
        for number in range(100):
            await engine.runs.submit(message(f"evt {number}", f"message {number}", conversation_id=session))
        await say(pilot, "one too many")
        await sees(pilot, "Queued until the run ends: 100 messages are queued for the run already")
        *others, last = await waiting(app)
        assert {mode for _, mode, _ in others} == {"steer"}
        assert last[0] == "one too many"
        assert last[1] != "steer"
