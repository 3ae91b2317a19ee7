"""`trackside receipts`: list the steering messages of a run, and what became of each."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from console.cli.options import add_database, add_json, add_jsonl
from engine.events import Fate

if TYPE_CHECKING:
    from console.cli.terminal import Output
    from engine.api import Receipt, RunRow, SteeringReport

_WORDS: Final[Mapping[str, str]] = {Fate.INJECTED: "delivered", Fate.OWN_RUN: "own run"}
"""Words for fates that differ from their stored names."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run's id, a unique beginning of it, or `last`")
    add_json(parser)
    add_jsonl(parser, "receipt")
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_receipts(options))


async def _receipts(options: argparse.Namespace) -> int:
    import json

    from console.cli.exit_codes import ExitCode
    from console.cli.json_output import print_json
    from console.cli.table import table
    from console.cli.terminal import standard_output
    from engine.api import Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        run = await engine.runs.get(options.run)
        steering = await engine.queue.receipts(run.run_id)
        now = engine.now()
    if options.jsonl:
        records = (
            json.dumps(receipt_record(one), ensure_ascii=False, separators=(",", ":")) for one in steering.receipts
        )
        out.write_lines(list(records))
    elif options.json:
        print_json(out, [receipt_record(one) for one in steering.receipts])
    else:
        if steering.receipts:
            out.write(table([_row(one, out, now) for one in steering.receipts], out, whole=True))
        else:
            out.line("No steering messages.")
        out.line(out.paint("dim", _pull_summary(run, steering, now)))
    return ExitCode.OK


def receipt_record(receipt: "Receipt") -> dict[str, Any]:
    """Return a receipt as a dict for JSON, with its latency in milliseconds."""
    from console.cli.json_output import record

    fields = record(receipt)
    microseconds = fields.pop("latency")
    return fields | {"latency_ms": None if microseconds is None else microseconds / 1_000}


def _row(receipt: "Receipt", out: "Output", now: int) -> tuple[str, ...]:
    from console.cli.narrator import FATES
    from console.model.text.safe import one_line
    from console.model.text.units import ago

    glyph, colour = FATES[receipt.fate]
    return (
        out.paint(colour, f"{glyph} {_WORDS.get(receipt.fate, receipt.fate)}"),
        ago(now - receipt.queued_at),
        _outcome(receipt, now),
        one_line(receipt.text or "", 300),
    )


def _outcome(receipt: "Receipt", now: int) -> str:
    """Return how long delivery took, or why the message was not delivered."""
    from console.model.journal.run_end import drop_reason_words
    from console.model.text.units import duration, latency, short_run

    if receipt.fate == Fate.DROPPED:
        return drop_reason_words(receipt.reason)
    if receipt.own_run_id is not None:
        return short_run(receipt.own_run_id)
    if receipt.pulled_at is not None:
        waited = f"pulled after {latency(receipt.pulled_at - receipt.queued_at)}"
        return (
            waited if receipt.latency is None else f"{waited}, {receipt.first_result} {latency(receipt.latency)} later"
        )
    if receipt.fate == Fate.WITHDRAWN:
        return ""
    why = f": {receipt.reason}" if receipt.reason else ""
    return f"queued for {duration(now - receipt.queued_at)}{why}"


def _pull_summary(run: "RunRow", steering: "SteeringReport", now: int) -> str:
    """Return whether and when the run pulled: a message is delivered only when the runner pulls."""
    from console.model.text.safe import one_line
    from console.model.text.units import ago, duration, number

    if not steering.can_steer:
        return f"{run.run_id} cannot be steered" + (f": {one_line(steering.why_not)}" if steering.why_not else ".")
    if steering.last_pull_at is None:
        never = "never pulled" if run.finished_at is not None else "has not pulled yet"
        return f"{run.run_id} {never}. Steering messages are delivered when the runner calls steering_pull."
    passed = now - steering.last_pull_at
    when = f"{duration(passed)} ago" if passed < 60_000_000 else ago(passed)
    often = "" if steering.pulls is None else f", {number(steering.pulls, 'pull')} in all"
    return f"{run.run_id}: last pull {when}{often}."
