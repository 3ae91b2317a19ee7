"""`trackside show`: print a past run as it was printed the first time, or its calls."""

import argparse
import json
from collections.abc import Iterator
from typing import Any, Final

from console.cli.exit_codes import ExitCode
from console.cli.options import add_database, add_json, add_jsonl
from console.cli.terminal import Output
from console.model.inspector.call_log import Call, OpenCalls
from console.model.text.safe import one_line
from console.model.text.units import latency, number
from engine.api import Entry
from engine.events import rfc3339


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run's id, a unique beginning of it, or `last`")
    parser.add_argument(
        "--calls", action="store_true", help="list the calls of the runner: decision, clause, code and latency of each"
    )
    add_jsonl(parser, "journal entry, or call,")
    add_json(parser)
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_show(options))


async def _show(options: argparse.Namespace) -> int:
    from console.cli.json_output import print_json, print_json_line, record
    from console.cli.run_watcher import printer, read_pages
    from console.cli.terminal import print_error, standard_output
    from engine.api import Engine, recording_header

    out = standard_output()
    if options.calls:
        return await _show_calls(options, out)
    async with await Engine.open(db=options.db, mode="read") as engine:
        run = await engine.runs.get(options.run)
        missing = await engine.runs.missing_facts(run)
        if options.json and not options.jsonl:
            print_json(out, {**record(run), "missing": list(missing)})
            return ExitCode.OK
        if options.jsonl:
            facts = record(run)
            print_json_line(out, recording_header(facts, facts.pop("authorization"), missing))
        elif missing:
            print_error(
                f"an older Trackside recorded this run, so {number(len(missing), 'fact')} about it are missing. "
                f"List them: trackside show {run.run_id} --json"
            )
        print_entries = printer(out, is_json=options.jsonl)
        async for page in read_pages(engine, run.run_id):
            print_entries(page)
            if out.is_gone:
                return ExitCode.OK
        if run.finished_at is None and not options.jsonl:
            out.line(f"\n● {run.status}: these are the entries so far.")
    return ExitCode.OK


async def _show_calls(options: argparse.Namespace, out: Output) -> int:
    from console.cli.run_watcher import read_pages
    from engine.api import Engine

    printer = CallPrinter(out, as_array=options.json, as_lines=options.jsonl)
    calls = CallsInOrder()
    async with await Engine.open(db=options.db, mode="read") as engine:
        run = await engine.runs.get(options.run)
        async for page in read_pages(engine, run.run_id):
            printer.write(list(calls.take(page)))
            if out.is_gone:
                return ExitCode.OK
    printer.write(calls.remaining())
    printer.close()
    return ExitCode.OK


_HEADINGS: Final = ("#", "call", "resource", "decision", "latency", "code", "clause")
_COLUMNS: Final = (4, 22, 24, 9, 9, 17, 0)
"""Widths of the columns. They are fixed because a row is written before the next page is read."""


class CallsInOrder:
    """Returns calls in the order of their numbers: a call that ended early waits for those before it."""

    def __init__(self) -> None:
        self._open = OpenCalls()
        self._ended: dict[int, Call] = {}
        self._next = 1

    def take(self, entries: list[Entry]) -> Iterator[Call]:
        """Yield the calls that are next in order after these entries."""
        for entry in entries:
            if (ended := self._open.apply(entry)) is not None:
                self._ended[ended.number] = ended
                while (call := self._ended.pop(self._next, None)) is not None:
                    self._next += 1
                    yield call

    def remaining(self) -> list[Call]:
        """Return all other calls, after the last entry."""
        return sorted([*self._open.calls(), *self._ended.values()], key=lambda call: call.number)


class CallPrinter:
    """Writes calls as they are read: as rows, as items of one JSON array, or as JSON lines."""

    def __init__(self, out: Output, *, as_array: bool, as_lines: bool) -> None:
        self._out = out
        self._as_array = as_array and not as_lines
        self._as_lines = as_lines
        self._count = 0
        self._refused = 0

    def write(self, calls: list[Call]) -> None:
        if self._as_array or self._as_lines:
            lines = [json.dumps(_record(call), ensure_ascii=False, separators=(",", ":")) for call in calls]
            if self._as_array:
                lines = [("," if self._count + place else "[") + line for place, line in enumerate(lines)]
            self._out.write_lines(lines)
        else:
            if calls and not self._count:
                self._out.line(self._out.paint("dim", _padded(_HEADINGS)))
            self._out.write("".join(self._line(call) for call in calls))
        self._count += len(calls)
        self._refused += sum(call.allowed is False for call in calls)

    def close(self) -> None:
        if self._as_array:
            self._out.write_lines(["]" if self._count else "[]"])
        elif not self._as_lines:
            summary = f"{number(self._count, 'call')}, {self._refused} refused." if self._count else "No calls."
            self._out.line(("\n" if self._count else "") + summary)

    def _line(self, call: Call) -> str:
        took = "no reply" if call.microseconds is None else latency(call.microseconds)
        style = {True: "green", False: "red", None: "yellow"}[call.allowed]
        cells = (
            str(call.number),
            one_line(call.action, 60),
            one_line(call.resource or "-", 60),
            call.decision,
            took,
            one_line(call.code or "-", 40),
        )
        reason = call.clause if call.message is None else f"{call.clause}; {call.message}"
        return self._out.paint(style, _padded((*cells, ""))) + one_line(reason, 300) + "\n"


def _padded(cells: tuple[str, ...]) -> str:
    return "  ".join(text.ljust(width) for text, width in zip(cells, _COLUMNS, strict=True))


def _record(call: Call) -> dict[str, Any]:
    took = call.microseconds
    return {
        "number": call.number,
        "call_id": call.call_id,
        "action": call.action,
        "resource": call.resource,
        "decision": call.decision,
        "clause": call.clause,
        "code": call.code,
        "message": call.message,
        "requested_at": rfc3339(call.requested_at),
        "replied_at": None if call.replied_at is None else rfc3339(call.replied_at),
        "latency_ms": None if took is None else took / 1_000,
    }
