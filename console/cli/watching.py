"""Hosts one run and tells it as it is committed, to its end or to the reader's patience."""

import argparse
import asyncio
import contextlib
import shlex
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from console.cli.exits import BEYOND_THE_RUNNER, Exit, UsageError, exit_of
from console.cli.interruption import Interruption
from console.cli.narrator import Narrator
from console.cli.run import REHEARSAL, choice_of, event_of, refuse_no_name, says_nothing
from console.cli.terminal import Output, complain, standard_output
from console.model.safe import safe
from engine.api import AlreadyFinal, Choice, Engine, Entry, RunOrder, RunRow, Status, Ticket, usual_database

if TYPE_CHECKING:
    from console.cli.holding import Holding
    from console.cli.speaking import Speaker

LAST: Final = "run.finished"
"""Every run's last entry."""


async def watch(options: argparse.Namespace) -> int:
    """Run one event. A first signal cancels the run and waits for its end, a second one gives up."""
    with Interruption() as interruption:
        try:
            async with await Engine.open(options.target, db=options.db) as engine:
                choice = choice_of(options)
                if options.session is not None:
                    options.session = await _session_of(engine, options.session)
                order = _order(engine, choice, options)
                watching = _Watch(engine, order, options, interruption)
                if options.steer or options.after or options.hold:
                    watching.listen_to_a_person(choice)
                return await watching.to_the_end()
        except asyncio.CancelledError:
            if interruption.number is None:
                raise
            return interruption.exit_code


async def _session_of(engine: Engine, name: str) -> str:
    """The id of the session that was named; of one that is new it is said."""
    from console.naming import session_named

    refuse_no_name(name)
    session, remark = await session_named(engine, name)
    if remark:
        complain(remark)
    return session


def _order(engine: Engine, choice: Choice, options: argparse.Namespace) -> RunOrder:
    order = engine.prepare(event_of(engine, options), choice)
    if says_nothing(options) and order.binding.runner_id != REHEARSAL:
        raise UsageError(
            "there is nothing to say to the runner. Add -m TEXT (-m - reads standard input), or --event FILE."
        )
    if engine.has_unused_settings(order):
        name = order.binding.agent_id or order.binding.runner_id
        complain(f"settings are kept for {name}, and are not used here. --kept uses them.")
    return order


