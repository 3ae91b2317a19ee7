"""What the engine tells, brought to the panes: one batch a tick, each pane once."""

import asyncio
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any

import orjson

from console.model.cards import run_card, session_card
from console.model.prompt.waiting import views
from console.model.run_view import RunView
from console.model.situation import Situation
from console.model.stream.names import Names
from console.model.stream.rows import describe
from console.model.stream.supply import supply
from console.model.talk.talk import Talk
from console.screens.main import Main
from console.stage import Stage
from console.widgets.conversation.pane import AsOf

if TYPE_CHECKING:
    from engine.api import Entry, QueueItem, Receipt

RUNS, SESSIONS = 30, 15
"""So many are listed at the side."""


class Hearing:
    """Keeps the models of what is shown, and shows them."""

    def __init__(self, stage: Stage, main: Main) -> None:
        self._stage = stage
        self._main = main
        self.view: RunView | None = None
        """The run that is shown."""
        self.talk = Talk()
        self.as_of: int | None = None
        """The entry as of which everything is shown; none is now."""
        self.items: list[QueueItem] = []
        self.receipts: Sequence[Receipt] = ()
        self.dismissed: set[str] = set()
        self.withdrawn: QueueItem | None = None
        """The last that was taken back: for a moment it can be had again."""
        self._sessions: dict[str, str | None] = {}
        """Of the runs that were heard of."""
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._stale: set[str] = {"queue", "rail"}

    async def begin(self) -> None:
        """What there was before: the session's last runs, of which the last is shown."""
        self.talk = await self._stage.talk()
        if self.talk.run_ids:
            await self.look_at(self.talk.run_ids[-1])

    # What is looked at

    async def look_at(self, run_id: str) -> None:
        """Show a run, whoever worked at it and whenever."""
        run, outline, last = await self._stage.past(run_id)
        live = run.status in ("created", "running")
        self._look(RunView.of_past(run, outline, last, is_live=live))
        self.as_of = None

    async def visit(self, run_id: str) -> None:
        """Look at a run from the list, in its own conversation."""
        run = await self._stage.engine.run(run_id)
        if run.conversation_id is not None and run.conversation_id != self._stage.session:
            await self.enter(run.conversation_id)
        await self.look_at(run_id)

    async def enter(self, session_id: str) -> None:
        """Go on with another session."""
        self._stage.session = session_id
        self.view = None
        await self.begin()
        self.refresh("queue", "rail")

    async def read_earlier(self, run_id: str) -> None:
        """What was said before the first run that is shown."""
        self.talk.put_above(await self._stage.talk(before=run_id))

    def text_of(self, item_id: str) -> str | None:
        """What a message that waits says, whole."""
        return next((item.text for item in self.items if item.item_id == item_id), None)

    def refresh(self, *what: str) -> None:
        """Read this again at the next tick."""
        self._stale.update(what)

    # Once a tick

    def tick(self, entries: "Sequence[Entry]") -> None:
        """Bring what is new to the models, and the models to the panes."""
        for run_id, batch in _by_run(entries):
            self._hear(run_id, batch)
        if entries:
            self._main.tick(_ticker(entries[-1]))
        self._read_what_is_wanted()
        self._freshen()
        self._show()

    def _hear(self, run_id: str, batch: "list[Entry]") -> None:
        first = batch[0]
        if first.type == "run.started":
            conversation: dict[str, Any] = orjson.loads(first.data)["context"].get("conversation") or {}
            self._sessions[run_id] = conversation.get("conversation_id")
        if any(entry.type.startswith(("steering.", "run.")) for entry in batch):
            self._stale |= {"queue", "rail"}
        if self._sessions.get(run_id) == self._stage.session or run_id in self.talk.run_ids:
            self.talk.apply(batch)
            if first.type == "run.started" and self.as_of is None:
                self._look(RunView(run_id))
        if self.view is not None and run_id == self.view.run_id:
            self.view.apply(batch)

    def _look(self, view: RunView) -> None:
        self.view = view
        self._main.stream.show(view.timeline)
        self._stale.add("queue")

    def _show(self) -> None:
        now, view, main = self._stage.engine.now(), self.view, self._main
        as_of = AsOf(view.run_id, self.as_of) if view is not None and self.as_of is not None else None
        main.conversation.show(self.talk, now, as_of)
        main.stream.on_batch()
        main.ribbon.show(view.ribbon if view else None, now)
        seen = view.seen(self._stage.cannot_steer) if view else None
        waiting = [*self.items, *([self.withdrawn] if self.withdrawn is not None else [])]
        shown = views(waiting, seen, now, self.receipts)
        main.queue.items = tuple(item for item in shown if item.item_id not in self.dismissed)
        main.inspector.look_at(view.run_id if view else None, self.as_of)
        if view is not None:
            main.tabs.counts = {"stream": str(view.status.entries)}

    # What is read

    def _read_what_is_wanted(self) -> None:
        if self.view is None:
            return
        timeline = self.view.timeline
        for number, want in enumerate(timeline.wanted()):
            self._begin(f"want {number}", supply(timeline, want, self._stage.engine))

    def _freshen(self) -> None:
        for what, read in (("queue", self._read_queue), ("rail", self._read_rail)):
            if what in self._stale and what not in self._tasks:
                self._stale.discard(what)
                self._begin(what, read())

    async def _read_queue(self) -> None:
        run_id = self.view.run_id if self.view is not None else None
        self.items, self.receipts = await self._stage.waiting(run_id)

    async def _read_rail(self) -> None:
        engine = self._stage.engine
        runs, sessions = await engine.runs(limit=RUNS), await engine.sessions(limit=SESSIONS)
        now, shown = engine.now(), self.view.run_id if self.view else None
        cards = [run_card(run, now, shown) for run in runs]
        self._main.rail.show(cards, [session_card(session, self._stage.session) for session in sessions])

    def _begin(self, name: str, reading: Awaitable[None]) -> None:
        async def read() -> None:
            try:
                with suppress(_known_errors()):  # a look that failed is made again
                    await reading
            finally:
                del self._tasks[name]

        self._tasks[name] = asyncio.ensure_future(read())

    # What can be done

    def situation(self, trouble: str | None) -> Situation:
        """As it stands now."""
        view, status = self.view, self.view.status if self.view else None
        at_work = status is not None and not status.is_over
        return Situation(
            is_ready=self._stage.is_open,
            trouble=trouble,
            has_run=view is not None,
            is_running=bool(at_work and view and view.is_live),
            is_elsewhere=bool(at_work and view and not view.is_live),
            is_held=bool(status and status.held),
            can_edit_held=bool(status and status.held and status.held.get("call_id")),
            cannot_steer=self._stage.cannot_steer,
            can_run_again=view is not None and not at_work,
            waiting=len(self._main.queue.items),
            is_as_of=self.as_of is not None,
        )


def _by_run(entries: "Sequence[Entry]") -> "Iterator[tuple[str, list[Entry]]]":
    for run_id, batch in groupby(entries, key=lambda entry: entry.run_id):
        yield run_id, list(batch)


def _ticker(entry: "Entry") -> str:
    row = describe(entry, Names())
    return f"{entry.position} {row.kind} {row.summary}"


def _known_errors() -> type[Exception]:
    from engine.api import FactsError  # noqa: PLC0415

    return FactsError
