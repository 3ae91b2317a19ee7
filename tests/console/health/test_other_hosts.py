"""Two processes on one database: each shows the runs of the other, and closes them if the other dies."""

import asyncio
from pathlib import Path

from console.app import Trackside
from console.launch import LaunchOptions
from tests.support.console.pilot import at_the_screen, say, sees, shown, until
from tests.support.engines import Engines, waits
from tests.support.faults.faults import other_process, read_line

HOST_SCRIPT = Path(__file__).parents[2] / "support" / "dying_host.py"


async def test_run_of_another_process_is_shown_live_and_as_lost_if_its_host_dies(tmp_path: Path, open_engine: Engines):
    app = Trackside(LaunchOptions(session="s"), lambda: open_engine(waits))
    async with at_the_screen(app) as pilot:
        with other_process(HOST_SCRIPT, tmp_path) as other:
            await asyncio.to_thread(read_line, other)
            await sees(pilot, "one", "running", f"also open in process {other.pid}")
            await sees(pilot, "in another process", "after ▸ sent when the run in another process ends")
            for key, words in (("f6", "Control it there."), ("ctrl+t", "The run is in another process.")):
                await pilot.press(key)
                await sees(pilot, words)

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