class _Watch:
    """From an order to the exit code: its run, and those of what was said beside it."""

    def __init__(
        self, engine: Engine, order: RunOrder, options: argparse.Namespace, interruption: Interruption
    ) -> None:
        self._engine = engine
        self._order = order
        self._options = options
        self._interruption = interruption
        self._out = standard_output()
        self._is_json: bool = options.jsonl
        self._row = 0
        """What has been printed, as a global row."""
        self._stopping = asyncio.Event()
        self._has_traceback = False
        self._speaker: Speaker | None = None
        self._holding: Holding | None = None

    def listen_to_a_person(self, choice: Choice) -> None:
        """Say what the options want said, and ask where the run is held."""
        from console.cli.speaking import Speaker  # what a plain run need not wait for

        self._speaker = Speaker(self._engine, self._order, choice, self._options)
        if self._options.hold:
            from console.cli.holding import Holding

            self._holding = Holding(self._engine, self._speaker, self._out, is_json=self._is_json)

    async def to_the_end(self) -> int:
        if not self._is_json and self._options.target is None and self._options.runner is None:
            self._say_what_runs()
        self._row = await self._engine.last_row()
        self._interruption.stop = self._stopping.set
        ticket = await self._engine.submit(self._order)
        if ticket.waits_for is not None:
            complain(f"session {self._order.envelope.conversation_id} is busy with {ticket.waits_for}; waiting for it.")
        try:
            return await self._all_runs(ticket)
        finally:
            if self._speaker is not None:
                await self._speaker.close()

    async def _all_runs(self, ticket: Ticket) -> int:
        run_id = await self._started(ticket)
        if run_id is None:
            return self._interruption.exit_code
        if ticket.is_repeat:
            return await self._first_run_of(ticket, run_id)
        if self._speaker is not None:
            self._speaker.begin(run_id, self._row)
        code, run = int(Exit.OK), None
        async for run in self._runs(run_id):
            ended_as = self._exit_of(run)
            code = code or ended_as
            if run.finished_at is None:
                return code
        if not self._is_json and run is not None:
            self._say_what_next(run)
        if self._interruption.number is not None and code != Exit.OK:
            return self._interruption.exit_code
        return code

    async def _runs(self, run_id: str) -> AsyncIterator[RunRow]:
        """The event's run, and then those of what was said beside it, each at its end."""
        yield await self._to_its_end(run_id)
        while self._speaker is not None and (said := await self._speaker.next()) is not None:
            if (started := await self._started(said)) is not None:
                if not self._is_json:
                    self._out.line()
                yield await self._to_its_end(started)

    async def _started(self, ticket: Ticket) -> str | None:
        """The run's id, once it has its slot; none if a signal came first."""
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({ticket.started, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
        if not ticket.started.done() and self._speaker is not None:
            await self._speaker.withdraw()
        return ticket.started.result() if ticket.started.done() and not ticket.started.cancelled() else None

    async def _to_its_end(self, run_id: str) -> RunRow:
        self._has_traceback = False
        following = asyncio.ensure_future(self._follow(run_id))
        ending = asyncio.ensure_future(self._ended(run_id))
        beside = set() if self._holding is None else {asyncio.ensure_future(self._holding.attend(run_id))}
        try:
            # A run that is held waits for whoever attends it: where that breaks, it would wait for ever.
            done, _ = await asyncio.wait({ending, *beside}, return_when=asyncio.FIRST_COMPLETED)
            for task in done & beside:
                task.result()
            run = await ending
            if run.finished_at is not None:
                await following
            return run
        finally:
            for task in (following, ending, *beside):
                task.cancel()

    async def _ended(self, run_id: str) -> RunRow:
        finished = asyncio.ensure_future(self._engine.finished(run_id))
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({finished, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if self._stopping.is_set() and self._speaker is not None:
                await self._speaker.withdraw()  # first: the end of this run would let the next begin
            if not finished.done():
                with contextlib.suppress(AlreadyFinal):  # it ended as the signal came
                    await self._engine.cancel(run_id)
            return await finished
        finally:
            stopping.cancel()
            finished.cancel()

    async def _follow(self, run_id: str) -> None:
        printed = printer(self._out, is_json=self._is_json)
        async with self._engine.subscribe(self._row, run_id=run_id) as news:
            async for batch in news:
                entries = [told.entry for told in batch]
                # In a thread: a reader that is slow or has paused must not hold up the run.
                await asyncio.to_thread(printed, entries)
                self._row = batch[-1].row
                self._has_traceback = self._has_traceback or any(_is_traceback(entry) for entry in entries)
                if self._holding is not None:
                    self._holding.told(entries)
                if entries[-1].type == LAST:
                    return

    async def _first_run_of(self, ticket: Ticket, run_id: str) -> int:
        """The event was seen before: nothing runs, its first run is shown again."""
        complain(f"event {ticket.event_id} was seen before; this is its first run. Nothing was started.")
        if not run_id:
            raise UsageError(
                f"event {ticket.event_id} still waits for its session, or was dropped. Give it another event_id."
            )
        run = await self._engine.run(run_id)
        printed = printer(self._out, is_json=self._is_json)
        async for page in pages(self._engine, run_id):
            printed(page)
        return exit_of(run.status, run.status_reason)

    def _exit_of(self, run: RunRow) -> int:
        if run.finished_at is None:
            complain(str(self._engine.trouble or f"the end of {run.run_id} could not be written."))
            return Exit.FAILED
        if run.status_reason in BEYOND_THE_RUNNER and (self._is_json or not self._out.is_terminal):
            complain(self._why(str(run.metadata.get("error", ""))))
        return exit_of(run.status, run.status_reason)

    def _why(self, error: str) -> str:
        if not self._has_traceback:
            return error
        return (
            f"{self._order.launch.path} does not load: {error}. Mend it, or name an interpreter that has "
            "what it needs with --python."
        )

    def _say_what_next(self, run: RunRow) -> None:
        database = self._engine.database_path
        is_usual = database.absolute() == usual_database(Path.cwd()).absolute()
        where = "" if is_usual else f" --db {shlex.quote(str(self._options.db or database))}"
        hints = [f"look again: trackside show last{where}"]
        if run.conversation_id is not None and run.status == Status.COMPLETED:
            hints.append(f"go on:      trackside run … --session {run.conversation_id}")
        self._out.line(self._out.paint("dim", safe("\n".join(hints))))

    def _say_what_runs(self) -> None:
        if self._order.binding.runner_id == REHEARSAL:
            said = "No target, so this is the bundled rehearsal. Your own: trackside run FILE.py -m TEXT"
            self._out.line(self._out.paint("dim", said))


def printer(out: Output, *, is_json: bool) -> Callable[[list[Entry]], None]:
    """Writes entries: as JSON lines, or told to a person."""
    if is_json:
        return lambda entries: out.write_lines([entry.line() for entry in entries])
    narrator = Narrator(out.paint, out.width)
    return lambda entries: out.write(narrator.tell(entries))


async def pages(engine: Engine, run_id: str) -> AsyncIterator[list[Entry]]:
    """A run's journal as it stands, page by page."""
    after = 0
    while page := await engine.journal(run_id, after=after, limit=500):
        yield page
        after = page[-1].position


def _is_traceback(entry: Entry) -> bool:
    return entry.type == "output" and entry.data.startswith('{"stream":"traceback"')
