"""`trackside show`: a run again, as it was told the first time."""

import argparse
from typing import TYPE_CHECKING

from console.cli.exits import Exit
from console.cli.options import add_database, add_json, add_jsonl

if TYPE_CHECKING:
    from console.cli.terminal import Output


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run's id, a unique beginning of it, or `last`")
    parser.add_argument("--calls", action="store_true", help="list what the runner asked of its host, and the answers")
    add_jsonl(parser, "journal entry, or call,")
    add_json(parser)
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_show(options))


async def _show(options: argparse.Namespace) -> int:
    from console.cli.records import print_json, record
    from console.cli.terminal import standard_output
    from console.cli.watching import pages, printer
    from engine.api import Engine

    out = standard_output()
    if options.calls:
        return await _show_calls(options, out)
    async with await Engine.open(db=options.db, mode="read") as engine:
        run = await engine.run(options.run)
        if options.json and not options.jsonl:
            print_json(out, record(run))
            return 0
        tell = printer(out, is_json=options.jsonl)
        async for page in pages(engine, run.run_id):
            tell(page)
            if out.is_gone:
                return Exit.OK
        if run.finished_at is None and not options.jsonl:
            out.line(f"\n● {run.status}: this is what there is so far.")
    return 0


async def _show_calls(options: argparse.Namespace, out: "Output") -> int:
    from console.cli.calls import CallPrinter, CallsInOrder
    from console.cli.watching import pages
    from engine.api import Engine

    printer = CallPrinter(out, as_array=options.json, as_lines=options.jsonl)
    calls = CallsInOrder()
    async with await Engine.open(db=options.db, mode="read") as engine:
        run = await engine.run(options.run)
        async for page in pages(engine, run.run_id):
            printer.write(list(calls.take(page)))
            if out.is_gone:
                return Exit.OK
    printer.write(calls.rest())
    printer.close()
    return Exit.OK
