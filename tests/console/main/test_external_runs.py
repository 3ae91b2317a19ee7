"""An external run on the screen: it can be stopped, and the screen says why it cannot be paused or steered."""

from console.app import Trackside
from console.launch import LaunchOptions
from tests.support.console.pilot import at_both_sizes, at_the_screen, say, sees, shown, until
from tests.support.console.sample_runs import echoes
from tests.support.engines import Engines, done, message, said

Size = tuple[int, int]


@at_both_sizes
async def test_an_external_run_can_be_stopped_but_not_paused_or_steered(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(session="demo"), lambda: open_engine(echoes))
    async with at_the_screen(app, size) as pilot:
        engine = app.active_session.engine
        run = await engine.runs.create(message("from afar", "demo"))
        await engine.runs.append_result(run.run_id, said("Recorded."))
        await sees(pilot, "Recorded.", "executed elsewhere", "after ▸")

        for key in ("f6", "f7"):
            await pilot.press(key)
            await sees(
                pilot,
                "The run is executed elsewhere and only recorded here. It can be stopped, but not paused or steered.",
            )
        await say(pilot, "next")
        await until(pilot, lambda: len(app.main.queue.items) == 1)
        assert "You said: next" not in shown(app)
        await engine.runs.append_result(run.run_id, done())
        await engine.runs.finalize(run.run_id)
        await sees(pilot, "You said: next")

        run = await engine.runs.create(message("once more", "demo"))
        await until(pilot, lambda: app.services.situation.is_external)
        await pilot.press("f8")
        await until(pilot, lambda: not app.services.situation.is_running)
        assert (await engine.runs.get(run.run_id)).status == "cancelled"
