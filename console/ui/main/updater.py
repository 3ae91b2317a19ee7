"""Brings new entries to the models and the models to the panes: one batch a tick, each pane at most once."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Final

from console.data.active_session import ActiveSession
from console.data.conversation_loader import ConversationLoader
from console.data.prompt_history import load_session_messages
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
from engine.events import LIVE_STATUSES, EntryKind, Fate, RunStarted, payload_as

if TYPE_CHECKING:
    from engine.api import Entry, QueueItem

RunInBackground = Callable[[Awaitable[None]], None]
LIST_REFRESH_US: Final = 1_000_000
"""Microseconds after which the times in the list of runs are updated."""
BUSY_CYCLE_TICKS: Final = 3
"""While entries arrive, the conversation is drawn in one of this many ticks and the stream in the others."""


class ScreenUpdater:
    """Holds the models that the main screen shows."""

    def __init__(self, active_session: ActiveSession, main: MainScreen, run_in_background: RunInBackground) -> None:
        self._session = active_session
        self._main = main
        self._run_in_background = run_in_background
        self.view: RunView | None = None
        """The run shown."""
        self.run_list = RunList()
        self._loader: ConversationLoader | None = None
        self._empty_conversation = ConversationModel()
        self._collectors: list[list[Entry]] = []
        """For each read in progress: the entries that arrived since it began."""
        self.as_of: int | None = None
        """The position as of which everything is shown; None means now."""
        self.queue_items: list[QueueItem] = []
        """Queued messages, and dropped or withdrawn ones that can be restored."""
        self.sending: tuple[QueueRow, ...] = ()
        """Messages that are being sent and are not on disk yet."""
        self._dropped: frozenset[str] | None = None
        """Ids of the dropped messages; None until the queue is read."""
        self._session_ids: dict[str, str | None] = {}
        """The session of each run that started since the console was opened."""
        self.active_runs = ActiveRuns()
        self._reads: set[object] = set()
        """Reads in progress."""
        self._stale: set[str] = {"queue", "rail"}
        self._listed_at = 0
        self._tick_number = 0

    @property
    def conversation(self) -> ConversationModel:
        """The loaded part of the session's conversation."""
        return self._loader.conversation if self._loader is not None else self._empty_conversation

    # What is shown

    async def load_session(self) -> None:
        """Read the end of the active session and show its last run."""
        session_id = self._session.session_id
        if not await self._load_conversation(ConversationLoader.read_end):
            return
        self._main.conversation.empty_text = self._session.empty_text or type(self._main.conversation).empty_text
        if self.conversation.run_ids:
            await self.show_run(self.conversation.run_ids[-1])
        else:
            self._main.stream.attempt(self._main.stream.show, Timeline(""))
        if texts := await load_session_messages(self._session.engine, session_id):
            self._main.prompt.set_history(texts)

    async def show_run(self, run_id: str) -> None:
        """Show a run of any host. Does nothing if the user changes the session meanwhile."""
        session_id = self._session.session_id
        with self._collect_new_entries() as arrived:
            run, outline, last = await self._session.load_run(run_id)
        if session_id != self._session.session_id:
            return
        is_live = run.status in LIVE_STATUSES
        is_here = run.host == self._session.engine.host_id
        view = RunView.of_past(run, outline, last, is_live=is_live, is_here=is_here)
        view.apply([entry for entry in arrived if entry.run_id == run_id])
        self._set_view(view)
        self.as_of = None
        self.refresh("rail")

    async def open_run(self, run_id: str, position: int | None = None) -> None:
        """Show a run in its own session, with its conversation at its start or around an entry."""
        run = await self._session.engine.runs.get(run_id)
        if run.conversation_id is not None:
            is_loaded = run_id in self.conversation.run_ids and run.conversation_id == self._session.session_id
            await self._session.enter(run.conversation_id)
            if not is_loaded:
                await self._load_conversation(lambda loader: loader.read_at(run_id, position))
            elif self._loader is not None:
                await self._loader.read_back(run_id, position)
            if run.conversation_id != self._session.session_id:
                return
            self._main.conversation.attempt(self._main.conversation.show_run, self.conversation, run_id)
            self.refresh("queue")
        await self.show_run(run_id)

    async def enter_session(self, session_id: str) -> None:
        """Continue another session."""
        await self._session.enter(session_id)
        self.view = None
        await self.load_session()
        self.refresh("queue", "rail")

    @property
    def has_messages(self) -> bool:
        """Whether the active session has messages, so that it must be stored."""
        # Until a new session is read, the conversation shown is still that of the one before.
        loader = self._loader
        return loader is not None and loader.session == self._session.session_id and bool(loader.conversation.blocks)

    async def is_session_deleted(self) -> bool:
        """Whether another process deleted the session shown. Reads one row."""
        session_id = self._session.session_id
        return (
            self.has_messages
            and not await self._session.engine.sessions.exists(session_id)
            and session_id == self._session.session_id
        )

    async def load_earlier(self) -> None:
        if self._loader is not None:
            await self._loader.read_earlier()

    async def load_later(self) -> None:
        if (loader := self._loader) is not None:
            with self._collect_new_entries() as arrived:
                await loader.read_later()
            self._apply_to_conversation(loader.conversation, arrived)

    def go_live(self) -> None:
        """Follow new entries again."""
        self.as_of = None
        self._main.stream.attempt(self._main.stream.go_live)

    async def show_last_run(self) -> None:
        """Show the newest run of this session."""
        runs = await self._session.engine.runs.list(conversation_id=self._session.session_id, limit=1)
        await self.show_end()
        if runs:
            await self.show_run(runs[0].run_id)

    async def show_end(self) -> None:
        """Load the end of the conversation, if it is not loaded."""
        if self.conversation.has_later:
            await self._load_conversation(ConversationLoader.read_end)

    async def load_older_runs(self) -> None:
        """Add a page of older runs to the list."""
        await self.run_list.read_more(self._session.engine)
        self._show_run_list()

    async def _load_conversation(self, read: "Callable[[ConversationLoader], Awaitable[None]]") -> bool:
        """Load the conversation anew; entries that arrive meanwhile are applied after it.

        Returns False, and shows nothing, if the user changed the session meanwhile.
        """
        session_id = self._session.session_id
        loader = ConversationLoader(self._session.engine, session_id)
        with self._collect_new_entries() as arrived:
            await read(loader)
        if session_id != self._session.session_id:
            return False
        self._loader = loader
        self._apply_to_conversation(loader.conversation, arrived)
        return True

    def _apply_to_conversation(self, conversation: ConversationModel, entries: "list[Entry]") -> None:
        for run_id, batch in _by_run(entries):
            if self._is_in_session(run_id) and not conversation.has_later:
                conversation.apply(batch)

    @contextmanager
    def _collect_new_entries(self) -> "Iterator[list[Entry]]":
        collected: list[Entry] = []
        self._collectors.append(collected)
        try:
            yield collected
        finally:
            self._collectors = [each for each in self._collectors if each is not collected]

    async def reload(self) -> None:
        """Rebuild everything that is shown from what is recorded."""
        run_id, as_of = (self.view.run_id if self.view else None), self.as_of
        self._main.inspector.attempt(self._main.inspector.show_run, None, None)
        self._main.rail.attempt(self._main.rail.redraw)
        if not await self._load_conversation(ConversationLoader.read_end):
            return
        if run_id is not None:
            await self.show_run(run_id)
            if as_of is not None:
                self._main.stream.attempt(self._main.stream.go_to, as_of)
        self.refresh("queue", "rail")

    # State of runs and of the queue

    @property
    def is_past(self) -> bool:
        """Whether the run shown has ended and later runs exist in its session."""
        if self.view is None or not self.view.status.is_over:
            return False
        return not self.conversation.ends_with(self.view.run_id)

    @property
    def active_run(self) -> tuple[str, RunStatus] | None:
        """The run in progress in this session: the one shown, or one that started since."""
        view = self.view
        if view is not None and not view.status.is_over:
            return view.run_id, view.status
        return self.active_runs.of(self._session.session_id)

    def count_runs_here(self) -> int:
        """The number of runs in progress in this process, in all sessions."""
        is_in_progress = self._session.engine.runs.is_in_progress if self._session.is_open else None
        return sum(map(is_in_progress, self.active_runs)) if is_in_progress is not None else 0

    async def count_queued_here(self) -> int:
        """The number of messages queued for runs of this process, in all sessions."""
        if not self._session.is_open:
            return 0
        try:
            items = await self._session.engine.queue.list()
        except _store_error():  # count what was read last
            items = self.queue_items
        return sum(item.host == self._session.engine.host_id for item in items)

    def mark_stopping(self, run_id: str, at: int | None) -> None:
        """Show that a stop was requested, before it is recorded; None: the request failed."""
        for status in self.active_runs.statuses(run_id):
            status.note_stop_request(at)
        if self.view is not None and self.view.run_id == run_id:
            self.view.note_stop_request(at)

    def is_dropped(self, item_id: str | None) -> bool:
        """Whether a message was dropped, and neither resent nor dismissed."""
        return self._dropped is not None and item_id in self._dropped

    def item_text(self, item_id: str) -> str | None:
        """The whole text of a message in the queue pane."""
        return next((item.text for item in self.queue_items if item.item_id == item_id), None)

    def is_run_here(self, run_id: str) -> bool:
        """Whether a run is, or was, a run of this process."""
        view = self.view
        if view is not None and view.run_id == run_id:
            return view.is_here
        return self._session.engine.runs.is_in_progress(run_id)

    def refresh(self, *parts: str) -> None:
        """Read `queue` or `rail` again at the next tick."""
        self._stale.update(parts)

    # Once a tick

    def tick(self, entries: "Sequence[Entry]") -> None:
        """Apply new entries to the models and show the models."""
        for collected in self._collectors:
            collected.extend(entries)
        for run_id, batch in _by_run(entries):
            self._apply(run_id, batch)
        if entries:
            self._main.stream.attempt(lambda: self._main.show_ticker(_ticker_text(entries[-1])))
        self._read_stream_parts()
        self._read_stale_parts()
        self._show(is_busy=bool(entries))

    def _apply(self, run_id: str, batch: "list[Entry]") -> None:
        first = batch[0]
        started = payload_as(RunStarted, first) if first.type == EntryKind.RUN_STARTED else None
        if started is not None:
            self._session_ids[run_id] = started.conversation_id
            self.active_runs.add(run_id, self._session_ids[run_id])
        self.active_runs.apply(run_id, batch)
        if any(entry.type.startswith(("steering.", "run.", "cancel.")) for entry in batch):
            self._stale |= {"queue", "rail"}
        if self._is_in_session(run_id):
            if not self.conversation.has_later:
                self._main.conversation.attempt(self.conversation.apply, batch)
            if started is not None and self.as_of is None:
                if self.conversation.has_later:
                    self._start_read("end", self.show_end())
                view = RunView(run_id, is_here=self._session.engine.runs.is_in_progress(run_id))
                view.runner_id, view.agent_id = started.runner_id, started.agent_id
                self._set_view(view)
        if self.view is not None and run_id == self.view.run_id:
            self._main.stream.attempt(self.view.apply, batch)
            self._main.inspector.attempt(self._main.inspector.on_entries, {entry.type for entry in batch})

    def _is_in_session(self, run_id: str) -> bool:
        return self._session_ids.get(run_id) == self._session.session_id or run_id in self.conversation.run_ids

    def _set_view(self, view: RunView) -> None:
        self.view = view
        self._main.stream.attempt(self._main.stream.show, view.timeline)
        self._stale.add("queue")

    def _show(self, *, is_busy: bool) -> None:
        now, view, main = self._session.engine.now(), self.view, self._main
        as_of = AsOf(view.run_id, self.as_of) if view is not None and self.as_of is not None else None
        self._tick_number = (self._tick_number + 1) % BUSY_CYCLE_TICKS
        # While entries arrive, not all panes in one frame: a key press then waits for one of them only.
        if not is_busy or self._tick_number == 0:
            if self._dropped is not None:
                main.conversation.attempt(self.conversation.set_resendable, self._dropped)
            main.conversation.attempt(main.conversation.show, self.conversation, now, as_of)
        if not is_busy or self._tick_number:
            main.stream.attempt(main.stream.on_batch)
        if not is_busy or self._tick_number == 1:
            main.ribbon.attempt(main.ribbon.show, view.ribbon if view else None, now)
        main.queue.attempt(self._show_queue, now)
        if self._session.engine.monotonic() - self._listed_at >= LIST_REFRESH_US:
            self._show_run_list()
        last, run_id = view.timeline.last if view else 0, view.run_id if view else None
        main.inspector.attempt(main.inspector.show_run, run_id, self.as_of, last, main.stream.entry)
        main.tabs.counts = {"stream": str(view.status.entries)} if view is not None else {}

    def _show_queue(self, now: int) -> None:
        queue_run = self.view.queue_run(self._session.cannot_steer) if self.view else None
        self._main.queue.items = (*queue_rows(self.queue_items, queue_run, now), *self.sending)

    # Reading

    def _read_stream_parts(self) -> None:
        if self.view is None:
            return
        timeline = self.view.timeline
        for want in timeline.next_requests():
            self._start_read((timeline, want), perform_read(timeline, want, self._session.engine.runs))

    def _read_stale_parts(self) -> None:
        for part, read in (("queue", self._read_queue), ("rail", self._read_run_list)):
            if part in self._stale and part not in self._reads:
                self._stale.discard(part)
                self._start_read(part, read())

    async def _read_queue(self) -> None:
        self.queue_items = await self._session.load_queue()
        self._dropped = frozenset(item.item_id for item in self.queue_items if item.fate == Fate.DROPPED)

    async def _read_run_list(self) -> None:
        await self.run_list.read(self._session.engine, self._session.session_id)
        self._show_run_list()

    def _show_run_list(self) -> None:
        engine, shown = self._session.engine, self.view.run_id if self.view else None
        self._listed_at = engine.monotonic()
        cards = self.run_list.cards(engine.now(), engine.host_id, shown, self._session.session_id)
        self._main.rail.attempt(self._main.rail.show_rows, cards)

    def _start_read(self, part: object, reading: Awaitable[None]) -> None:
        """Read a part in the background. A failed read of the queue or the list is repeated."""
        due = ClosingAwaitable(reading)

        async def read() -> None:
            try:
                await due
            except _store_error():
                if part in ("queue", "rail"):
                    self._stale.add(str(part))
            finally:
                self._reads.discard(part)

        self._reads.add(part)
        self._run_in_background(read())


def _by_run(entries: "Sequence[Entry]") -> "Iterator[tuple[str, list[Entry]]]":
    for run_id, batch in groupby(entries, key=lambda entry: entry.run_id):
        yield run_id, list(batch)


def _ticker_text(entry: "Entry") -> str:
    row = entry_row(entry, Names())
    return f"{entry.position} {row.kind} {row.summary}"


def _store_error() -> type[Exception]:
    from console.data.errors import StoreError  # noqa: PLC0415  (loads the engine)

    return StoreError
