"""`trackside cancel`: stop a run, whichever process hosts it."""

import argparse
from typing import TYPE_CHECKING, Final

from console.cli.exits import Exit
from console.cli.options import add_database, add_json, seconds

if TYPE_CHECKING:
    from engine.api import Engine, RunRow

PATIENCE: Final = 5
"""Seconds: its host notices within half a one, and a runner that ignores a cancel is killed after another."""
LOOK: Final = 0.05


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run's id, a unique beginning of it, or `last`")
    parser.add_argument(
        "--wait",
        nargs="?",
        type=seconds,
        const=PATIENCE,
        metavar="S",
        help=f"wait for its end, {PATIENCE} s or so many",
    )
    add_json(parser)
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_cancel(options))


async def _cancel(options: argparse.Namespace) -> int:
    from console.cli.records import print_json, record
    from console.cli.terminal import standard_output
    from engine.api import Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        asked = await engine.run(options.run)
        await engine.cancel(asked.run_id)
        is_hosted = await engine.has_host(asked)
        run = await _wait(engine, asked.run_id, (options.wait or 0) if is_hosted else 0)
    if options.json:
        print_json(out, record(run))
    elif run.finished_at is not None:
        out.line(f"{run.run_id} is {run.status}.")
    elif not is_hosted:
        out.line(
            f"The process that hosted {run.run_id} is gone: the next `trackside run` on this database closes the run."
        )
    elif options.wait is None:
        out.line(f"Asked {run.run_id} to stop; its host notices within half a second.")
    else:
        out.line(f"{run.run_id} is still {run.status} after {options.wait:g} s.")
    return Exit.FAILED if options.wait is not None and run.finished_at is None else Exit.OK


async def _wait(engine: "Engine", run_id: str, patience: float) -> "RunRow":
    import asyncio

    until = asyncio.get_running_loop().time() + patience
    while True:
        run = await engine.run(run_id)
        if run.finished_at is not None or asyncio.get_running_loop().time() >= until:
            return run
        await asyncio.sleep(LOOK)
