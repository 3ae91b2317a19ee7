"""`trackside sessions`: conversations, the last active first; and what a person changes about one."""

import argparse
from typing import TYPE_CHECKING

from console.cli.asking import agreed
from console.cli.exits import Exit
from console.cli.options import add_database, add_json, add_jsonl, count, sound
from console.model.words import number

if TYPE_CHECKING:
    from engine.api import Deleted


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "trackside sessions [-h] [--limit N] [--before ID] [--user ID] [--json] [--jsonl] [--db PATH]\n"
        "       trackside sessions rename ID TITLE [--json] [--db PATH]\n"
        "       trackside sessions delete ID [--yes] [--json] [--db PATH]"
    )
    parser.add_argument("--limit", type=count, default=20, metavar="N", help="at most so many (20)")
    parser.add_argument("--before", metavar="ID", help="only sessions less lately active than this one")
    parser.add_argument("--user", metavar="ID", help="only sessions of this user")
    add_json(parser)
    add_jsonl(parser, "session")
    add_database(parser)
    changes = parser.add_subparsers(
        title="changes", metavar="rename | delete", prog="trackside sessions", required=False
    )
    renaming = _change(changes, "rename", "call a session something else")
    renaming.add_argument("title", nargs="+", type=sound, metavar="TITLE", help="its new title; '' takes it away")
    renaming.set_defaults(perform=_perform_rename)
    deleting = _change(changes, "delete", "delete a session with its transcript, state, artifacts and runs")
    deleting.add_argument("--yes", action="store_true", default=False, help="do not ask")
    deleting.set_defaults(perform=_perform_delete)


def _change(
    changes: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, summary: str
) -> argparse.ArgumentParser:
    about = summary[0].upper() + summary[1:] + "."
    # What is not said here leaves what was said before it: `sessions --db PATH delete ID` works too.
    parser = changes.add_parser(
        name, help=summary, description=about, allow_abbrev=False, argument_default=argparse.SUPPRESS
    )
    parser.add_argument("session", metavar="ID", help="a session's id, or `last` for the one that was active last")
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
    from console.cli.records import print_all
    from console.cli.table import table
    from console.cli.terminal import standard_output
    from console.model.safe import one_line
    from console.model.sessions.tree import Branch, Tree
    from console.model.words import ago
    from engine.api import Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        before = (await engine.session(options.before)).session.session_id if options.before else None
        edge = next(iter(await engine.browse_sessions(ids=[before], limit=1)), None) if before else None
        found = await engine.browse_sessions(user_id=options.user, before=edge, limit=options.limit)
        now = engine.now()

    def row(branch: Branch) -> tuple[str, ...]:
        session = branch.row.session
        return (
            "  " * branch.depth + session.session_id,
            number(session.message_count, "exchange"),
            ago(now - session.last_active),
            one_line(session.title or "", 60),
        )

    if options.json or options.jsonl:
        print_all(out, [one.session for one in found], one_a_line=options.jsonl)
    elif found:
        tree = Tree()
        tree.add(found)
        out.write(table([row(branch) for branch in tree.arrange()], out))
    else:
        out.line("No such sessions." if before or options.user else "No sessions yet: `trackside run` starts one.")
    return Exit.OK


async def _rename(options: argparse.Namespace) -> int:
    from console.cli.records import print_json, record
    from console.cli.terminal import standard_output
    from console.model.safe import one_line
    from engine.api import Engine

    out = standard_output()
    title = " ".join(options.title).strip()
    async with await Engine.open(db=options.db, mode="read") as engine:
        session = (await engine.session(options.session)).session.session_id
        await engine.rename_session(session, title or None)
        renamed = (await engine.session(session)).session
    if options.json:
        print_json(out, record(renamed))
    else:
        out.line(f"{session} is called {one_line(title)!r} now." if title else f"{session} has no title now.")
    return Exit.OK


async def _delete(options: argparse.Namespace) -> int:
    from dataclasses import asdict

    from console.cli.records import print_json
    from console.cli.terminal import standard_output
    from console.model.safe import one_line
    from engine.api import Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        found = await engine.session(options.session)
        session, title = found.session.session_id, found.session.title
        which = f"session {session}" + (f" ({one_line(title, 60)})" if title else "")
        question = f"Delete {which} with {number(found.history_length, 'line')}, its state, artifacts and runs?"
        if not options.yes and not agreed(question, command="delete"):
            out.line("Nothing was deleted.")
            return Exit.CANCELLED
        deleted = await engine.delete_session(session)
    if options.json:
        print_json(out, {"session_id": session, "deleted": asdict(deleted)})
    else:
        out.line(f"Deleted {session}: {_what(deleted)}.")
    return Exit.OK


def _what(deleted: "Deleted") -> str:
    counts = (
        number(deleted.runs, "run"),
        number(deleted.journal, "journal entry", "journal entries"),
        number(deleted.transcript, "line") + " of transcript",
        number(deleted.artifacts, "artifact"),
        number(deleted.state, "key") + " of state",
    )
    return ", ".join(counts)
