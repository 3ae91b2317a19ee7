"""`trackside fork`: go on from an earlier line, in a session of its own."""

import argparse

from console.cli.options import add_database, add_json, sound


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION", help="a session's id, or `last` for the one that was active last")
    parser.add_argument(
        "--at",
        type=_line,
        metavar="LINE",
        help="the last line to keep, as `trackside transcript` numbers it (not said: all that was said)",
    )
    parser.add_argument("--title", type=sound, metavar="T", help="what to call the new session")
    add_json(parser)
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_fork(options))


async def _fork(options: argparse.Namespace) -> int:
    import shlex

    from console.cli.exits import Exit
    from console.cli.records import print_json, record
    from console.cli.terminal import standard_output
    from console.model.safe import safe
    from console.model.words import number
    from engine.api import Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        parent = (await engine.session(options.session)).session.session_id
        child = await engine.fork_session(parent, at=options.at, title=options.title)
        lines = (await engine.session(child.session_id)).history_length
    if options.json:
        print_json(out, record(child))
    else:
        where = f" --db {shlex.quote(str(options.db))}" if options.db else ""
        out.line(
            f"Forked {parent} into {child.session_id}: {number(lines, 'line')} and the state of then. Now:\n\n"
            f"  trackside run --session {child.session_id} -m TEXT{safe(where)}"
        )
    return Exit.OK


def _line(text: str) -> int | str:
    """A line's number, or its id as JSON has it."""
    return int(text) if text.isdecimal() else sound(text)
