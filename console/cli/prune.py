"""`trackside prune`: delete by age, after a question."""

import argparse
from typing import TYPE_CHECKING

from console.cli.cleanup import CLEANUP_SECONDS, NOT_CLEAN
from console.cli.confirm import confirm
from console.cli.exit_codes import ExitCode
from console.cli.options import add_database, add_json, age_in_microseconds
from console.cli.terminal import standard_output

if TYPE_CHECKING:
    from engine.api import Deleted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--older-than", required=True, type=age_in_microseconds, metavar="AGE", help="such as 30d (also s, m, h, w)"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask")
    add_json(parser)
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_prune(options))


async def _prune(options: argparse.Namespace) -> int:
    from dataclasses import asdict

    from console.cli.json_output import print_json
    from engine.api import Engine
    from engine.events import rfc3339

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        until = max(0, engine.now() - options.older_than)
        day = rfc3339(until)[:19].replace("T", " ")
        what = "events, transcript, and ended runs with their artifacts"
        question = f"Delete {what} older than {day} UTC in {engine.database_path}?"
        if not options.yes and not confirm(question, command="prune"):
            out.line("Nothing was deleted.")
            return ExitCode.NO
        deleted = await engine.prune(until)
        is_clean = await engine.finish_cleanup(CLEANUP_SECONDS)
    if options.json:
        print_json(out, {"older_than": rfc3339(until), "deleted": asdict(deleted)})
    else:
        out.line(f"Deleted what was older than {day} UTC: {_counts(deleted)}.")
        if not is_clean:
            out.line(NOT_CLEAN)
    return ExitCode.OK


def _counts(deleted: "Deleted") -> str:
    from console.model.text.units import number

    counts = (
        number(deleted.runs, "run"),
        number(deleted.journal, "journal entry", "journal entries"),
        number(deleted.events, "event"),
        number(deleted.transcript, "line", "lines") + " of transcript",
        number(deleted.artifacts, "artifact"),
    )
    return ", ".join(counts)
