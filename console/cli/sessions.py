"""`trackside sessions`: list sessions, most recently active first; rename, delete and fork one."""

import argparse
from typing import TYPE_CHECKING

from console.cli.cleanup import CLEANUP_SECONDS, NOT_CLEAN
from console.cli.confirm import confirm
from console.cli.exit_codes import ExitCode
from console.cli.options import add_database, add_json, add_jsonl, count, replace_invalid_utf8
from console.model.text.units import number

if TYPE_CHECKING:
    from engine.api import Deleted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "trackside sessions [-h] [--limit N] [--before ID] [--user ID] [--json] [--jsonl] [--db PATH]\n"
        "       trackside sessions rename ID TITLE [--json] [--db PATH]\n"
        "       trackside sessions delete ID [--yes] [--json] [--db PATH]\n"
        "       trackside sessions fork ID [--at LINE] [--title T] [--json] [--db PATH]"
    )
    parser.add_argument("--limit", type=count, default=20, metavar="N", help="maximum number of sessions (default: 20)")
    parser.add_argument("--before", metavar="ID", help="only sessions that were active before this one was")
    parser.add_argument("--user", metavar="ID", help="only sessions of this user")
    add_json(parser)
    add_jsonl(parser, "session")
    add_database(parser)
    changes = parser.add_subparsers(
        title="changes", metavar="rename | delete | fork", prog="trackside sessions", required=False
    )
    renaming = _change(changes, "rename", "give a session another title")
    renaming.add_argument(
        "title", nargs="+", type=replace_invalid_utf8, metavar="TITLE", help="the new title; '' removes it"
    )
    renaming.set_defaults(perform=_perform_rename)
    deleting = _change(changes, "delete", "delete a session with its transcript, state, artifacts and runs")
    deleting.add_argument("--yes", action="store_true", default=False, help="do not ask")
    deleting.set_defaults(perform=_perform_delete)
    forking = _change(changes, "fork", "continue from an earlier line in a new session")
    forking.add_argument(
        "--at",
        type=_line,
        default=None,
        metavar="LINE",
        help="the last line of the transcript to copy (default: all)",
    )
    forking.add_argument(
        "--title", type=replace_invalid_utf8, default=None, metavar="T", help="the title of the new session"
    )
    forking.set_defaults(perform=_perform_fork)


def _change(
    changes: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, summary: str
) -> argparse.ArgumentParser:
    about = summary[0].upper() + summary[1:] + "."
    # Without own defaults, options before the verb stay in force: `sessions --db PATH delete ID`.
    parser = changes.add_parser(
        name, help=summary, description=about, allow_abbrev=False, argument_default=argparse.SUPPRESS
    )
    parser.add_argument("session", metavar="ID", help="a session's id, or `last` for the most recently active one")
    add_json(parser)
    add_database(parser)
    return parser


def perform(options: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_list(options))


def _perform_rename(options: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_rename(options))


def _perform_delete(options: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_delete(options))


async def _list(options: argparse.Namespace) -> int:
    from console.cli.json_output import print_all
    from console.cli.table import table
    from console.cli.terminal import standard_output
    from console.model.sessions.tree import SessionNode, SessionTree
    from console.model.text.safe import one_line
    from console.model.text.units import ago
    from engine.api import Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        before = (await engine.sessions.get(options.before)).session.session_id if options.before else None
        edge = next(iter(await engine.sessions.browse(ids=[before], limit=1)), None) if before else None
        found = await engine.sessions.browse(user_id=options.user, before=edge, limit=options.limit)
        now = engine.now()

    def row(node: SessionNode) -> tuple[str, ...]:
        session = node.row.session
        return (
            "  " * node.depth + session.session_id,
            number(session.message_count, "exchange"),
            ago(now - session.last_active),
            one_line(session.title or "", 60),
        )

    if options.json or options.jsonl:
        print_all(out, [one.session for one in found], as_lines=options.jsonl)
    elif found:
        tree = SessionTree()
        tree.add(found)
        out.write(table([row(node) for node in tree.arrange()], out))
    else:
        out.line("No sessions match." if before or options.user else "No sessions yet. Start one: trackside run")
    return ExitCode.OK


async def _rename(options: argparse.Namespace) -> int:
    from console.cli.json_output import print_json, record
    from console.cli.terminal import standard_output
    from console.model.text.safe import one_line
    from engine.api import Engine

    out = standard_output()
    title = " ".join(options.title).strip()
    async with await Engine.open(db=options.db, mode="read") as engine:
        session = (await engine.sessions.get(options.session)).session.session_id
        await engine.sessions.rename(session, title or None)
        renamed = (await engine.sessions.get(session)).session
    if options.json:
        print_json(out, record(renamed))
    else:
        out.line(f"{session} is now called {one_line(title)!r}." if title else f"{session} now has no title.")
    return ExitCode.OK


async def _delete(options: argparse.Namespace) -> int:
    from dataclasses import asdict

    from console.cli.json_output import print_json
    from console.cli.terminal import standard_output
    from console.model.sessions.kept_data import kept_data_text
    from console.model.text.safe import one_line
    from engine.api import Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        found = await engine.sessions.get(options.session)
        session, title = found.session.session_id, found.session.title
        which = f"session {session}" + (f" ({one_line(title, 60)})" if title else "")
        question = f"Delete {which} with {number(found.history_length, 'line')}, its state, artifacts and runs?"
        kept = kept_data_text(await engine.sessions.kept_data(session))
        if not options.yes and not confirm(f"{question} {kept}".strip(), command="delete"):
            out.line("Nothing was deleted.")
            return ExitCode.NO
        deleted = await engine.sessions.delete(session)
        is_clean = await engine.finish_cleanup(CLEANUP_SECONDS)
    if options.json:
        print_json(out, {"session_id": session, "deleted": asdict(deleted)})
    else:
        out.line(f"Deleted {session}: {_counts(deleted)}.")
        if not is_clean:
            out.line(NOT_CLEAN)
    return ExitCode.OK


def _counts(deleted: "Deleted") -> str:
    counts = (
        number(deleted.runs, "run"),
        number(deleted.journal, "journal entry", "journal entries"),
        number(deleted.transcript, "line") + " of transcript",
        number(deleted.artifacts, "artifact"),
        number(deleted.state, "key") + " of state",
    )
    return ", ".join(counts)


def _perform_fork(options: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_fork(options))


async def _fork(options: argparse.Namespace) -> int:
    import shlex

    from console.cli.json_output import print_json, record
    from console.cli.terminal import standard_output
    from console.model.text.safe import safe
    from engine.api import Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        parent = (await engine.sessions.get(options.session)).session.session_id
        child = await engine.sessions.fork(parent, at=options.at, title=options.title)
        lines = (await engine.sessions.get(child.session_id)).history_length
    if options.json:
        print_json(out, record(child))
    else:
        where = f" --db {shlex.quote(str(options.db))}" if options.db else ""
        out.line(
            f"Forked {parent} into {child.session_id} with {number(lines, 'line')} and the state at that line. "
            "Continue it:\n\n"
            f"  trackside run --session {child.session_id} -m TEXT{safe(where)}"
        )
    return ExitCode.OK


def _line(text: str) -> int | str:
    """Parse the number of a line, or its id as `transcript --json` prints it."""
    return int(text) if text.isdecimal() else replace_invalid_utf8(text)
