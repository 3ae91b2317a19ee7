"""What a person sees and does when a run fails, a runner blocks or dies, or a message cannot go in."""

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
TELLS_ITS_PID = """
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
    """A runner that fails on cue before it pulls, and is well when it is told something else."""

    @declares(capabilities={"steering": True})
    async def fails(ctx: Any):
        yield said(f"You said: {ctx.input.to_text()}")
        await cue.wait()
        yield failed("the tool timed out") if ctx.input.to_text() == "hello" else done()

    return fails


@at_both_sizes
async def test_what_was_dropped_is_sent_again_with_enter_and_lands(open_engine: Engines, size: Size):
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


# A runner that blocks, or dies


@pytest.fixture
def app(tmp_path: Path) -> Trackside:
    """The console on a runner in a child of its own that says which process it is."""
    (tmp_path / "trackside.yaml").write_text("")
    (tmp_path / "teller.py").write_text(TELLS_ITS_PID)
    return Trackside(LaunchOptions(target=tmp_path / "teller.py", db=tmp_path / "facts.db"))


async def pid_of(pilot: Pilot[None], app: Trackside, text: str) -> int:
    """Send this, and read from the screen which process answers."""
    before = {words for words in shown(app).split() if words.endswith(".")}
    await say(pilot, text)

    def told() -> list[int]:
        after = [words for words in shown(app).split() if words.endswith(".") and words not in before]
        return [int(words[:-1]) for words in after if words[:-1].isdecimal()]

    await until(pilot, lambda: bool(told()))
    return told()[0]


def lives(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


async def the_last(app: Trackside) -> RunRow:
    return (await app.active_session.engine.runs.list(limit=1))[0]


@at_both_sizes
@pytest.mark.parametrize("keys", [("escape", "escape"), ("f8",)], ids=["esc esc", "f8"])
async def test_a_runner_that_blocks_is_stopped_and_what_it_was_not_told_comes_back(
    app: Trackside, size: Size, keys: tuple[str, ...]
):
    async with at_the_screen(app, size) as pilot:
        pid = await pid_of(pilot, app, "block")
        await say(pilot, "too late")
        await becomes(pilot, lambda: waiting(app), [("too late", "steer", "queued")])
        await pilot.press(*keys)
        await sees(pilot, "stopped by you", "dropped")
        await until(pilot, lambda: not lives(pid))
        assert (await the_last(app)).status == "cancelled"

        await until(pilot, lambda: [item.fate for item in app.main.queue.items] == ["dropped"])
        await pilot.press("up", "enter", "enter")
        await until(pilot, lambda: app.services.situation.is_running)
        run = await the_last(app)
        assert (run.status, run.metadata["input"]) == ("running", "too late")


@at_both_sizes
async def test_a_killed_runner_is_told_in_words_and_the_next_message_has_a_new_one(app: Trackside, size: Size):
    async with at_the_screen(app, size) as pilot:
        pid = await pid_of(pilot, app, "hello")
        await say(pilot, "never heard")
        await becomes(pilot, lambda: waiting(app), [("never heard", "steer", "queued")])
        os.kill(pid, signal.SIGKILL)
        await sees(pilot, "runner killed (SIGKILL)", "dropped")
        run = await the_last(app)
        assert (run.status, run.status_reason) == ("failed", "runner.lost")
        await until(pilot, lambda: not app.services.situation.is_running)

        other = await pid_of(pilot, app, "and now?")
        assert other != pid
        assert (await the_last(app)).status == "running"


async def test_a_runner_that_leaves_by_itself_is_told_with_its_code(tmp_path: Path):
    app = Trackside(LaunchOptions(runner="chaos", db=tmp_path / "facts.db"))
    async with at_the_screen(app) as pilot:
        await say(pilot, "exit")
        await sees(pilot, "runner exited (code 3)")
        await say(pilot, "no output")
        await sees(pilot, "completed with no output")


# A message that cannot go in


@at_both_sizes
async def test_where_the_runner_cannot_be_steered_the_reason_is_said_and_the_message_waits(
    open_engine: Engines, size: Size
):
    cue = Cue()

    async def deaf(ctx: Any):
        yield said(f"You said: {ctx.input.to_text()}")
        await cue.wait()
        yield done()

    app = Trackside(LaunchOptions(), lambda: open_engine(deaf))
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


async def test_where_the_queue_is_full_the_reason_is_said_and_the_message_waits(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        engine, session = app.active_session.engine, app.active_session.session_id
        for number in range(100):
            await engine.runs.submit(message(f"evt {number}", f"wish {number}", conversation_id=session))
        await say(pilot, "one too many")
        await sees(pilot, "Queued until the run ends: 100 messages are queued for the run already")
        *others, last = await waiting(app)
        assert {mode for _, mode, _ in others} == {"steer"}
        assert last[0] == "one too many"
        assert last[1] != "steer"
