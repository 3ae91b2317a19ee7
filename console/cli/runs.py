"""`trackside runs`: list runs, newest first."""

import argparse
from typing import Final

from console.cli.options import add_database, add_json, add_jsonl, age_in_microseconds, count
from engine.events import Status

SHOWN_IDLE_US: Final = 10_000_000
"""A run in progress without activity for so long is listed with its idle time, in microseconds."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=count, default=20, metavar="N", help="maximum number of runs (default: 20)")
    parser.add_argument("--before", metavar="RUN", help="only runs older than this one")
    parser.add_argument(
        "--status",
        choices=[*Status],
        help="only runs with this status",
    )
    parser.add_argument(
        "--session", metavar="ID", help="only runs of this session: its id, a unique beginning of it, or `last`"
    )
    parser.add_argument(
        "--idle", type=age_in_microseconds, metavar="AGE", help="only runs in progress without activity for AGE"
    )
    add_json(parser)
    add_jsonl(parser, "run")
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_list(options))


async def _list(options: argparse.Namespace) -> int:
    from console.cli.json_output import print_all
    from console.cli.narrator import STATUSES
    from console.cli.table import table
    from console.cli.terminal import standard_output
    from console.model.text.safe import one_line
    from console.model.text.units import ago, duration, short_run, short_runner
    from engine.api import Engine, RunRow

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        before = (await engine.runs.get(options.before)).run_id if options.before else None
        session = (await engine.sessions.find(options.session)).session.session_id if options.session else None
        now = engine.now()
        found = await engine.runs.list(
            limit=options.limit,
            before=before,
            status=options.status,
            conversation_id=session,
            idle_since=None if options.idle is None else now - options.idle,
        )

    def row(run: RunRow) -> tuple[str, ...]:
        glyph, colour = STATUSES[run.status]
        took = duration((run.finished_at or now) - run.started_at) if run.started_at else ""
        if run.finished_at is None and now - run.active_at >= SHOWN_IDLE_US:
            took += f", idle {duration(now - run.active_at)}"
        return (
            out.paint(colour, f"{glyph} {run.status}"),
            short_run(run.run_id),
            one_line(short_runner(run.runner_id), 20),
            took,
            ago(now - run.created_at),
            one_line(str(run.metadata.get("input", "")), 60),
        )

    if options.json or options.jsonl:
        print_all(out, found, as_lines=options.jsonl)
    elif found:
        out.write(table([row(run) for run in found], out))
    else:
        out.line(
            "No runs match."
            if before or options.status or options.session or options.idle is not None
            else "No runs yet. Start one: trackside run"
        )
    return 0
