"""A run that is being stopped is marked until it has ended, and its duration is the same everywhere."""

import re
from typing import Any

from console.app import Trackside
from console.launch import LaunchOptions
from console.model.run.ribbon import Ribbon
from tests.support.console.pilot import Cue, at_both_sizes, at_the_screen, say, sees, shown, until
from tests.support.console.regions import text_in
from tests.support.console.sample_runs import unstoppable
from tests.support.console.stream_data import entry
from tests.support.engines import Engines, FakeClock, done, said

Size = tuple[int, int]


@at_both_sizes
async def test_stopping_is_shown_until_the_run_has_ended(open_engine: Engines, size: Size):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: open_engine(unstoppable(cue)))
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


async def test_message_sent_during_a_stop_starts_a_run_afterwards(open_engine: Engines):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: open_engine(unstoppable(cue)))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "Here I am.")
        await pilot.press("f8")
        await sees(pilot, "▌□ hello", "after ▸ sent when the run has stopped")
        await say(pilot, "and now?")
        await sees(pilot, "↳ after   and now?")
        cue.go()
        await until(pilot, lambda: text_in(app, app.main.conversation).count("Here I am.") == 2)
        await sees(pilot, "● running")
        cue.go()


async def test_run_is_shown_as_running_again_if_the_stop_fails(open_engine: Engines):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: open_engine(unstoppable(cue)))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "Here I am.")

        async def fail(run_id: str) -> Any:
            raise OSError("the disk is gone")

        stop, app.active_session.engine.runs.stop = app.active_session.engine.runs.stop, fail  # type: ignore[method-assign]
        await pilot.press("f8")
        await sees(pilot, "The disk is gone", "● running", "f8 stop ")

        app.active_session.engine.runs.stop = stop  # type: ignore[method-assign]
        await pilot.press("f8")
        await sees(pilot, "□ stopping…")
        cue.go()
        await sees(pilot, "■ stopped")


def test_ribbon_of_a_stopping_run_shows_no_next_pull():
    ribbon = Ribbon()
    ribbon.apply([entry(1, "run.started"), entry(2, "cancel.requested")])

    (line,) = ribbon.rows(80, 0, height=1)

    assert "".join(piece.text for piece in line).endswith(" □ stopping")


class TickingClock(FakeClock):
    """A clock that advances by a millisecond each time it is read."""

    def now(self) -> int:
        self._now += 1_000
        return self._now


async def test_header_runs_list_and_conversation_show_the_same_duration(open_engine: Engines):
    async def completes(ctx: Any):
        yield said("Done.")
        yield done()

    open_engine.clock = TickingClock()
    app = Trackside(LaunchOptions(), lambda: open_engine(completes))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await until(pilot, lambda: re.search(r"│ ▌✓ hello +\d+ms", shown(app)) is not None)
        await sees(pilot, "✓ completed · ")

        durations = set(re.findall(r"✓ completed (?:· )?(\d+) ms|✓ hello +(\d+)ms", shown(app)))
        assert len({header or rail for header, rail in durations}) == 1
