"""`trackside steering`: what was said to a run while it worked, and what became of it."""

import argparse
from typing import TYPE_CHECKING, Any

from console.cli.options import add_database, add_json, add_jsonl

if TYPE_CHECKING:
    from console.cli.terminal import Output
    from engine.api import Receipt, RunRow, Steering


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run's id, a unique beginning of it, or `last`")
    add_json(parser)
    add_jsonl(parser, "receipt")
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_receipts(options))


async def _receipts(options: argparse.Namespace) -> int:
    import json

    from console.cli.exits import Exit
    from console.cli.records import print_json
    from console.cli.table import table
    from console.cli.terminal import standard_output
    from engine.api import Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        run = await engine.run(options.run)
        steering = await engine.steering(run.run_id)
        now = engine.now()
    if options.jsonl:
        records = (json.dumps(_record(one), ensure_ascii=False, separators=(",", ":")) for one in steering.receipts)
        out.write_lines(list(records))
    elif options.json:
        print_json(out, [_record(one) for one in steering.receipts])
    else:
        if steering.receipts:
            out.write(table([_row(one, out, now) for one in steering.receipts], out, whole=True))
        else:
            out.line("Nothing was said to it while it worked.")
        out.line(out.paint("dim", _pulls(run, steering, now)))
    return Exit.OK


def _record(receipt: "Receipt") -> dict[str, Any]:
    from console.cli.records import record

    told = record(receipt)
    microseconds = told.pop("latency")
    return told | {"latency_ms": None if microseconds is None else microseconds / 1_000}


def _row(receipt: "Receipt", out: "Output", now: int) -> tuple[str, ...]:
    from console.cli.fates import FATES
    from console.model.safe import one_line
    from console.model.words import ago

    glyph, colour = FATES[receipt.fate]
    return (
        out.paint(colour, f"{glyph} {receipt.fate.replace('_', ' ')}"),
        ago(now - receipt.queued_at),
        _what_came(receipt, now),
        one_line(receipt.text or "", 300),
    )


def _what_came(receipt: "Receipt", now: int) -> str:
    """Of its fate: how long it took, or why."""
    from console.model.talk.ends import why_dropped
    from console.model.words import duration, latency, short_run

    if receipt.fate == "dropped":
        return why_dropped(receipt.reason)
    if receipt.own_run_id is not None:
        return short_run(receipt.own_run_id)
    if receipt.pulled_at is not None:
        waited = f"pulled after {latency(receipt.pulled_at - receipt.queued_at)}"
        return (
            waited if receipt.latency is None else f"{waited}, {receipt.first_result} {latency(receipt.latency)} later"
        )
    if receipt.fate == "withdrawn":
        return ""
    why = f": {receipt.reason}" if receipt.reason else ""
    return f"waits for {duration(now - receipt.queued_at)}{why}"


def _pulls(run: "RunRow", steering: "Steering", now: int) -> str:
    """Whether what is said to it can reach it, which is the first thing that its author must know."""
    from console.model.safe import one_line
    from console.model.words import ago, duration, number

    if not steering.can_steer:
        return f"{run.run_id} cannot be steered" + (f": {one_line(steering.why_not)}" if steering.why_not else ".")
    if steering.last_pull_at is None:
        never = "never pulled" if run.finished_at is not None else "has not pulled yet"
        return f"{run.run_id} {never}: what is said to a run reaches it when it calls steering_pull."
    passed = now - steering.last_pull_at
    when = f"{duration(passed)} ago" if passed < 60_000_000 else ago(passed)
    often = "" if steering.pulls is None else f", {number(steering.pulls, 'pull')} in all"
    return f"{run.run_id}: last pull {when}{often}."
