"""`trackside record`: record a run that is executed elsewhere, with its results as JSON lines on standard input."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from console.cli.exit_codes import ExitCode, UsageError, exit_code_of_run
from console.cli.options import add_database, add_jsonl, seconds

if TYPE_CHECKING:
    from console.cli.signals import SignalHandler
    from engine.api import Engine, RunRow


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target", nargs="?", type=Path, metavar="TARGET",
        help="the runner file, plugin folder or project folder of the runner (default: the working folder's)",
    )  # fmt: skip
    what = parser.add_mutually_exclusive_group()
    what.add_argument("-m", "--message", metavar="TEXT", help="the message that the run answers")
    what.add_argument("--event", metavar="FILE", help="the event that the run answers, as JSON or YAML")
    parser.add_argument("--runner", metavar="NAME", help="an agent, a runner's id or its short name")
    parser.add_argument("--session", metavar="ID", help="the session of the run (default: a new one)")
    parser.add_argument(
        "--run-id", metavar="ID", help="the id of the run where it is executed, if its results carry that id"
    )
    parser.add_argument("--timeout", type=seconds, metavar="S", help="deadline of the run in seconds; 0 means none")
    add_jsonl(parser, "journal entry")
    add_database(parser)
    # The run has no process here, so these options of `run` have no meaning.
    parser.set_defaults(attach=[], set=[], param=[], saved=False, env=[], python=None, breakpoints=[])


def perform(options: argparse.Namespace) -> int:
    import asyncio

    if options.message is None and options.event is None:
        raise UsageError("the run needs the message that it answers. Add -m TEXT, or --event FILE.")
    if "-" in (options.message, options.event):
        raise UsageError("standard input has the results, so the message or event cannot come from there.")
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("the results are read from standard input: COMMAND | trackside record …")
    return asyncio.run(_record(options))


async def _record(options: argparse.Namespace) -> int:
    import asyncio

    from console.cli.progress import open_host
    from console.cli.run import envelope_of, run_options_of
    from console.cli.run_watcher import session_of
    from console.cli.signals import SignalHandler

    with SignalHandler() as signals:
        try:
            async with await open_host(options.target, options.db) as engine:
                if options.session is not None:
                    options.session = await session_of(engine, options.session)
                row = await engine.last_row()
                envelope, run_options = envelope_of(engine, options), run_options_of(options)
                run = await engine.runs.create(envelope, run_options, external_id=options.run_id)
                following = asyncio.ensure_future(_print_entries(engine, run.run_id, row, is_json=options.jsonl))
                try:
                    run = await _record_results(engine, run.run_id, signals)
                    await following
                finally:
                    following.cancel()
                return _exit_code(run, signals)
        except asyncio.CancelledError:
            if signals.number is None:
                raise
            return ExitCode.INTERRUPTED


async def _record_results(engine: "Engine", run_id: str, signals: "SignalHandler") -> "RunRow":
    """Add results until the input or the run ends, or a signal stops the run. Returns the run with its end."""
    import asyncio
    from contextlib import suppress

    from engine.api import AlreadyFinal

    stopping = asyncio.Event()
    signals.stop = stopping.set
    tasks: list[asyncio.Task[object]] = [
        asyncio.ensure_future(_append_lines(engine, run_id)),
        asyncio.ensure_future(stopping.wait()),
        asyncio.ensure_future(engine.runs.wait_for_end(run_id)),
    ]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        with suppress(AlreadyFinal):  # the run was stopped, or its deadline has passed
            if stopping.is_set():
                await engine.runs.cancel(run_id)
            elif tasks[0].done():
                tasks[0].result()
        return await engine.runs.finalize(run_id)
    finally:
        for task in tasks:
            task.cancel()


async def _append_lines(engine: "Engine", run_id: str) -> None:
    from console.cli.stdin_lines import stdin_lines

    async for line in stdin_lines():
        if line and not line.isspace():
            await engine.runs.append_line(run_id, line)


async def _print_entries(engine: "Engine", run_id: str, row: int, *, is_json: bool) -> None:
    import asyncio

    from console.cli.run_watcher import printer
    from console.cli.terminal import standard_output
    from engine.events import LAST_KIND

    print_entries = printer(standard_output(), is_json=is_json)
    async with engine.subscribe(row, run_id=run_id) as batches:
        async for batch in batches:
            await asyncio.to_thread(print_entries, [committed.entry for committed in batch])
            if batch[-1].entry.type == LAST_KIND:
                return


def _exit_code(run: "RunRow", signals: "SignalHandler") -> int:
    from console.cli.terminal import print_error

    if run.status_reason == "protocol.error":
        print_error(f"{run.metadata.get('error')}. If it is the run's id elsewhere, name it with --run-id.")
    if signals.number is not None:
        return ExitCode.INTERRUPTED
    return exit_code_of_run(run.status, run.status_reason)
