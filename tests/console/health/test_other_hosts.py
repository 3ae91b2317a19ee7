"""Two processes on one database: each shows and steers the runs of the other, and closes them if the other dies."""

import asyncio
from pathlib import Path

from console.app import Trackside
from console.launch import LaunchOptions
from engine.api import QueueItem
from tests.support.console.pilot import Cue, at_the_screen, becomes, listener, say, sees, shown, until, waiting
from tests.support.engines import Engines, message, send, wait_for_entry, wait_for_run, waits
from tests.support.faults.faults import other_process, read_line

HOST_SCRIPT = Path(__file__).parents[2] / "support" / "dying_host.py"


async def test_run_of_another_process_is_shown_live_and_as_lost_if_its_host_dies(tmp_path: Path, open_engine: Engines):
    app = Trackside(LaunchOptions(session="s"), lambda: open_engine(waits))
    async with at_the_screen(app) as pilot:
        with other_process(HOST_SCRIPT, tmp_path) as other:
            await asyncio.to_thread(read_line, other)
            await sees(pilot, "one", "running", f"also open in process {other.pid}")
            await sees(pilot, "in another process", "after ▸")
            await pilot.press("f6")
            await sees(pilot, "Pause, step and continue it there.")

            await say(pilot, "after that")
            await sees(pilot, "2 queued")
            await pilot.press("ctrl+q")
            # The other queued message belongs to the other process.
            await sees(pilot, "1 queued message will not be delivered")
            await pilot.press("escape")
            other.kill()
            await asyncio.to_thread(other.wait)
        await sees(pilot, "the process that hosted the run was lost")
        await until(pilot, lambda: app.services.situation.is_running)
        assert "after that" in shown(app)
        await until(pilot, lambda: "also open" not in shown(app))


async def test_run_of_another_process_is_recognised_at_start(tmp_path: Path, open_engine: Engines):
    with other_process(HOST_SCRIPT, tmp_path) as other:
        await asyncio.to_thread(read_line, other)
        app = Trackside(LaunchOptions(session="s"), lambda: open_engine(waits))
        async with at_the_screen(app, (80, 24)) as pilot:
            await sees(pilot, "one", "in another process")
            assert app.services.situation.is_elsewhere
            other.kill()
            await asyncio.to_thread(other.wait)
            await until(pilot, lambda: not app.services.situation.is_elsewhere)
            assert not app.services.situation.is_running


async def test_run_of_another_host_is_steered_edited_and_stopped_from_the_console(open_engine: Engines):
    cue, heard = Cue(), list[str]()
    owner = await open_engine(listener(cue, heard))
    run_id = await send(owner, message("hello", session="trip"))
    await wait_for_entry(owner, run_id, "message.completed")
    app = Trackside(LaunchOptions(session="trip"), open_engine)

    async def queued() -> list[QueueItem]:
        return await owner.queue.list("trip")

    async with at_the_screen(app) as pilot:
        await sees(pilot, "in another process", "steer ▸ delivered at the next steering point")
        for text in ("one", "two", "three"):
            await say(pilot, text)
        await becomes(pilot, lambda: waiting(app), [(text, "steer", "queued") for text in ("one", "two", "three")])
        assert {item.host for item in await queued()} == {owner.host_id}
        await until(pilot, lambda: len(app.main.queue.items) == 3)

        await pilot.press("up", "k", "enter")
        await say(pilot, " and a half")
        await becomes(
            pilot, lambda: waiting(app), [(text, "steer", "queued") for text in ("one", "two and a half", "three")]
        )
        await pilot.press("up", "d")
        await becomes(pilot, lambda: waiting(app), [(text, "steer", "queued") for text in ("one", "two and a half")])
        cue.go()
        await until(pilot, lambda: heard == ["one", "two and a half"])
        await sees(pilot, "Then you said: two and a half")

        await pilot.press("escape")
        await say(pilot, "too late for this")
        await becomes(pilot, lambda: waiting(app), [("too late for this", "steer", "queued")])
        await pilot.press("f8")
        await sees(pilot, "stopped by you", "1 message was not delivered.")
        assert (await wait_for_run(owner, run_id)).row.status == "cancelled"


async def test_message_waits_here_if_the_host_of_the_run_is_gone(open_engine: Engines):
    cue = Cue()
    owner = await open_engine(listener(cue))
    run_id = await send(owner, message("hello", session="trip"))
    await wait_for_entry(owner, run_id, "message.completed")
    app = Trackside(LaunchOptions(session="trip"), open_engine)
    async with at_the_screen(app) as pilot:
        await sees(pilot, "in another process")
        host = owner._core.host
        assert host is not None
        host._lock.release()  # as if its process had been killed
        await say(pilot, "anybody there?")

        await until(pilot, lambda: app.services.situation.is_running)  # the run was closed, and the message is a run
        await sees(pilot, "You said: anybody there?", "the process that hosted the run was lost")
