"""`trackside sessions`: conversations, the last active first."""

import argparse

from console.cli.options import add_database, add_json, add_jsonl, count


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=count, default=20, metavar="N", help="at most so many (20)")
    parser.add_argument("--before", metavar="ID", help="only sessions less lately active than this one")
    parser.add_argument("--user", metavar="ID", help="only sessions of this user")
    add_json(parser)
    add_jsonl(parser, "session")
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_list(options))


async def _list(options: argparse.Namespace) -> int:
    from console.cli.records import print_all
    from console.cli.table import table
    from console.cli.terminal import one_line, standard_output
    from console.cli.words import ago, number
    from engine.api import Engine, Session

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        before = (await engine.session(options.before)).session.session_id if options.before else None
        found = await engine.sessions(user_id=options.user, before=before, limit=options.limit)
        now = engine.now()

    def row(session: Session) -> tuple[str, ...]:
        return (
            "  " * session.depth + session.session_id,
            number(session.message_count, "exchange"),
            ago(now - session.last_active),
            one_line(session.title or "", 60),
        )

    if options.json or options.jsonl:
        print_all(out, found, one_a_line=options.jsonl)
    elif found:
        out.write(table([row(session) for session in found], out))
    else:
        out.line("No such sessions." if before or options.user else "No sessions yet: `trackside run` starts one.")
    return 0
