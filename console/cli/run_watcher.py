"""Hosts one run and prints its journal as it is committed."""

import argparse
import asyncio
import contextlib
import shlex
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from console.cli.exit_codes import HOST_REASONS, ExitCode, UsageError, exit_code_of_run
from console.cli.narrator import Narrator
from console.cli.options import session_option
from console.cli.progress import open_host
from console.cli.run import REHEARSAL, check_session_name, envelope_of, has_no_input, run_options_of
from console.cli.signals import SignalHandler
from console.cli.terminal import Output, print_error, standard_output
from console.model.text.safe import safe
from engine.api import AlreadyFinal, Engine, Entry, RunOptions, RunOrder, RunRow, Status, Ticket, project_database
from engine.events import LAST_KIND, EntryKind

if TYPE_CHECKING:
    from console.cli.debug_prompt import DebugPrompt
    from console.cli.scheduled_messages import MessageScheduler


async def watch(options: argparse.Namespace) -> int:
    """Run one event. The first signal stops the run and waits for its end, a second one exits at once."""
    with SignalHandler() as signals:
        try:
            async with await open_host(options.target, options.db) as engine:
                run_options = run_options_of(options)
                if options.session is not None:
                    options.session = await session_of(engine, options.session)
                order = _order(engine, run_options, options)
                watcher = _RunWatcher(engine, order, options, signals)
                if options.steer or options.after or options.breakpoints:
                    watcher.accept_messages(run_options)
                return await watcher.watch_all()
        except asyncio.CancelledError:
            if signals.number is None:
                raise
            return ExitCode.INTERRUPTED


async def session_of(engine: Engine, name: str) -> str:
    """Return the id of the named session, and report if it is new."""
    from console.data.session_names import session_named

    check_session_name(name)
    session, remark = await session_named(engine, name)
    if remark:
        print_error(remark)
    return session


def _order(engine: Engine, run_options: RunOptions, options: argparse.Namespace) -> RunOrder:
    order = engine.runs.prepare(envelope_of(engine, options), run_options)
    if has_no_input(options) and order.binding.runner_id != REHEARSAL:
        raise UsageError(
            "the runner needs a message or an event. Add -m TEXT (-m - reads standard input), or --event FILE."
        )
    if engine.settings.has_unused(order):
        name = order.binding.agent_id or order.binding.runner_id
        print_error(f"settings saved in the console for {name} are not used. Add --saved to use them.")
    return order


