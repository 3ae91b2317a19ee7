"""`trackside prune`: delete by age, after asking."""

import argparse
from typing import TYPE_CHECKING

from console.cli.asking import agreed
from console.cli.exits import Exit
from console.cli.options import add_database, add_json, how_old
from console.cli.terminal import standard_output

if TYPE_CHECKING:
    from engine.api import Deleted


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--older-than", required=True, type=how_old, metavar="AGE", help="as in 30d (also s, m, h, w)")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    add_json(parser)
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_prune(options))


async def _prune(options: argparse.Namespace) -> int:
    from dataclasses import asdict

    from console.cli.records import print_json
    from engine.api import Engine
    from engine.events import rfc3339

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        until = max(0, engine.now() - options.older_than)
        day = rfc3339(until)[:19].replace("T", " ")
        question = f"Delete events, transcript and ended runs from before {day} UTC in {engine.database_path}?"
        if not options.yes and not agreed(question, command="prune"):
            out.line("Nothing was deleted.")
            return Exit.CANCELLED
        deleted = await engine.prune(until)
    if options.json:
        print_json(out, {"older_than": rfc3339(until), "deleted": asdict(deleted)})
    else:
        out.line(f"Deleted from before {day} UTC: {_what(deleted)}.")
    return Exit.OK


def _what(deleted: "Deleted") -> str:
    from console.model.words import number

    counts = (
        number(deleted.runs, "run"),
        number(deleted.journal, "journal entry", "journal entries"),
        number(deleted.events, "event"),
        number(deleted.transcript, "line", "lines") + " of transcript",
        number(deleted.artifacts, "artifact"),
    )
    return ", ".join(counts)
