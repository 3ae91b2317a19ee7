"""Runs: events become runs, runs in progress are stopped, paused runs are continued, journals are read."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from engine.api.core import EngineCore
from engine.api.past_event import PastEvent, past_event
from engine.events import FINAL_STATUSES, Entry, EntryKind, Fate, Mode, RunStarted, Status, Usage, payload_as
from engine.intake.attachments import read_attachment
from engine.intake.compose import EventDraft, compose
from engine.intake.envelope import EventEnvelope, copy_with_new_ids, message
from engine.journal.call_record import CallRecord, read_call
from engine.journal.missing_facts import missing_facts
from engine.protocol.content import Attachment
from engine.queue.requests import Action
from engine.queue.ticket import Ticket
from engine.run.breakpoints import Pause
from engine.run.external_run import ExternalExecution, as_external
from engine.run.prepare import RunOptions, prepare
from engine.run.run_order import RunOrder
from engine.store import artifacts, entries, hosts, parts, queue, runs
from engine.store.entries import EntryHead
from engine.store.errors import (
    AlreadyFinal,
    CannotSteer,
    EventTaken,
    HostGone,
    NotFound,
    OwnedByOtherHost,
    StoreError,
)
from engine.store.queue import QueueItem
from engine.store.runs import RunRow

END_POLL_SECONDS: Final = 0.05
"""How often to look for the end of a run of another process."""
STALE_SECONDS: Final = 3_600
"""After this time without activity a run counts as stale, if nothing executes it."""
MAX_STALE_RUNS: Final = 1_000


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
        ask_elsewhere: bool = False,
    ) -> Ticket:
        """Accept one event: as a run, as a message for the run in progress, or as a run that starts after it.

        `after` keeps the event out of the run in progress. A repeated event id returns its first run.
        `continues` says that the session is stored: raises SessionDeleted, and records nothing, if it is not any more.
        `ask_elsewhere` offers a message also to a run in progress of another process.
        """
        order = event if isinstance(event, RunOrder) else self.prepare(event, options)
        host = self._core.require_host()
        return await host.submit(order, after=after, continues=continues, ask_elsewhere=ask_elsewhere)

    async def steer(self, name: str, text: str) -> Ticket:
        """Send a message to a run in progress, whichever process hosts it.

        Raises CannotSteer, and records nothing, if the run cannot receive it; HostGone if its process has ended.
        """
        core, run = self._core, await self.get(name)
        if run.status in FINAL_STATUSES:
            raise CannotSteer(f"run {run.run_id} is {run.status}; only a run in progress can receive a message.")
        place = {"bot_id": run.bot_id, "workspace_id": run.workspace_id}
        envelope = message(
            core.ids.new("evt"), text, conversation_id=run.conversation_id, thread_id=run.thread_id
        ).model_copy(update=place)
        if core.host is not None and run.host == core.host.host_id:
            return await core.host.steer(run.run_id, envelope)
        return await core.requests.steer(run, envelope)

    async def run_again(self, name: str, options: RunOptions | None = None) -> Ticket:
        """Submit the input of a run as a new event, to the same runner unless `options` names another."""
        run = await self.get(name)
        envelope = copy_with_new_ids((await self.event(run.run_id)).envelope, self._core.ids)
        return await self.submit(
            envelope.model_copy(update={"event_time": None}),
            options or self._core.same_runner(run.agent_id, run.runner_id, run.metadata),
        )

    # Record a run that is executed elsewhere

    async def create(
        self, event: EventEnvelope, options: RunOptions | None = None, *, external_id: str | None = None
    ) -> RunRow:
        """Create the run of an event whose runner is executed elsewhere, and start it.

        It takes the slot of its conversation, has the deadline of its binding, and belongs to this process. Its results
        may name it by `external_id`, its id elsewhere. Raises SlotTaken if the slot is taken, EventTaken if the event
        was accepted before.
        """
        order, host = as_external(self.prepare(event, options), external_id), self._core.require_host()
        ticket = await host.submit(order, after=True)
        if ticket.is_repeat:
            raise EventTaken(f"event {event.event_id} was accepted before. Use another event_id.")
        live = self._core.live_run(order.run_id)
        if live is not None:
            await live.started.wait()
        return await self.get(order.run_id)

    async def append_result(self, run_id: str, result: object) -> None:
        """Add one result, an `AgentRunResult` or a dict, to an external run of this process.

        The result is checked, normalised and recorded as if its runner had sent it; its outcome is in the journal.
        Returns when the writer has room for more, which is before the commit; `finalize` returns after it. Raises
        AlreadyFinal if the run has ended: it was stopped, or its deadline has passed.
        """
        await (await self._external_execution(run_id)).append_result(result)

    async def append_line(self, run_id: str, line: bytes) -> None:
        """The same for a result as one line of JSON. A line that is not JSON is recorded as unreadable."""
        await (await self._external_execution(run_id)).append_line(line)

    async def finalize(self, run_id: str, status: Status | None = None, *, error: str = "") -> RunRow:
        """End an external run of this process, and return it once its end is on disk.

        Without a status the results decide, as at the end of a runner's code. A run that has ended with this status
        stays as it is; raises AlreadyFinal if it has ended with another.
        """
        if status is not None and status not in FINAL_STATUSES:
            raise StoreError(f"a run cannot end as {status}. Use {', '.join(sorted(FINAL_STATUSES))}.")
        host = self._core.require_host()
        run_id, execution = await self._find_external(run_id)
        if execution is not None:
            execution.end(status, error)
        else:
            self._check_external(await self.get(run_id))
        await host.wait_for_end(run_id)
        run = await self.get(run_id)
        if run.status not in FINAL_STATUSES:
            raise host.last_error or StoreError(f"the end of run {run_id} could not be written.")
        if status not in (None, run.status):
            raise AlreadyFinal(f"run {run_id} is {run.status}; it cannot become {status}.")
        return run

    async def _external_execution(self, run_id: str) -> ExternalExecution:
        """The execution of an external run in progress; raises StoreError if there is none."""
        run_id, execution = await self._find_external(run_id)
        if execution is None:
            self._check_external(await self.get(run_id))
            raise AlreadyFinal(f"run {run_id} has ended; no result can be added to it.")
        return execution

    async def _find_external(self, name: str) -> tuple[str, ExternalExecution | None]:
        """The id and the execution of the run that the caller means. Reads nothing if it is named by its whole id."""
        live = self._core.live_run(name)
        if live is None:
            name = (await self.get(name)).run_id
            live = self._core.live_run(name)
        return name, live.execution if live is not None and isinstance(live.execution, ExternalExecution) else None

    def _check_external(self, run: RunRow) -> None:
        """Raise StoreError if a run is in progress and is no external run of this process."""
        if run.status in FINAL_STATUSES:
            return
        if run.host != self._core.require_host().host_id:
            raise OwnedByOtherHost(f"run {run.run_id} belongs to another process; only that one can add to it.")
        if not run.metadata.get(runs.EXTERNAL):
            raise StoreError(f"run {run.run_id} is executed by its runner here; it takes no results from outside.")

    async def call(self, run_id: str, requested: int, replied: int | None) -> CallRecord:
        """A call of a run, by the positions of its request and its reply."""
        return await self._core.read(lambda conn: read_call(conn, run_id, requested, replied))

    async def part(self, run_id: str, ref: str) -> bytes:
        """A large part of one of the run's entries, by its reference, such as `arguments_ref`.

        Raises NotFound, or PartDamaged if its content has changed since it was stored.
        """
        now = self._core.now()

        def read(conn: Connection) -> bytes:
            if parts.is_used_by(conn, run_id, ref):
                return parts.read(conn, ref)
            # Runs that were recorded by schema 12 or older have their parts as artifacts.
            artifact = artifacts.get(conn, ref, now=now)
            if artifact.run_id != run_id:
                raise NotFound(f"Run {run_id} has no part {ref:.80}.")
            return artifacts.read_range(conn, ref, 0, artifact.size_bytes or 0, now=now)

        return await self._core.read(read)

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
        """Request that a run stops, whichever process hosts it. Raises HostGone if that process has ended."""
        if self._core.host is not None:
            await self._core.host.cancel(run_id)
        else:
            run = await self.get(run_id)
            runs.check_stoppable(run)
            await self._core.requests.stop(run)

    async def stop(self, run_id: str) -> StoppedRun:
        """Cancel a run and wait for its end, whichever process hosts it. Returns its undelivered steering messages."""
        await self.cancel(run_id)
        if self._core.host is not None:
            await self._core.host.wait_for_end(run_id)
        run = await self._wait_for_stored_end(run_id)
        items = await self._core.read(lambda conn: queue.of_run(conn, run_id))
        dropped = (item for item in items if item.mode == Mode.STEER and item.fate == Fate.DROPPED)
        return StoppedRun(run, tuple(dropped))

    async def _wait_for_stored_end(self, run_id: str) -> RunRow:
        """The run once its end is stored, or as it is if its host has ended."""
        run = await self.get(run_id)
        while run.status not in FINAL_STATUSES and await self.has_host(run):
            await asyncio.sleep(END_POLL_SECONDS)
            run = await self.get(run_id)
        return run

    async def close_stale(self, max_idle_seconds: float = STALE_SECONDS) -> list[RunRow]:
        """Close live runs without activity for so long that nothing executes any more. Returns the closed runs.

        Such a run was recorded from outside and not finalized, or its runner ended while the disk refused its end. Each
        host of the database closes its own. A run that is running or paused is never closed; runs of a dead host are
        closed by the next host that opens the database.
        """
        core, closed = self._core, list[str]()
        idle_since = core.now() - int(max_idle_seconds * 1_000_000)
        idle = await core.read(lambda conn: runs.page(conn, idle_since=idle_since, limit=MAX_STALE_RUNS))
        for host_id in dict.fromkeys(run.host for run in idle):
            if core.host is not None and host_id == core.host.host_id:
                closed += [run.run_id for run in await core.host.close_stale(max_idle_seconds)]
                continue
            with suppress(HostGone):
                arguments = {"max_idle_seconds": max_idle_seconds}
                closed += (await core.requests.send(Action.CLOSE_STALE, host_id, None, arguments))["closed"]
        return [await self.get(run_id) for run_id in closed]

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

    async def missing_facts(self, run: RunRow) -> tuple[str, ...]:
        """What the record of a run lacks because an older Trackside made it, as sentences; usually empty."""
        first = await self.journal(run.run_id, after=0, limit=1)
        if not first or first[0].type != EntryKind.RUN_STARTED:
            return ()
        return missing_facts(payload_as(RunStarted, first[0]), Usage.read(run.usage))

    async def has_host(self, run: RunRow) -> bool:
        """Whether the process that hosts a run is alive; if not, the next host to open closes the run."""
        host = run.host
        return host is not None and await self._core.read(lambda conn: hosts.process_of(conn, host)) is not None

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
        idle_since: int | None = None,
    ) -> list[RunRow]:
        """Runs before a run id, newest first; or the runs next after one, oldest first.

        With `idle_since`, a time in microseconds, only live runs without a result or call after that time.
        """
        return await self._core.read(
            lambda conn: runs.page(
                conn,
                before=before,
                after=after,
                limit=limit,
                status=status,
                conversation_id=conversation_id,
                runner_id=runner_id,
                idle_since=idle_since,
            )
        )
