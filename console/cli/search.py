"""`trackside search`: find messages by their words."""

import argparse
import textwrap
from typing import TYPE_CHECKING, Final

from console.cli.exit_codes import ExitCode
from console.cli.options import add_database, add_json, add_jsonl, count, replace_invalid_utf8

if TYPE_CHECKING:
    from console.cli.terminal import Output
    from engine.api import TranscriptLine

CONTEXT_CHARACTERS: Final = 40
"""Characters shown before the first word that was found."""
MAX_SEARCH_HITS: Final = 1_000
"""The engine counts hits up to this number."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORDS", help="all of them must be in a message, in any order")
    parser.add_argument(
        "--session", metavar="ID", help="search only this session: its id, a unique beginning of it, or `last`"
    )
    parser.add_argument("--limit", type=count, default=20, metavar="N", help="maximum number of messages (default: 20)")
    add_json(parser)
    add_jsonl(parser, "line")
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_search(options))


async def _search(options: argparse.Namespace) -> int:
    from console.cli.json_output import print_all, print_json, record
    from console.cli.terminal import standard_output
    from console.model.text.safe import one_line
    from console.model.text.units import number
    from engine.api import Engine

    out = standard_output()
    query = replace_invalid_utf8(" ".join(options.words))
    async with await Engine.open(db=options.db, mode="read") as engine:
        session = (await engine.sessions.find(options.session)).session.session_id if options.session else None
        lines, total = await engine.search.lines(query, conversation_id=session, limit=options.limit)
        now = engine.now()
    if options.jsonl:
        print_all(out, lines, as_lines=True)
    elif options.json:
        print_json(out, {"query": query, "total_count": total, "items": [record(line) for line in lines]})
    elif lines:
        out.write("".join(_format_hit(line, query, now, out) for line in lines))
        if total > len(lines):
            of = f"{MAX_SEARCH_HITS:,} or more" if total >= MAX_SEARCH_HITS else f"{total:,}"
            out.line(out.paint("dim", f"\nThe newest {number(len(lines), 'message')} of {of}; --limit shows more."))
    else:
        where = f" in {one_line(session)}" if session else ""
        out.line(f"No message{where} has {one_line(query, 80)!r}. Try fewer words, or three or more letters of one.")
    return ExitCode.OK if lines else ExitCode.NO


def _format_hit(line: "TranscriptLine", query: str, now: int, out: "Output") -> str:
    from console.model.sessions.line_place import place_of
    from console.model.text.safe import one_line
    from console.model.text.units import ago, short_session
    from console.model.text.word_match import without_accents

    text = line.content or ""
    searched = without_accents(text.casefold())
    # Both may change the length, so the start may be off by a few characters; the words are still shown.
    places = [place for word in without_accents(query.casefold()).split() if (place := searched.find(word)) >= 0]
    start = max(0, min(places, default=0) - CONTEXT_CHARACTERS)
    excerpt = ("…" if start else "") + one_line(text[start:], 160)
    label = place_of(line).label
    who = f"{one_line(line.role, 20)}{f'  {label}' if label else ''}"
    head = f"{short_session(line.conversation_id)}  {who}  {ago(now - line.created_at)}"
    wrapped = textwrap.fill(excerpt, out.width or 1_000, initial_indent="  ", subsequent_indent="  ")
    return f"{out.paint('dim', head)}\n{wrapped}\n"