class _RunWatcher:
    """Watches the run of an order and the runs of the messages sent beside it, and computes the exit code."""

    def __init__(self, engine: Engine, order: RunOrder, options: argparse.Namespace, signals: SignalHandler) -> None:
        self._engine = engine
        self._order = order
        self._options = options
        self._signals = signals
        self._out = standard_output()
        self._is_json: bool = options.jsonl
        self._row = 0
        """The global row of the last printed entry."""
        self._stopping = asyncio.Event()
        self._has_traceback = False
        self._scheduler: MessageScheduler | None = None
        self._prompt: DebugPrompt | None = None

    def accept_messages(self, run_options: RunOptions) -> None:
        """Send the messages of --steer and --after, and ask for a command whenever the run is paused."""
        from console.cli.scheduled_messages import MessageScheduler  # not loaded by a plain run

        self._scheduler = MessageScheduler(self._engine, self._order, run_options, self._options)
        if self._options.breakpoints:
            from console.cli.debug_prompt import DebugPrompt

            self._prompt = DebugPrompt(self._engine, self._scheduler, self._out, is_json=self._is_json)

    async def watch_all(self) -> int:
        if not self._is_json and self._options.target is None and self._options.runner is None:
            self._print_default_runner()
        self._row = await self._engine.last_row()
        self._signals.stop = self._stopping.set
        ticket = await self._engine.runs.submit(self._order)
        if ticket.waits_for is not None:
            print_error(
                f"session {self._order.envelope.conversation_id} is busy with {ticket.waits_for}; waiting for its end."
            )
        try:
            return await self._watch_runs(ticket)
        finally:
            if self._scheduler is not None:
                await self._scheduler.close()

    async def _watch_runs(self, ticket: Ticket) -> int:
        run_id = await self._started(ticket)
        if run_id is None:
            return ExitCode.INTERRUPTED
        if ticket.is_repeat:
            return await self._show_first_run(ticket, run_id)
        if self._scheduler is not None:
            self._scheduler.start(run_id, self._row)
        code, run = int(ExitCode.OK), None
        async for run in self._runs(run_id):
            run_code = self._exit_code_of(run)
            code = code or run_code
            if run.finished_at is None:
                return code
        if not self._is_json and run is not None:
            self._print_hints(run)
        if self._signals.number is not None and code != ExitCode.OK:
            return ExitCode.INTERRUPTED
        return code

    async def _runs(self, run_id: str) -> AsyncIterator[RunRow]:
        """Yield the ended run of the event, then those of the messages sent beside it."""
        yield await self._watch_run(run_id)
        while self._scheduler is not None and (ticket := await self._scheduler.next()) is not None:
            if (started := await self._started(ticket)) is not None:
                if not self._is_json:
                    self._out.line()
                yield await self._watch_run(started)

    async def _started(self, ticket: Ticket) -> str | None:
        """Wait until the run starts and return its id; None if a signal came first."""
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({ticket.started, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
        if not ticket.started.done() and self._scheduler is not None:
            await self._scheduler.withdraw()
        return ticket.started.result() if ticket.started.done() and not ticket.started.cancelled() else None

    async def _watch_run(self, run_id: str) -> RunRow:
        self._has_traceback = False
        following = asyncio.ensure_future(self._follow(run_id))
        ending = asyncio.ensure_future(self._ended(run_id))
        beside = set() if self._prompt is None else {asyncio.ensure_future(self._prompt.serve(run_id))}
        try:
            # A paused run waits for the prompt: if the prompt fails, the run would wait for ever.
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
        finished = asyncio.ensure_future(self._engine.runs.wait_for_end(run_id))
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({finished, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if self._stopping.is_set() and self._scheduler is not None:
                await self._scheduler.withdraw()  # before the stop: the end of this run would start the next
            if not finished.done():
                with contextlib.suppress(AlreadyFinal):  # it ended meanwhile
                    await self._engine.runs.cancel(run_id)
            return await finished
        finally:
            stopping.cancel()
            finished.cancel()

    async def _follow(self, run_id: str) -> None:
        print_entries = printer(self._out, is_json=self._is_json)
        async with self._engine.subscribe(self._row, run_id=run_id) as batches:
            async for batch in batches:
                entries = [committed.entry for committed in batch]
                # In a thread: a slow reader of the output must not delay the run.
                await asyncio.to_thread(print_entries, entries)
                self._row = batch[-1].row
                self._has_traceback = self._has_traceback or any(_is_traceback(entry) for entry in entries)
                if self._prompt is not None:
                    self._prompt.note_printed(entries)
                if entries[-1].type == LAST_KIND:
                    return

    async def _show_first_run(self, ticket: Ticket, run_id: str) -> int:
        """Print the first run of an event that was submitted before; nothing is started."""
        if not run_id:
            raise UsageError(
                f"event {ticket.event_id} was submitted before, and is still queued or was dropped. "
                "Use another event_id."
            )
        print_error(f"event {ticket.event_id} was submitted before. This is its first run; nothing was started.")
        run = await self._engine.runs.get(run_id)
        print_entries = printer(self._out, is_json=self._is_json)
        async for page in read_pages(self._engine, run_id):
            print_entries(page)
        return exit_code_of_run(run.status, run.status_reason)

    def _exit_code_of(self, run: RunRow) -> int:
        if run.finished_at is None:
            print_error(str(self._engine.last_error or f"the end of {run.run_id} could not be written."))
            return ExitCode.NO
        if run.status_reason in HOST_REASONS and (self._is_json or not self._out.is_terminal):
            print_error(self._why(str(run.metadata.get("error", ""))))
        return exit_code_of_run(run.status, run.status_reason)

    def _why(self, error: str) -> str:
        if not self._has_traceback:
            return error
        return (
            f"{self._order.launch.path} does not load: {error}. Fix it, or name an interpreter that has "
            "its dependencies with --python."
        )

    def _print_hints(self, run: RunRow) -> None:
        if self._options.ephemeral:
            return  # the run is gone with its database
        database = self._engine.database_path
        is_usual = database.absolute() == project_database(Path.cwd()).absolute()
        where = "" if is_usual else f" --db {shlex.quote(str(self._options.db or database))}"
        hints = [f"Show it again: trackside show last{where}"]
        if run.conversation_id is not None and run.status == Status.COMPLETED:
            hints.append(f"Continue:      trackside run … {session_option(run.conversation_id)}")
        self._out.line(self._out.paint("dim", safe("\n".join(hints))))

    def _print_default_runner(self) -> None:
        if self._order.binding.runner_id == REHEARSAL:
            hint = "No target, so this is the bundled runner rehearsal. To run your own: trackside run FILE.py -m TEXT"
            self._out.line(self._out.paint("dim", hint))


def printer(out: Output, *, is_json: bool) -> Callable[[list[Entry]], None]:
    """Return a function that prints entries: as JSON lines, or as text."""
    if is_json:
        return lambda entries: out.write_lines([entry.line() for entry in entries])
    narrator = Narrator(out.paint, out.width)
    return lambda entries: out.write(narrator.format(entries))


async def read_pages(engine: Engine, run_id: str) -> AsyncIterator[list[Entry]]:
    """Yield the entries of a run's journal, page by page."""
    after = 0
    while page := await engine.runs.journal(run_id, after=after, limit=500):
        yield page
        after = page[-1].position


def _is_traceback(entry: Entry) -> bool:
    return entry.type == EntryKind.OUTPUT and entry.data.startswith('{"stream":"traceback"')
