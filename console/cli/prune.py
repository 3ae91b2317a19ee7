"""`trackside prune`: delete by age, after a question, or list what that would delete."""

import argparse
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from console.cli.cleanup import CLEANUP_SECONDS, NOT_CLEAN
from console.cli.confirm import confirm
from console.cli.exit_codes import ExitCode, UsageError
from console.cli.options import add_database, add_json, age_in_microseconds
from console.cli.terminal import Output, standard_output

if TYPE_CHECKING:
    from engine.api import Engine, PrunedData, PrunedRows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--older-than", type=age_in_microseconds, metavar="AGE", help="such as 30d (also s, m, h, w); required"
    )
    parser.add_argument("--dry-run", action="store_true", help="list what would be deleted, and delete nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    add_json(parser)
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    if options.older_than is None:
        raise UsageError(
            "an age is missing, and without one nothing is deleted. "
            "`trackside prune --older-than 30d --dry-run` lists what is older than 30 days."
        )
    return asyncio.run(_perform(options))


async def _perform(options: argparse.Namespace) -> int:
    from engine.api import Engine

    async with await Engine.open(db=options.db, mode="read") as engine:
        until = max(0, engine.now() - options.older_than)
        if options.dry_run:
            return await _list(engine, until, as_json=options.json)
        return await _prune(engine, until, options)


async def _list(engine: "Engine", until: int, *, as_json: bool) -> int:
    from console.cli.json_output import print_json
    from console.model.text.units import size

    out, found = standard_output(), await engine.list_prunable(until)
    if as_json:
        print_json(out, {**_record(until, found), "dry_run": True})
        return ExitCode.OK
    if not found.rows:
        out.line(f"Nothing is older than {_time(until)} UTC.")
        return ExitCode.OK
    out.line(f"Older than {_time(until)} UTC, or expired:")
    for line in _lines(found):
        out.line(f"  {line}")
    out.line(f"Together {size(found.total_bytes)}: {', '.join(_counts(found.rows))}. Nothing was deleted.")
    return ExitCode.OK


async def _prune(engine: "Engine", until: int, options: argparse.Namespace) -> int:
    from console.cli.json_output import print_json

    out = standard_output()
    what = "events, transcript, and ended runs with their artifacts"
    question = f"Delete {what} older than {_time(until)} UTC in {engine.database_path}?"
    if not options.yes and not confirm(question, command="prune"):
        out.line("Nothing was deleted.")
        return ExitCode.NO
    before = await engine.file_bytes()
    pruned = await engine.prune(until)
    is_clean = await engine.finish_cleanup(CLEANUP_SECONDS)
    after = await engine.file_bytes()
    if options.json:
        sizes = {"freed_bytes": pruned.freed_bytes, "file_bytes_before": before, "file_bytes": after}
        print_json(out, {**_record(until, pruned), **sizes})
        return ExitCode.OK
    counts = ", ".join(_counts(pruned.rows)) or "nothing"
    out.line(f"Deleted what was older than {_time(until)} UTC: {counts}.")
    _print_space(out, pruned, before, after)
    if not is_clean:
        out.line(NOT_CLEAN)
    return ExitCode.OK


def _print_space(out: Output, pruned: "PrunedData", before: int, after: int) -> None:
    from console.model.text.units import size

    if not pruned.rows:
        return
    if after < before:
        out.line(f"{size(pruned.freed_bytes)} became free. The database shrank from {size(before)} to {size(after)}.")
    else:
        out.line(
            f"{size(pruned.freed_bytes)} became free. The database does not shrink: it still takes {size(after)}, and "
            "new data uses the free space first."
        )


def _time(until: int) -> str:
    from engine.events import rfc3339

    return rfc3339(until)[:19].replace("T", " ")


def _record(until: int, data: "PrunedData") -> dict[str, Any]:
    from dataclasses import asdict

    from engine.events import rfc3339

    sessions = [
        {
            "session_id": session_id,
            "bytes": sum(each.bytes for each in rows),
            "data": {each.kind: {"count": each.count, "bytes": each.bytes} for each in rows},
        }
        for session_id, rows in _by_session(data)
    ]
    return {
        "older_than": rfc3339(until),
        "deleted": asdict(data.counts),
        "bytes": data.total_bytes,
        "sessions": sessions,
    }


def _by_session(data: "PrunedData") -> Iterator[tuple[str | None, list["PrunedRows"]]]:
    for session_id, rows in groupby(data.rows, key=lambda each: each.session_id):
        yield session_id, list(rows)


def _lines(data: "PrunedData") -> Iterator[str]:
    from console.model.text.safe import one_line
    from console.model.text.units import size

    for session_id, rows in _by_session(data):
        name = "(no session)" if session_id is None else one_line(session_id)
        yield f"{name}  {size(sum(each.bytes for each in rows))}: {', '.join(_counts(rows, with_bytes=True))}"


def _counts(rows: Iterable["PrunedRows"], *, with_bytes: bool = False) -> list[str]:
    """Return the number of rows of each kind, such as "3 runs", in the order of the kinds."""
    from console.model.text.units import number, size
    from engine.api import DataKind

    words = {
        DataKind.RUNS: ("run", "runs"),
        DataKind.JOURNAL: ("journal entry", "journal entries"),
        DataKind.PARTS: ("stored part of entries", "stored parts of entries"),
        DataKind.STORAGE_LOG: ("logged change of storage", "logged changes of storage"),
        DataKind.QUEUE: ("queued message", "queued messages"),
        DataKind.EVENTS: ("event", "events"),
        DataKind.TRANSCRIPT: ("line of transcript", "lines of transcript"),
        DataKind.ARTIFACTS: ("artifact", "artifacts"),
        DataKind.BLOBS: ("content of artifacts", "contents of artifacts"),
    }
    found = list(rows)
    texts: list[str] = []
    for kind, (one, many) in words.items():
        same = [each for each in found if each.kind == kind]
        if same:
            text = number(sum(each.count for each in same), one, many)
            texts.append(f"{text} ({size(sum(each.bytes for each in same))})" if with_bytes else text)
    return texts
