"""The stream in the whole app: a runner that writes state, and what the panes show of it."""

from typing import Any

from textual.pilot import Pilot

from console.app import Trackside
from tests.support.console.pilot import Cue, go_to, say, sees, shown
from tests.support.engines import done, said, state_updated


def traveller(cue: Cue) -> Any:
    """A runner that writes more state in each turn."""

    async def travels(ctx: Any):
        for call_id, city, hotels in (
            ("c_1", "Kyoto", []),
            ("c_2", "Kyoto", ["Ryokan"]),
            ("c_3", "Lisbon", ["Ryokan"]),
        ):
            call = {"tool_call_id": call_id, "tool_name": "look"}
            yield {"type": "tool.call.started", "data": {**call, "parameters": {}}}
            yield state_updated("trip", {"city": city, "hotels": hotels})
            yield {"type": "tool.call.completed", "data": {**call, "result": "rain"}}
        yield said("Three times rain.")
        await cue.wait()
        yield done()

    return travels


async def run_almost_done(pilot: Pilot[None], app: Trackside) -> None:
    """Let the run get close to its end, and focus the stream."""
    await say(pilot, "go")
    await sees(pilot, "Three times rain.")
    await go_to(pilot, app, "stream")


async def positions_of(app: Trackside, kind: str) -> list[int]:
    """The positions of all entries of a kind of the shown run."""
    view = app.services.updater.view
    assert view is not None
    return [entry.position async for entry in app.active_session.engine.runs.entries(view.run_id) if entry.type == kind]


def inspected(app: Trackside) -> str:
    """The text of the inspector."""
    region = app.main.inspector.region
    lines = shown(app).splitlines()[region.y : region.bottom]
    return "\n".join(line[region.x : region.right] for line in lines)
