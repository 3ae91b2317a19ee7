"""What the engine tells, brought to the panes: one batch a tick, each pane once."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any

import orjson

from console.data.active_session import ActiveSession
from console.data.conversation_loader import ConversationLoader
from console.data.run_list import RunList
from console.model.conversation.conversation import AsOf, ConversationModel
from console.model.journal.names import Names
from console.model.queue.items import QueueRow, queue_rows
from console.model.run.status import RunStatus
from console.model.run.view import ActiveRuns, RunView
from console.model.stream.reader import perform_read
from console.model.stream.rows import entry_row
from console.model.stream.timeline import Timeline
from console.ui.main.screen import MainScreen
from console.ui.shared.closing_awaitable import ClosingAwaitable
from engine.events import LIVE_STATUSES, EntryKind, Fate

if TYPE_CHECKING:
    from engine.api import Entry, QueueItem

_SECOND = 1_000_000
Do = Callable[[Awaitable[None]], None]
"""Carries something out, and says what goes wrong."""
REMEMBERED = 200
"""Lines of a session in which what a person said is looked for, to be said again."""
BEATS = 3
"""Of so many ticks of a busy run one is the conversation's, and the others are the stream's."""


class ScreenUpdater:
    """Keeps the models of what is shown, and shows them."""

    def __init__(self, stage: ActiveSession, main: MainScreen, do: Do) -> None:
        self._stage = stage
        self._main = main
        self._do = do
        self.view: RunView | None = None
        """The run that is shown."""
        self.listing = RunList()
        self._telling: ConversationLoader | None = None
        self._nothing = ConversationModel()
        self._kept: list[list[Entry]] = []
        """For each that reads what is recorded: what was told meanwhile."""
        self.as_of: int | None = None
        """The entry as of which everything is shown; none is now."""
        self.items: list[QueueItem] = []
        """What waits, and what was lost and can be had back."""
        self.sending: tuple[QueueRow, ...] = ()
        """What was sent and is not on disk yet."""
        self._dropped: frozenset[str] | None = None
        """Which of them were dropped; none while that was not read."""
        self._sessions: dict[str, str | None] = {}
        """Of the runs that were heard of."""
        self.at_work = ActiveRuns()
        self._reads: set[object] = set()
        """What is being read."""
        self._stale: set[str] = {"queue", "rail"}
        self._listed_at = 0
        self._beat = 0

    @property
    def talk(self) -> ConversationModel:
        """What was said in the session, as far as it was read."""
        return self._telling.talk if self._telling is not None else self._nothing

    async def begin(self) -> None:
        """What there was before: the session's last runs, of which the last is shown."""
        session = self._stage.session
        if not await self._tell(ConversationLoader.read_end):
            return
        self._main.conversation.empty_text = self._stage.nothing_said or type(self._main.conversation).empty_text
        if self.talk.run_ids:
            await self.look_at(self.talk.run_ids[-1])
        else:
            self._main.stream.attempt(self._main.stream.show, Timeline(""))
        with suppress(_known_errors()):  # a session in which nothing was said yet is not known
            said = await self._stage.engine.sessions.transcript(session, limit=REMEMBERED)
            texts = [line.content for line in reversed(said) if line.role == "user" and line.content]
            self._main.prompt.remember(texts)

    # What is looked at

    async def look_at(self, run_id: str) -> None:
        """Show a run, whoever worked at it and whenever; not to who is in another session by then."""
        session = self._stage.session
        with self._keeping() as meanwhile:
            run, outline, last = await self._stage.past(run_id)
        if session != self._stage.session:
            return
        live = run.status in LIVE_STATUSES
        is_here = run.host == self._stage.engine.host_id
        view = RunView.of_past(run, outline, last, is_live=live, is_here=is_here)
        view.apply([entry for entry in meanwhile if entry.run_id == run_id])
        self._look(view)
        self.as_of = None
        self.refresh("rail")

    async def visit(self, run_id: str, position: int | None = None) -> None:
        """Look at a run from the list, in its own conversation: where it begins, or with an entry of it read."""
        run = await self._stage.engine.runs.get(run_id)
        if run.conversation_id is not None:
            is_there = run_id in self.talk.run_ids and run.conversation_id == self._stage.session
            await self._stage.go_into(run.conversation_id)
            if not is_there:
                await self._tell(lambda telling: telling.read_at(run_id, position))
            elif self._telling is not None:
                await self._telling.read_back(run_id, position)
            if run.conversation_id != self._stage.session:
                return
            self._main.conversation.attempt(self._main.conversation.bring, self.talk, run_id)
            self.refresh("queue")
        await self.look_at(run_id)

    async def enter(self, session_id: str) -> None:
        """Go on with another session."""
        await self._stage.go_into(session_id)
        self.view = None
        await self.begin()
        self.refresh("queue", "rail")

    async def is_gone(self) -> bool:
        """Whether the session that is shown was deleted meanwhile, by another process. One look at one row."""
        session, was_there = self._stage.session, bool(self.talk.blocks)
        return was_there and not await self._stage.engine.sessions.exists(session) and session == self._stage.session

    async def read_earlier(self) -> None:
        """What was said before what is shown of the session."""
        if self._telling is not None:
            await self._telling.read_earlier()

    async def read_later(self) -> None:
        """What was said after it."""
        if (telling := self._telling) is not None:
            with self._keeping() as meanwhile:
                await telling.read_later()
            self._catch_up(telling.talk, meanwhile)

    def go_live(self) -> None:
        """See what comes next, wherever someone had looked."""
        self.as_of = None
        self._main.stream.attempt(self._main.stream.go_live)

    async def go_to_the_last_run(self) -> None:
        """Show the run that was the last to begin in this session."""
        runs = await self._stage.engine.runs.list(conversation_id=self._stage.session, limit=1)
        await self.go_to_the_end()
        if runs:
            await self.look_at(runs[0].run_id)

    async def go_to_the_end(self) -> None:
        """What is said now, wherever someone had looked."""
        if self.talk.has_later:
            await self._tell(ConversationLoader.read_end)

    async def list_more(self) -> None:
        """Runs before those that are listed."""
        await self.listing.read_more(self._stage.engine)
        self._list()

    async def _tell(self, read: "Callable[[ConversationLoader], Awaitable[None]]") -> bool:
        """Have the session's talk anew; what is told while it is read comes after.

        Whether that is what one sees now: who went elsewhere meanwhile is to see that.
        """
        session = self._stage.session
        telling = ConversationLoader(self._stage.engine, session)
        with self._keeping() as meanwhile:
            await read(telling)
        if session != self._stage.session:
            return False
        self._telling = telling
        self._catch_up(telling.talk, meanwhile)
        return True

    def _catch_up(self, talk: ConversationModel, meanwhile: "list[Entry]") -> None:
        for run_id, batch in _by_run(meanwhile):
            if self._is_said_here(run_id) and not talk.has_later:
                talk.apply(batch)

    @contextmanager
    def _keeping(self) -> "Iterator[list[Entry]]":
        kept: list[Entry] = []
        self._kept.append(kept)
        try:
            yield kept
        finally:
            self._kept = [each for each in self._kept if each is not kept]

    async def reload(self) -> None:
        """Make what is shown anew from what is recorded."""
        run_id, as_of = (self.view.run_id if self.view else None), self.as_of
        self._main.inspector.attempt(self._main.inspector.look_at, None, None)
        self._main.rail.attempt(self._main.rail.redraw)
        if not await self._tell(ConversationLoader.read_end):
            return
        if run_id is not None:
            await self.look_at(run_id)
            if as_of is not None:
                self._main.stream.attempt(self._main.stream.go_to, as_of)
        self.refresh("queue", "rail")

    @property
    def is_past(self) -> bool:
        """Whether the run that is shown is over, and others came after it."""
        if self.view is None or not self.view.status.is_over:
            return False
        return not self.talk.ends_with(self.view.run_id)

    @property
    def working(self) -> tuple[str, RunStatus] | None:
        """The run of this session that is at work: the one that is shown, or one that began meanwhile."""
        view = self.view
        if view is not None and not view.status.is_over:
            return view.run_id, view.status
        return self.at_work.of(self._stage.session)

    def working_here(self) -> int:
        """How many runs this process works at, in whatever session."""
        return sum(map(self._stage.engine.runs.is_in_progress, self.at_work)) if self._stage.is_open else 0

    async def waiting_here(self) -> int:
        """How many messages wait for runs of this process, in whatever session; those of others wait on without it."""
        if not self._stage.is_open:
            return 0
        try:
            items = await self._stage.engine.queue.list()
        except _known_errors():  # what cannot be read is told as it was last seen
            items = self.items
        return sum(item.host == self._stage.engine.host_id for item in items)

    def ask_to_stop(self, run_id: str, at: int | None) -> None:
        """Show that someone wants a run stopped, before it is recorded; none: it could not be."""
        for status in self.at_work.statuses(run_id):
            status.note_stop_request(at)
        if self.view is not None and self.view.run_id == run_id:
            self.view.note_stop_request(at)

    def is_dropped(self, item_id: str | None) -> bool:
        """Whether a message was dropped, and nobody has said it again or dismissed it."""
        return self._dropped is not None and item_id in self._dropped

    def text_of(self, item_id: str) -> str | None:
        """What a message that waits or was lost says, whole."""
        return next((item.text for item in self.items if item.item_id == item_id), None)

    def refresh(self, *what: str) -> None:
        """Read this again at the next tick."""
        self._stale.update(what)

    # Once a tick

    def tick(self, entries: "Sequence[Entry]") -> None:
        """Bring what is new to the models, and the models to the panes."""
        for kept in self._kept:
            kept.extend(entries)
        for run_id, batch in _by_run(entries):
            self._hear(run_id, batch)
        if entries:
            self._main.stream.attempt(lambda: self._main.tick(_ticker(entries[-1])))
        self._read_what_is_wanted()
        self._freshen()
        self._show(is_busy=bool(entries))

    def _hear(self, run_id: str, batch: "list[Entry]") -> None:
        first, started = batch[0], dict[str, Any]()
        if first.type == EntryKind.RUN_STARTED:
            started = orjson.loads(first.data)
            self._sessions[run_id] = (started["context"].get("conversation") or {}).get("conversation_id")
            self.at_work.add(run_id, self._sessions[run_id])
        self.at_work.apply(run_id, batch)
        if any(entry.type.startswith(("steering.", "run.", "cancel.")) for entry in batch):
            self._stale |= {"queue", "rail"}
        if self._is_said_here(run_id):
            if not self.talk.has_later:
                self._main.conversation.attempt(self.talk.apply, batch)
            if first.type == EntryKind.RUN_STARTED and self.as_of is None:
                if self.talk.has_later:
                    self._begin("end", self.go_to_the_end())
                view = RunView(run_id, is_here=self._stage.engine.runs.is_in_progress(run_id))
                view.runner_id, view.agent_id = started.get("runner_id"), started.get("agent_id")
                self._look(view)
        if self.view is not None and run_id == self.view.run_id:
            self._main.stream.attempt(self.view.apply, batch)
            self._main.inspector.attempt(self._main.inspector.hear, {entry.type for entry in batch})

    def is_here(self, run_id: str) -> bool:
        """Whether a run works, or worked, in this process."""
        view = self.view
        return (
            view.is_here
            if view is not None and view.run_id == run_id
            else self._stage.engine.runs.is_in_progress(run_id)
        )

    def _is_said_here(self, run_id: str) -> bool:
        return self._sessions.get(run_id) == self._stage.session or run_id in self.talk.run_ids

    def _look(self, view: RunView) -> None:
        self.view = view
        self._main.stream.attempt(self._main.stream.show, view.timeline)
        self._stale.add("queue")

    def _show(self, *, is_busy: bool) -> None:
        now, view, main = self._stage.engine.now(), self.view, self._main
        as_of = AsOf(view.run_id, self.as_of) if view is not None and self.as_of is not None else None
        self._beat = (self._beat + 1) % BEATS
        # Never all in one frame while a runner pours: a key that is typed then waits for one of them only.
        if not is_busy or self._beat == 0:
            if self._dropped is not None:
                main.conversation.attempt(self.talk.offer, self._dropped)
            main.conversation.attempt(main.conversation.show, self.talk, now, as_of)
        if not is_busy or self._beat:
            main.stream.attempt(main.stream.on_batch)
        if not is_busy or self._beat == 1:
            main.ribbon.attempt(main.ribbon.show, view.ribbon if view else None, now)
        main.queue.attempt(self._show_queue, now)
        if now - self._listed_at >= _SECOND:
            self._list()
        last, run_id = view.timeline.last if view else 0, view.run_id if view else None
        main.inspector.attempt(main.inspector.look_at, run_id, self.as_of, last, main.stream.entry)
        main.tabs.counts = {"stream": str(view.status.entries)} if view is not None else {}

    def _show_queue(self, now: int) -> None:
        seen = self.view.queue_run(self._stage.cannot_steer) if self.view else None
        self._main.queue.items = (*queue_rows(self.items, seen, now), *self.sending)

    # What is read

    def _read_what_is_wanted(self) -> None:
        if self.view is None:
            return
        timeline = self.view.timeline
        for want in timeline.next_requests():
            self._begin((timeline, want), perform_read(timeline, want, self._stage.engine.runs))

    def _freshen(self) -> None:
        for what, read in (("queue", self._read_queue), ("rail", self._read_rail)):
            if what in self._stale and what not in self._reads:
                self._stale.discard(what)
                self._begin(what, read())

    async def _read_queue(self) -> None:
        self.items = await self._stage.waiting()
        self._dropped = frozenset(item.item_id for item in self.items if item.fate == Fate.DROPPED)

    async def _read_rail(self) -> None:
        await self.listing.read(self._stage.engine, self._stage.session)
        self._list()

    def _list(self) -> None:
        engine, shown = self._stage.engine, self.view.run_id if self.view else None
        self._listed_at = engine.now()
        cards = self.listing.cards(self._listed_at, engine.host_id, shown, self._stage.session)
        self._main.rail.attempt(self._main.rail.show, cards)

    def _begin(self, what: object, reading: Awaitable[None]) -> None:
        """Read something, once at a time."""

        due = ClosingAwaitable(reading)

        async def read() -> None:
            try:
                await due
            except _known_errors():
                if what in ("queue", "rail"):
                    self._stale.add(str(what))  # a look that failed is made again
            finally:
                self._reads.discard(what)

        self._reads.add(what)
        self._do(read())


def _by_run(entries: "Sequence[Entry]") -> "Iterator[tuple[str, list[Entry]]]":
    for run_id, batch in groupby(entries, key=lambda entry: entry.run_id):
        yield run_id, list(batch)


def _ticker(entry: "Entry") -> str:
    row = entry_row(entry, Names())
    return f"{entry.position} {row.kind} {row.summary}"


def _known_errors() -> type[Exception]:
    from engine.api import StoreError  # noqa: PLC0415

    return StoreError
