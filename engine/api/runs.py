"""Runs: events become runs, runs in progress are stopped, paused runs are continued, journals are read."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.api.core import EngineCore
from engine.api.past_event import PastEvent, past_event
from engine.events import Entry, Fate, Mode
from engine.intake.attachments import read_attachment
from engine.intake.compose import EventDraft, compose
from engine.intake.envelope import EventEnvelope, copy_with_new_ids
from engine.protocol.content import Attachment
from engine.queue.ticket import Ticket
from engine.run.breakpoints import Pause
from engine.run.prepare import RunOptions, prepare
from engine.run.run_order import RunOrder
from engine.store import entries, hosts, queue, runs
from engine.store.entries import EntryHead
from engine.store.queue import QueueItem
from engine.store.runs import RunRow


@dataclass(frozen=True, slots=True)
class StoppedRun:
    """A run that was stopped, and the steering messages that it did not receive."""

    run: RunRow
    undelivered: tuple[QueueItem, ...]


class RunsApi:
    """Start, stop, continue and read runs. Actions that need a host raise StoreError in a reader."""

    def __init__(self, core: EngineCore) -> None:
        self._core = core

    # Start

    def compose(self, draft: EventDraft) -> EventEnvelope:
        """The event of a draft, with a new id; raises DraftProblem with the problems of each field."""
        return compose(draft, self._core.ids)

    async def attach(self, path: Path) -> Attachment:
        """A file as an attachment of an event; raises AttachmentProblem with the reason."""
        roots, ids = self._core.workspace.project.file_roots(), self._core.ids
        return await asyncio.to_thread(read_attachment, path, lambda: ids.new("art"), roots)

    def prepare(self, envelope: EventEnvelope, options: RunOptions | None = None) -> RunOrder:
        """Check an event and its options without recording anything."""
        return prepare(self._core.workspace, envelope, options or RunOptions())

    async def submit(
        self,
        event: EventEnvelope | RunOrder,
        options: RunOptions | None = None,
        *,
        after: bool = False,
        continues: bool = False,
    ) -> Ticket:
        """Accept one event: as a run, as a message for the run in progress, or as a run that starts after it.

        `after` keeps the event out of the run in progress. A repeated event id returns its first run.
        `continues` says that the session is stored: raises SessionDeleted, and records nothing, if it is not any more.
        """
        order = event if isinstance(event, RunOrder) else self.prepare(event, options)
        return await self._core.require_host().submit(order, after=after, continues=continues)

    async def run_again(self, name: str, options: RunOptions | None = None) -> Ticket:
        """Submit the input of a run as a new event, to the same runner unless `options` names another."""
        run = await self.get(name)
        envelope = copy_with_new_ids((await self.event(run.run_id)).envelope, self._core.ids)
        return await self.submit(
            envelope.model_copy(update={"event_time": None}),
            options or self._core.same_runner(run.agent_id, run.runner_id, run.metadata),
        )

    # Stop and wait

    def is_in_progress(self, run_id: str) -> bool:
        """Whether a run is in progress in this process."""
        host = self._core.host
        return host is not None and host.dispatcher.run_task(run_id) is not None

    def starts_before(self, run_id: str) -> int | None:
        """How many runs get a process before this one; None if the run does not wait for a process here."""
        live = self._core.live_run(run_id)
        return None if live is None or live.starts_before is None else live.starts_before()

    async def wait_for_end(self, run_id: str) -> RunRow:
        """The run, as soon as it has ended in this process."""
        await self._core.require_host().wait_for_end(run_id)
        return await self.get(run_id)

    async def wait_until_idle(self) -> None:
        """Return when no run is in progress and none can start."""
        await self._core.require_host().dispatcher.wait_idle()

    async def cancel(self, run_id: str) -> None:
        """Request that a run stops, whichever process hosts it."""
        if self._core.host is not None:
            await self._core.host.cancel(run_id)
        else:
            now = self._core.now()
            await self._core.edit(lambda tx: runs.request_cancel(tx.connection, run_id, at=now))

    async def stop(self, run_id: str) -> StoppedRun:
        """Cancel a run of this process and wait for its end. Returns its undelivered steering messages."""
        await self.cancel(run_id)
        run = await self.wait_for_end(run_id)
        items = await self._core.read(lambda conn: queue.of_run(conn, run_id))
        dropped = (item for item in items if item.mode == Mode.STEER and item.fate == Fate.DROPPED)
        return StoppedRun(run, tuple(dropped))

    # A paused run

    async def current_pause(self, name: str) -> Pause | None:
        """Where a run is paused now, the first if several calls are; its deadline stands still meanwhile."""
        live = await self._core.find_live_run(name)
        return None if live is None else live.pause_control.current_pause

    async def edit_reply(self, name: str, reply: object, *, editor: str = "local") -> Pause:
        """Replace the reply of the paused call. A call that was not made yet is not made. The run stays paused."""
        return (await self._core.require_live_run(name)).pause_control.edit_reply(reply, editor)

    async def continue_run(self, name: str) -> None:
        """Continue a paused run until it reaches a breakpoint."""
        (await self._core.require_live_run(name)).pause_control.continue_run()

    async def step(self, name: str) -> None:
        """Continue a paused run to the reply of its call, or else to its next call, pull, message or end."""
        (await self._core.require_live_run(name)).pause_control.step()

    # Read

    async def get(self, name: str) -> RunRow:
        """A run by its id, by a unique beginning of the id, or `last`."""
        return await self._core.find_run(name)

    async def event(self, name: str) -> PastEvent:
        """The event of this id or of a run, as it came in, with its attached bytes."""
        now = self._core.now()
        mask = await self._core.secret_mask()
        return await self._core.read(lambda conn: past_event(conn, name, mask, now=now))

    async def has_host(self, run: RunRow) -> bool:
        """Whether the process that hosts a run is alive; if not, the next host to open closes the run."""
        return run.host not in await self._core.read(hosts.dead_hosts)

    async def entries(self, run_id: str, *, after: int = 0) -> AsyncIterator[Entry]:
        """A run's whole journal, read page by page."""
        while page := await self.journal(run_id, after=after, limit=1_000):
            for entry in page:
                yield entry
            after = page[-1].position

    async def last_position(self, run_id: str) -> int:
        """The position of a run's newest entry; 0 if it has none."""
        return await self._core.read(lambda conn: entries.last_position(conn, run_id))

    async def find_text(self, run_id: str, text: str, *, first: int, last: int) -> list[int]:
        """The positions of the entries that contain a text, in a range of a run's journal."""
        return await self._core.read(lambda conn: entries.holding(conn, run_id, text, first=first, last=last))

    async def journal(
        self, run_id: str, *, after: int | None = None, before: int | None = None, limit: int = 100
    ) -> list[Entry]:
        """A page of a run's journal: ascending after a position, or descending before one."""
        return await self._core.fetch(entries.page_query(run_id, after=after, before=before, limit=limit))

    async def index(self, run_id: str, *, after: int = 0, limit: int = 16_384) -> list[EntryHead]:
        """The type and size of each entry of a run after a position, without its data, ascending."""
        return await self._core.read(lambda conn: entries.index(conn, run_id, after=after, limit=limit))

    async def entries_at(self, run_id: str, positions: Sequence[int]) -> list[Entry]:
        """The entries at these positions, ascending."""
        return await self._core.read(lambda conn: entries.at_positions(conn, run_id, positions))

    async def outline(
        self, run_id: str, *, before: int | None = None, after: int | None = None, limit: int = 400
    ) -> list[Entry]:
        """The entries that make up a run's conversation, without deltas, ascending.

        These are the last entries before a position, or the first after one.
        """
        return await self._core.read(
            lambda conn: entries.outline(conn, run_id, before=before, after=after, limit=limit)
        )

    async def deltas(self, run_id: str, *, after: int, before: int, limit: int = 1_000) -> list[Entry]:
        """The message deltas between two positions of a run's journal, ascending."""
        return await self._core.read(lambda conn: entries.deltas(conn, run_id, after=after, before=before, limit=limit))

    async def list(
        self,
        *,
        before: str | None = None,
        after: str | None = None,
        limit: int = 100,
        status: str | None = None,
        conversation_id: str | None = None,
        runner_id: str | None = None,
    ) -> list[RunRow]:
        """Runs before a run id, newest first; or the runs next after one, oldest first."""
        return await self._core.read(
            lambda conn: runs.page(
                conn,
                before=before,
                after=after,
                limit=limit,
                status=status,
                conversation_id=conversation_id,
                runner_id=runner_id,
            )
        )
