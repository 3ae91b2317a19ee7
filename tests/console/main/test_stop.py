"""A run that is being stopped says so until it has ended, and how long it took is one time everywhere."""

import asyncio
import re
from contextlib import suppress
from typing import Any

from console.app import Trackside
from console.launch import LaunchOptions
from console.model.run.ribbon import Ribbon
from tests.support.console.pilot import MAX_WAIT_SECONDS, Cue, at_both_sizes, at_the_screen, say, sees, shown, until
from tests.support.console.stream_data import entry
from tests.support.engines import Engines, FakeClock, declares, done, said

Size = tuple[int, int]


def deaf(cue: Cue) -> Any:
    """A runner that does not listen to anyone who wants it stopped; it ends on cue."""

    @declares(capabilities={"steering": True})
    async def does_not_listen(ctx: Any):
        yield said("Here I am.")
        hearing = asyncio.ensure_future(asyncio.wait_for(cue.wait(), MAX_WAIT_SECONDS))
        while not hearing.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({hearing})
        raise asyncio.CancelledError

    return does_not_listen


@at_both_sizes
async def test_stopping_is_told_until_the_run_has_ended(open_engine: Engines, size: Size):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: open_engine(deaf(cue)))
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "Here I am.")
        await pilot.press("f8")
        await sees(pilot, "□ stopping… 0 ms", "f8 stopping…", "after ▸")

        await pilot.press("f8")
        await sees(pilot, "The run is being stopped.")
        await pilot.press("f6")
        await sees(pilot, "The run is being stopped.")

        cue.go()
        await sees(pilot, "■ stopped after 0 ms")
        await until(pilot, lambda: "stopping" not in shown(app))


async def test_what_is_said_meanwhile_is_said_when_the_run_has_ended(open_engine: Engines):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: open_engine(deaf(cue)))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "Here I am.")
        await pilot.press("f8")
        await sees(pilot, "▌□ hello", "after ▸ sent when the run has stopped")
        await say(pilot, "and now?")
        await sees(pilot, "↳ after   and now?")
        cue.go()
        await until(pilot, lambda: shown(app).count("▌ Here I am.") == 2)  # in the conversation
        await sees(pilot, "● running")
        cue.go()


async def test_a_stop_that_could_not_be_written_is_taken_back(open_engine: Engines):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: open_engine(deaf(cue)))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "Here I am.")

        async def cannot(run_id: str) -> Any:
            raise OSError("the disk is gone")

        stop, app.active_session.engine.runs.stop = app.active_session.engine.runs.stop, cannot  # type: ignore[method-assign]
        await pilot.press("f8")
        await sees(pilot, "the disk is gone", "● running", "f8 stop ")

        app.active_session.engine.runs.stop = stop  # type: ignore[method-assign]
        await pilot.press("f8")
        await sees(pilot, "□ stopping…")
        cue.go()
        await sees(pilot, "■ stopped")


def test_the_ribbon_does_not_promise_a_pull_to_come():
    ribbon = Ribbon()
    ribbon.apply([entry(1, "run.started"), entry(2, "cancel.requested")])

    (line,) = ribbon.rows(80, 0, height=1)

    assert "".join(piece.text for piece in line).endswith(" □ stopping")


class Ticking(FakeClock):
    """A millisecond passes whenever someone looks."""

    def now(self) -> int:
        self._now += 1_000
        return self._now


async def test_header_rail_and_conversation_tell_one_time(open_engine: Engines):
    async def speaks(ctx: Any):
        yield said("So be it.")
        yield done()

    open_engine.clock = Ticking()
    app = Trackside(LaunchOptions(), lambda: open_engine(speaks))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await until(pilot, lambda: re.search(r"│ ▌✓ hello +\d+ms", shown(app)) is not None)
        await sees(pilot, "✓ completed · ")

        told = set(re.findall(r"✓ completed (?:· )?(\d+) ms|✓ hello +(\d+)ms", shown(app)))
        assert len({header or rail for header, rail in told}) == 1
