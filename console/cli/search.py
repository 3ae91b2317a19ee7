"""`trackside search`: where something was said."""

import argparse
import textwrap
from typing import TYPE_CHECKING, Final

from console.cli.options import add_database, add_json, add_jsonl, count, sound

if TYPE_CHECKING:
    from console.cli.terminal import Output
    from engine.api import Line

BEFORE: Final = 40
"""Characters that are shown before the first word that was looked for."""
MOST: Final = 1_000
"""Hits are counted up to here."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORDS", help="all of these must be in a line, in any order")
    parser.add_argument("--session", metavar="ID", help="only in this session; `last` works too")
    parser.add_argument("--limit", type=count, default=20, metavar="N", help="at most so many lines (20)")
    add_json(parser)
    add_jsonl(parser, "line")
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_search(options))


async def _search(options: argparse.Namespace) -> int:
    from console.cli.records import print_all, print_json, record
    from console.cli.terminal import standard_output
    from console.model.safe import one_line
    from console.model.words import number
    from engine.api import Engine

    out = standard_output()
    query = sound(" ".join(options.words))
    async with await Engine.open(db=options.db, mode="read") as engine:
        session = (await engine.session(options.session)).session.session_id if options.session else None
        lines, total = await engine.search(query, conversation_id=session, limit=options.limit)
        now = engine.now()
    if options.jsonl:
        print_all(out, lines, one_a_line=True)
    elif options.json:
        print_json(out, {"query": query, "total_count": total, "items": [record(line) for line in lines]})
    elif lines:
        out.write("".join(_told(line, query, now, out) for line in lines))
        if total > len(lines):
            of = f"{MOST:,} or more" if total >= MOST else f"{total:,}"
            out.line(out.paint("dim", f"\nThe newest {number(len(lines), 'line')} of {of}; --limit shows more."))
    else:
        where = f" in {one_line(session)}" if session else ""
        out.line(
            f"Nothing was said{where} with {one_line(query, 80)!r}. Fewer words, or the beginning of one, find more."
        )
    return 0


def _told(line: "Line", query: str, now: int, out: "Output") -> str:
    from console.model.safe import one_line
    from console.model.words import ago

    text = line.content or ""
    folded = text.casefold()
    # Folding may change the length of a text; a beginning that is off by a few characters shows the words all the same.
    places = [place for word in query.casefold().split() if (place := folded.find(word)) >= 0]
    start = max(0, min(places, default=0) - BEFORE)
    excerpt = ("…" if start else "") + one_line(text[start:], 160)
    head = f"{one_line(line.conversation_id)}  {one_line(line.role, 20)}  {ago(now - line.created_at)}"
    wrapped = textwrap.fill(excerpt, out.width or 1_000, initial_indent="  ", subsequent_indent="  ")
    return f"{out.paint('dim', head)}\n{wrapped}\n"
