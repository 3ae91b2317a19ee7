"""`trackside sessions`: list, show, create, fork, rename, change and delete sessions."""

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from console.cli.cleanup import CLEANUP_SECONDS, NOT_CLEAN
from console.cli.confirm import confirm
from console.cli.exit_codes import ExitCode, UsageError
from console.cli.options import (
    add_database,
    add_json,
    add_jsonl,
    add_session,
    count,
    key_value,
    replace_invalid_utf8,
    session_option,
)
from console.model.text.units import number

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from console.cli.terminal import Output
    from engine.api import Deleted, Session, SessionRow, StoredSize

_OF_LIST: Final = "[--limit N] [--before ID] [--user ID] [--json] [--jsonl]"
_OF_NEW: Final = "[--user ID] [--title T] [--metadata KEY=VALUE]… [--json]"
COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "list": (_OF_LIST, "list sessions, most recently active first"),
    "show": ("ID [--json]", "print everything about a session except its messages"),
    "new": (f"[ID] {_OF_NEW}", "create a session before its first message"),
    "spawn": (f"ID [--id NEW] {_OF_NEW}", "create an empty child of a session"),
    "fork": ("ID [--at LINE] [--title T] [--json]", "continue from an earlier line in a new session"),
    "tree": ("ID [--limit N] [--json] [--jsonl]", "list a session and its descendants"),
    "rename": ("ID TITLE [--json]", "give a session another title"),
    "set": ("ID [KEY=VALUE]… [--remove KEY]… [--text] [--json]", "set or remove values of a session's metadata"),
    "delete": ("ID [--yes] [--json]", "delete a session with its transcript, state, artifacts and runs"),
}
"""Each command with its arguments and its summary."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    forms = "".join(f"\n       trackside sessions {name} {words} [--db PATH]" for name, (words, _) in COMMANDS.items())
    parser.usage = f"trackside sessions [-h] {_OF_LIST} [--db PATH]{forms}"
    parser.epilog = "Without a command: list. An id that is the name of a command, or starts with a dash, follows `--`."
    _add_list_options(parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", prog="trackside sessions", required=False)
    added = {name: _add_command(commands, name) for name in COMMANDS}
    _add_list_options(added["list"])
    for name in ("show", "spawn", "fork", "tree", "rename", "set", "delete"):
        add_session(added[name])
        add_json(added[name])
        add_database(added[name])
    _add_options_of_new(added["new"], added["spawn"])
    added["fork"].add_argument(
        "--at",
        type=_line,
        default=None,
        metavar="LINE",
        help="the last line of the transcript to copy (default: all)",
    )
    added["fork"].add_argument(
        "--title", type=replace_invalid_utf8, default=None, metavar="T", help="the title of the new session"
    )
    added["tree"].add_argument(
        "--limit", type=count, default=200, metavar="N", help="maximum number of sessions (default: 200)"
    )
    add_jsonl(added["tree"], "session")
    added["rename"].add_argument(
        "title", nargs="+", type=replace_invalid_utf8, metavar="TITLE", help="the new title; '' removes it"
    )
    _add_options_of_set(added["set"])
    added["delete"].add_argument("--yes", action="store_true", default=False, help="do not ask")
    perform_of: Mapping[str, Callable[[argparse.Namespace], Awaitable[int]]] = {
        "list": _list, "show": _show, "new": _new, "spawn": _spawn, "fork": _fork, "tree": _tree, "rename": _rename,
        "set": _set, "delete": _delete,
    }  # fmt: skip
    for name, perform_async in perform_of.items():
        added[name].set_defaults(perform=_runner(perform_async))


def _add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str) -> argparse.ArgumentParser:
    summary = COMMANDS[name][1]
    about = summary[0].upper() + summary[1:] + "."
    # Without own defaults, options before the command stay in force: `sessions --db PATH delete ID`.
    return commands.add_parser(
        name, help=summary, description=about, allow_abbrev=False, argument_default=argparse.SUPPRESS
    )


def _add_list_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--limit",
        type=count,
        default=parser.argument_default or 20,  # suppressed in `sessions list`
        metavar="N",
        help="maximum number of sessions (default: 20)",
    )
    parser.add_argument("--before", metavar="ID", help="only sessions that were active before this one was")
    parser.add_argument("--user", metavar="ID", help="only sessions of this user")
    add_json(parser)
    add_jsonl(parser, "session")
    add_database(parser)


def _add_options_of_new(new: argparse.ArgumentParser, spawn: argparse.ArgumentParser) -> None:
    new.add_argument("session", nargs="?", default=None, metavar="ID", help="its id (default: a new one)")
    spawn.add_argument("--id", dest="child", default=None, metavar="NEW", help="the id of the child (default: new)")
    add_json(new)
    add_database(new)
    for parser, user in ((new, "its user"), (spawn, "the user of the child (default: that of the parent)")):
        parser.add_argument("--user", type=replace_invalid_utf8, default=None, metavar="ID", help=user)
        parser.add_argument("--title", type=replace_invalid_utf8, default=None, metavar="T", help="its title")
        parser.add_argument(
            "--metadata", action="append", type=key_value, default=[], metavar="KEY=VALUE",
            help="a value of its metadata: JSON, else text; can be repeated",
        )  # fmt: skip


def _add_options_of_set(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "values", nargs="*", type=key_value, default=[], metavar="KEY=VALUE", help="a value to set: JSON, else text"
    )
    parser.add_argument(
        "--remove", action="append", type=replace_invalid_utf8, default=[], metavar="KEY",
        help="a key to remove; can be repeated",
    )  # fmt: skip
    parser.add_argument("--text", action="store_true", default=False, help="every VALUE is text, also if it is JSON")


def _runner(perform_async: "Callable[[argparse.Namespace], Awaitable[int]]") -> "Callable[[argparse.Namespace], int]":
    def perform_command(options: argparse.Namespace) -> int:
        import asyncio

        async def run() -> int:
            return await perform_async(options)

        return asyncio.run(run())

    return perform_command


def perform(options: argparse.Namespace) -> int:
    return _runner(_list)(options)


# Reading


async def _list(options: argparse.Namespace) -> int:
    from console.cli.terminal import standard_output
    from engine.api import Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        before = (await engine.sessions.find(options.before)).session.session_id if options.before else None
        edge = next(iter(await engine.sessions.browse(ids=[before], limit=1)), None) if before else None
        found = await engine.sessions.browse(user_id=options.user, before=edge, limit=options.limit)
        sizes = await engine.sessions.sizes([row.session.session_id for row in found])
        now = engine.now()
    if found or options.json or options.jsonl:
        _print_rows(found, sizes, options, out, now)
    else:
        out.line("No sessions match." if before or options.user else "No sessions yet. Start one: trackside run")
    return ExitCode.OK


async def _tree(options: argparse.Namespace) -> int:
    from console.cli.terminal import standard_output
    from engine.api import Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        root = (await engine.sessions.find(options.session)).session.session_id
        found = await engine.sessions.tree(root, limit=options.limit + 1)
        # The nearest to the root are shown: their parents are shown too.
        shown = sorted(found, key=lambda row: row.session.depth)[: options.limit]
        sizes = await engine.sessions.sizes([row.session.session_id for row in shown])
        now = engine.now()
    _print_rows(shown, sizes, options, out, now)
    if len(found) > len(shown) and not (options.json or options.jsonl):
        out.line(out.paint("dim", "… and more; --limit shows them"))
    return ExitCode.OK


def _print_rows(
    found: "Sequence[SessionRow]",
    sizes: "Mapping[str, StoredSize]",
    options: argparse.Namespace,
    out: "Output",
    now: int,
) -> None:
    """Print sessions as JSON, or as a table with each child under its parent."""
    from console.cli.json_output import print_all, record
    from console.cli.table import table
    from console.model.sessions.stored_size import size_figures, total_text
    from console.model.sessions.tree import SessionNode, SessionTree
    from console.model.text.safe import one_line
    from console.model.text.units import ago, short_session

    def row(node: SessionNode) -> tuple[str, ...]:
        session = node.row.session
        return (
            "  " * node.depth + short_session(session.session_id),
            number(session.message_count, "event"),
            total_text(sizes[session.session_id]),
            ago(now - session.last_active),
            one_line(session.title or "", 60),
        )

    if options.json or options.jsonl:
        sessions = [one.session for one in found]
        rows = [record(session) | size_figures(sizes[session.session_id]) for session in sessions]
        print_all(out, rows, as_lines=options.jsonl)
        return
    tree = SessionTree()
    tree.add(found)
    out.write(table([row(node) for node in tree.arrange()], out))


async def _show(options: argparse.Namespace) -> int:
    from console.cli.json_output import print_json, record
    from console.cli.table import table
    from console.cli.terminal import standard_output
    from console.model.sessions.stored_size import size_figures, size_text
    from engine.api import Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        found = await engine.sessions.find(options.session)
        session_id = found.session.session_id
        rows = await engine.sessions.browse(ids=[session_id], limit=1)
        size = (await engine.sessions.sizes([session_id]))[session_id]
        now = engine.now()
    if options.json:
        counts = {"history_length": found.history_length, **size_figures(size)}
        print_json(out, record(found.session) | counts)
    else:
        details = _details(found.session, rows[0] if rows else None, now)
        counts = [("lines", f"{found.history_length:,}"), ("size", size_text(size))]
        out.write(table([(name, text) for name, text in [*details, *counts] if text], out, whole=True))
    return ExitCode.OK


def _details(session: "Session", row: "SessionRow | None", now: int) -> list[tuple[str, str]]:
    """Return the facts about a session by name; a text is empty if there is nothing to say."""
    from console.model.text.safe import one_line
    from console.model.text.units import ago, short_runner

    origin = "forked from" if row is not None and row.is_fork else "child of"
    is_root = session.root_session_id == session.session_id
    return [
        ("id", one_line(session.session_id)),
        ("title", one_line(session.title or "")),
        ("user", one_line(session.user_id or "")),
        (origin, one_line(session.parent_session_id or "")),
        ("root", "" if is_root else one_line(session.root_session_id)),
        ("runner", one_line(short_runner(session.runner_id or ""))),
        ("agent", one_line(session.agent_id or "")),
        ("project", one_line(session.project or "")),
        ("created", ago(now - session.created_at)),
        ("last active", ago(now - session.last_active)),
        ("metadata", one_line(json.dumps(session.metadata, ensure_ascii=False), 2_000) if session.metadata else ""),
        ("children", f"{row.children:,}" if row is not None and row.children else ""),
        ("events", f"{session.message_count:,}"),
    ]


# Creating


async def _new(options: argparse.Namespace) -> int:
    from console.cli.progress import open_host

    # To host, because that creates a database that does not exist yet.
    async with await open_host(None, options.db) as engine:
        session = await engine.sessions.create(
            options.session, user_id=options.user, title=options.title, metadata=_metadata(options.metadata)
        )
    return _print_created(session, f"Created {session.session_id}.", options)


async def _spawn(options: argparse.Namespace) -> int:
    from engine.api import Engine

    async with await Engine.open(db=options.db, mode="read") as engine:
        parent = (await engine.sessions.find(options.session)).session.session_id
        child = await engine.sessions.spawn(
            parent,
            options.child,
            user_id=options.user,
            title=options.title,
            metadata=_metadata(options.metadata),
        )
    return _print_created(child, f"Created {child.session_id} as a child of {parent}.", options)


async def _fork(options: argparse.Namespace) -> int:
    from engine.api import Engine

    async with await Engine.open(db=options.db, mode="read") as engine:
        parent = (await engine.sessions.find(options.session)).session.session_id
        child = await engine.sessions.fork(parent, at=options.at, title=options.title)
        lines = (await engine.sessions.get(child.session_id)).history_length
    done = f"Forked {parent} into {child.session_id} with {number(lines, 'line')} and the state at that line."
    return _print_created(child, done, options)


def _print_created(session: "Session", done: str, options: argparse.Namespace) -> int:
    import shlex

    from console.cli.json_output import print_json, record
    from console.cli.terminal import standard_output
    from console.model.text.safe import one_line

    out = standard_output()
    if options.json:
        print_json(out, record(session))
    else:
        where = f" --db {shlex.quote(str(options.db))}" if options.db else ""
        command = f"trackside run {session_option(session.session_id)} -m TEXT{where}"
        out.line(f"{one_line(done, 1_000)} Continue it:\n\n  {one_line(command, 10_000)}")
    return ExitCode.OK


def _line(text: str) -> int | str:
    """Parse the number of a line, or its id as `transcript --json` prints it."""
    return int(text) if text.isdecimal() else replace_invalid_utf8(text)


# Changing


async def _rename(options: argparse.Namespace) -> int:
    from console.cli.json_output import print_json, record
    from console.cli.terminal import standard_output
    from console.model.text.safe import one_line
    from engine.api import Engine

    out = standard_output()
    title = " ".join(options.title).strip()
    async with await Engine.open(db=options.db, mode="read") as engine:
        session = (await engine.sessions.find(options.session)).session.session_id
        await engine.sessions.rename(session, title or None)
        renamed = (await engine.sessions.get(session)).session
    if options.json:
        print_json(out, record(renamed))
    else:
        words = f"is now called {one_line(renamed.title)!r}." if renamed.title else "now has no title."
        out.line(f"{one_line(session)} {words}")
    return ExitCode.OK


async def _set(options: argparse.Namespace) -> int:
    from console.cli.json_output import print_json, record
    from console.cli.terminal import standard_output
    from console.model.text.safe import one_line
    from engine.api import Engine

    if not options.values and not options.remove:
        raise UsageError("there is nothing to set or remove. Add KEY=VALUE or --remove KEY.")
    out = standard_output()
    values = _metadata(options.values, as_text=options.text)
    async with await Engine.open(db=options.db, mode="read") as engine:
        session = (await engine.sessions.find(options.session)).session.session_id
        changed = await engine.sessions.set_metadata(session, values, remove=options.remove)
    if options.json:
        print_json(out, record(changed))
    else:
        metadata = one_line(json.dumps(changed.metadata, ensure_ascii=False), 2_000)
        out.line(f"Metadata of {one_line(session)}: {metadata}")
    return ExitCode.OK


def _metadata(values: Sequence[tuple[str, str]], *, as_text: bool = False) -> dict[str, Any]:
    return {key: value if as_text else _json_or_text(value) for key, value in values}


def _json_or_text(text: str) -> Any:
    from console.model.state.json_text import parse_json

    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        return text


async def _delete(options: argparse.Namespace) -> int:
    from dataclasses import asdict

    from console.cli.json_output import print_json
    from console.cli.terminal import standard_output
    from console.model.sessions.kept_data import kept_data_text
    from console.model.text.safe import one_line
    from engine.api import Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        found = await engine.sessions.find(options.session)
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
        out.line(f"Deleted {one_line(session)}: {_counts(deleted)}.")
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
