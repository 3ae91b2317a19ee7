"""`trackside stop`: stop a run, also one that another process hosts; or close runs that were left open."""

import argparse
from typing import TYPE_CHECKING, Final

from console.cli.exit_codes import ExitCode, UsageError
from console.cli.options import add_database, add_json, age_in_microseconds, seconds

if TYPE_CHECKING:
    from engine.api import Engine, RunRow

STOP_WAIT_SECONDS: Final = 5
"""The host notices within 150 ms; a runner that ignores the stop is killed after a second."""
POLL_SECONDS: Final = 0.05


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", nargs="?", help="a run's id, a unique beginning of it, or `last`")
    parser.add_argument(
        "--stale",
        nargs="?",
        type=age_in_microseconds,
        const=age_in_microseconds("1h"),
        metavar="AGE",
        help="instead of one run, close all runs without activity for AGE that no process executes (default: 1h)",
    )
    parser.add_argument(
        "--wait",
        nargs="?",
        type=seconds,
        const=STOP_WAIT_SECONDS,
        metavar="S",
        help=f"wait until the run has ended, at most S seconds (default: {STOP_WAIT_SECONDS}); exits 3 if it has not",
    )
    add_json(parser)
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    if (options.run is None) == (options.stale is None):
        raise UsageError("Name one RUN, or use --stale without one. See `trackside stop --help`.")
    return asyncio.run(_stop(options) if options.run is not None else _close_stale(options))


async def _close_stale(options: argparse.Namespace) -> int:
    from console.cli.json_output import print_all
    from console.cli.terminal import standard_output
    from engine.api import Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        closed = await engine.runs.close_stale(options.stale / 1_000_000)
    if options.json:
        print_all(out, closed, as_lines=False)
    for run in () if options.json else closed:
        out.line(f"Closed {run.run_id} as {run.status}.")
    if not closed and not options.json:
        out.line("No run was left open.")
    return ExitCode.OK


async def _stop(options: argparse.Namespace) -> int:
    from console.cli.json_output import print_json, record
    from console.cli.terminal import print_error, standard_output
    from engine.api import Engine, HostGone, HostSilent

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        run_id = (await engine.runs.get(options.run)).run_id
        try:
            await engine.runs.cancel(run_id)
        except (HostGone, HostSilent) as error:
            print_error(str(error))
            return ExitCode.NO
        run = await _wait_for_end(engine, run_id, options.wait or 0)
    if options.json:
        print_json(out, record(run))
    elif run.finished_at is not None:
        out.line(f"{run.run_id} is {run.status}.")
    elif options.wait is None:
        out.line(f"The host of {run.run_id} is stopping it.")
    else:
        out.line(f"{run.run_id} is still {run.status} after {options.wait:g} s.")
    return ExitCode.OK if options.wait is None or run.finished_at is not None else ExitCode.TIMEOUT


async def _wait_for_end(engine: "Engine", run_id: str, timeout_seconds: float) -> "RunRow":
    import asyncio

    until = asyncio.get_running_loop().time() + timeout_seconds
    while True:
        run = await engine.runs.get(run_id)
        if run.finished_at is not None or asyncio.get_running_loop().time() >= until:
            return run
        await asyncio.sleep(POLL_SECONDS)
