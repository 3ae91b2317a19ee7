"""`trackside stop`: stop a run, also one that another process hosts."""

import argparse
from typing import TYPE_CHECKING, Final

from console.cli.exit_codes import ExitCode
from console.cli.options import add_database, add_json, seconds

if TYPE_CHECKING:
    from engine.api import Engine, RunRow

STOP_WAIT_SECONDS: Final = 5
"""The host notices within 0.5 s; a runner that ignores the stop is killed after another."""
POLL_SECONDS: Final = 0.05


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run's id, a unique beginning of it, or `last`")
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

    return asyncio.run(_stop(options))


async def _stop(options: argparse.Namespace) -> int:
    from console.cli.json_output import print_json, record
    from console.cli.terminal import standard_output
    from engine.api import Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        asked = await engine.runs.get(options.run)
        await engine.runs.cancel(asked.run_id)
        is_hosted = await engine.runs.has_host(asked)
        run = await _wait_for_end(engine, asked.run_id, (options.wait or 0) if is_hosted else 0)
    if options.json:
        print_json(out, record(run))
    elif run.finished_at is not None:
        out.line(f"{run.run_id} is {run.status}.")
    elif not is_hosted:
        out.line(
            f"The process that hosted {run.run_id} is gone. The next `trackside run` on this database closes the run."
        )
    elif options.wait is None:
        out.line(f"Asked the host of {run.run_id} to stop it. It reads the request within half a second.")
    else:
        out.line(f"{run.run_id} is still {run.status} after {options.wait:g} s.")
    if options.wait is None or run.finished_at is not None:
        return ExitCode.OK
    return ExitCode.TIMEOUT if is_hosted else ExitCode.NO


async def _wait_for_end(engine: "Engine", run_id: str, timeout_seconds: float) -> "RunRow":
    import asyncio

    until = asyncio.get_running_loop().time() + timeout_seconds
    while True:
        run = await engine.runs.get(run_id)
        if run.finished_at is not None or asyncio.get_running_loop().time() >= until:
            return run
        await asyncio.sleep(POLL_SECONDS)
