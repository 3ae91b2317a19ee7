"""An app with only an inspector, and a database with runs of real runners."""

import asyncio
from pathlib import Path
from typing import Any

from textual.app import ComposeResult
from textual.message import Message
from textual.pilot import Pilot

from console.data.inspector_loader import InspectorLoader
from console.model.inspector.data import Unknown
from console.ui.inspector.pane import Inspector
from console.ui.shared.list import RowList
from engine.api import Engine, RunOptions, message
from tests.support.console.single_pane_app import SinglePaneApp
from tests.support.engines import wait_for_entry
from tests.support.limits import MAX_WAIT_SECONDS
from tests.support.older_record import make_record_older

SESSION = "ses_look"
NOISY = """
import sys

capabilities = {"steering": True}

async def run(ctx):
    print("out: \\x1b[31mred\\x1b[0m [/x] [b]bold")
    print("err: \\u202ebackwards", file=sys.stderr)
    trip = {"city": "Kyoto", "hotels": [{"id": 3, "price": 40}]}
    yield {"type": "state.updated", "data": {"scope": "conversation", "key": "trip", "value": trip}}
    trip["hotels"] = [{"id": 3, "price": 45}, {"id": 9}]
    yield {"type": "state.updated", "data": {"scope": "conversation", "key": "trip", "value": trip}}
    yield {"type": "state.updated", "data": {"scope": "runner", "key": "mine", "value": 1}}
    given = {"ids": [3, 9], "currency": "EUR"}
    call = {"tool_call_id": "c_09", "tool_name": "price_check", "parameters": given}
    yield {"type": "tool.call.started", "data": call, "usage": {"total_tokens": 9, "cached_tokens": 4}}
    raise ValueError("the hotel is [/full]")
"""


class RecordedRuns:
    """A database with a steered rehearsal, a run of the prober, and a run of a runner that prints and fails.

    The last one looks as if an older Trackside had recorded it.
    """

    def __init__(self, folder: Path) -> None:
        self.db = folder / "facts.db"
        self.folder = folder
        (folder / "trackside.yaml").write_text("")
        (folder / "noisy.py").write_text(NOISY)
        self.rehearsal, self.prober, self.noisy = asyncio.run(self._record())
        make_record_older(self.db, self.noisy)

    async def _record(self) -> tuple[str, str, str]:
        async with await Engine.open(self.folder, db=self.db) as engine:
            rehearsal = RunOptions(runner="rehearsal", config={"pace": 0})
            ticket = await engine.runs.submit(message("evt_1", "Kyoto", conversation_id=SESSION), rehearsal)
            run_id = await ticket.started
            await engine.breakpoints.set(run_id, "steering", once=True)
            await wait_for_entry(engine, run_id, "pause.started")
            await engine.runs.submit(message("evt_2", "use Fahrenheit", conversation_id=SESSION), rehearsal)
            await engine.runs.continue_run(run_id)
            await engine.runs.wait_for_end(run_id)
            runs = [run_id]
            for number, runner in enumerate(("prober", "noisy"), 3):
                ticket = await engine.runs.submit(
                    message(f"evt_{number}", "Berlin", conversation_id=SESSION), RunOptions(runner=runner)
                )
                runs.append((await engine.runs.wait_for_end(await ticket.started)).run_id)
        return runs[0], runs[1], runs[2]


class InspectorApp(SinglePaneApp):
    """Replies to the inspector as the console does, and records its messages."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, engine: Engine | None = None, css: str = "") -> None:
        super().__init__()
        self.stylesheet.add_source(css or "Screen { }", read_from=("inspector", ""))
        self.inspector = Inspector()
        self.loader = None if engine is None else InspectorLoader(engine)
        self.messages: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.inspector

    def on_mount(self) -> None:
        self.sheet.focus()

    @property
    def sheet(self) -> RowList:
        return self.inspector.query_one(RowList)

    async def on_inspector_need(self, event: Inspector.Need) -> None:
        self.messages.append(event)
        if self.loader is not None:
            facts = await self.loader.load_tab(event.tab, event.run_id, event.position, event.only)
            self.inspector.show(event.tab, facts, event.number)

    async def on_inspector_need_call(self, event: Inspector.NeedCall) -> None:
        self.messages.append(event)
        if self.loader is not None:
            self.inspector.show_call(await self.loader.load_call(event.run_id, event.call))

    def on_inspector_copy(self, event: Inspector.Copy) -> None:
        self.messages.append(event)

    def on_inspector_jump(self, event: Inspector.Jump) -> None:
        self.messages.append(event)

    def posted(self, kind: type[Any]) -> list[Any]:
        return [each for each in self.messages if isinstance(each, kind)]

    async def asked(self, pilot: Pilot[None], count: int) -> None:
        """Wait until the inspector has asked this many times in total."""
        async with asyncio.timeout(MAX_WAIT_SECONDS):
            while len(self.posted(Inspector.Need)) < count:
                await pilot.pause(0.01)

    async def answered(self, pilot: Pilot[None], count: int) -> None:
        """Wait like `asked`, and reply to the last question."""
        await self.asked(pilot, count)
        need = self.posted(Inspector.Need)[-1]
        self.inspector.show(need.tab, Unknown(run_id=need.run_id, position=need.position, words="no"), need.number)

    async def wait_until_postponed(self, pilot: Pilot[None]) -> None:
        """Wait until a question was due, and was not asked."""
        asking = self.inspector._refresh_timer
        planned = asking._timer
        async with asyncio.timeout(MAX_WAIT_SECONDS):
            while asking._timer is planned:
                await pilot.pause(0.01)

    # Screen

    def rows(self) -> list[str]:
        """The rows of the list."""
        sheet = self.sheet
        strips = [sheet.render_line(y) for y in range(sheet.size.height)]
        assert all(strip.cell_length == sheet.size.width for strip in strips)
        return [strip.text.rstrip() for strip in strips]

    def text(self) -> str:
        return "\n".join(self.rows())

    def all_text(self) -> str:
        """All rows of the list, also those outside the visible part."""
        view = self.sheet.view
        assert view is not None
        rows = [view.source.row(index) for index in range(view.source.height)]
        shown = [(*row.pieces, row.right) if row.right else row.pieces for row in rows]
        return "\n".join("".join(piece.text for piece in pieces) for pieces in shown)

    async def look(self, pilot: Pilot[None], run_id: str | None, position: int | None, tab: str = "") -> None:
        """Show an entry of a run, and wait until it is loaded."""
        if tab:
            self.inspector.action_choose(tab)
        self.inspector.show_run(run_id, position)
        await self.settled(pilot)

    async def settled(self, pilot: Pilot[None]) -> None:
        """Wait until everything requested is shown. Returns at once if there is no engine."""
        async with asyncio.timeout(MAX_WAIT_SECONDS):
            while self.inspector.is_waiting and self.loader is not None:
                await pilot.pause(0.01)
        await pilot.pause()
