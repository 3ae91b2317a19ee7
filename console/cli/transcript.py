"""`trackside transcript`: print the messages of a session."""

import argparse
from typing import TYPE_CHECKING

from console.cli.options import (
    add_database,
    add_json,
    add_jsonl,
    add_session,
    count,
    replace_invalid_utf8,
    session_option,
)

if TYPE_CHECKING:
    from console.cli.terminal import Output
    from engine.api import TranscriptLine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_session(parser, "SESSION")
    for kind in ("thread", "bot", "workspace"):
        parser.add_argument(
            f"--{kind}",
            type=replace_invalid_utf8,
            metavar="ID",
            help=f"only lines of this {kind}; '' means lines without one (default: all)",
        )
    parser.add_argument(
        "--limit", type=count, default=100, metavar="N", help="maximum number of lines, the newest (default: 100)"
    )
    add_json(parser)
    add_jsonl(parser, "line")
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_print(options))


async def _print(options: argparse.Namespace) -> int:
    from console.cli.json_output import print_all
    from console.cli.terminal import standard_output
    from console.model.text.safe import one_line
    from console.model.text.units import number
    from engine.api import Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        found = await engine.sessions.find(options.session)
        session = found.session.session_id
        newest = await engine.sessions.transcript(
            session,
            thread_id=options.thread,
            bot_id=options.bot,
            workspace_id=options.workspace,
            limit=options.limit + 1,
        )
        now = engine.now()
    lines = newest[: options.limit][::-1]
    is_filtered = (options.thread, options.bot, options.workspace) != (None, None, None)
    if options.json or options.jsonl:
        print_all(out, lines, as_lines=options.jsonl)
    elif lines:
        if len(newest) > len(lines):
            earlier = "earlier lines" if is_filtered else number(found.history_length - len(lines), "earlier line")
            out.line(out.paint("dim", f"… {earlier}; --limit shows more\n"))
        out.write("\n".join(_format_line(line, now, out) for line in lines))
    elif is_filtered:
        out.line("No messages match.")
    else:
        send = one_line(f"trackside run … {session_option(session)}")
        out.line(f"No messages in {one_line(session)} yet. Send one: {send}")
    return 0


def _format_line(line: "TranscriptLine", now: int, out: "Output") -> str:
    from console.cli.terminal import TextWrapper
    from console.model.sessions.line_place import place_of
    from console.model.text.safe import one_line, safe
    from console.model.text.units import ago

    kind = "" if line.item_type == "message" else f" {line.item_type}"
    label = place_of(line).label
    details = f"{f'  {label}' if label else ''}  {ago(now - line.created_at)}  line {line.seq}"
    head = out.paint("bold", one_line(line.role + kind, 60)) + out.paint("dim", details)
    text = TextWrapper(out.width).add(safe(full_text(line))).rstrip("\n") + "\n"
    refs = "".join(out.paint("dim", f"· artifact {one_line(str(ref), 200)}") + "\n" for ref in line.artifact_refs)
    return f"{head}\n{text if text.strip() else ''}{refs}"


def full_text(line: "TranscriptLine") -> str:
    """Return the whole text of a message; `line.content` may hold only its beginning."""
    from engine.api import text_of

    whole = line.content_json
    if isinstance(whole, dict) and line.content is not None and line.content.endswith("..."):
        text = text_of(whole.get("content"), " ") or str(whole.get("text") or "")
        return text if len(text) > len(line.content) else line.content
    return line.content or ""
