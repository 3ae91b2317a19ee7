"""`trackside artifacts`: what runs made, and the bytes of one of them."""

import argparse
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from console.cli.exits import Exit, UsageError
from console.cli.options import add_database, add_json, add_jsonl, count

if TYPE_CHECKING:
    from engine.api import Engine

GET: Final = "get"
USAGE: Final = "`trackside artifacts [RUN|SESSION]` lists them, `trackside artifacts get ID [-o FILE]` reads one"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "trackside artifacts [-h] [RUN|SESSION] [--limit N] [--before ID] [--json] [--jsonl] [--db PATH]\n"
        "       trackside artifacts get ID [-o FILE] [--force] [--db PATH]"
    )
    parser.add_argument("what", nargs="?", metavar="RUN|SESSION", help="only those of a run or a session; or `get`")
    parser.add_argument("artifact", nargs="?", metavar="ID", help="after `get`: the artifact to read")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to write it (not said: to the output)")
    parser.add_argument("--force", action="store_true", help="write over a file that is there")
    parser.add_argument("--limit", type=count, default=50, metavar="N", help="at most so many (50)")
    parser.add_argument("--before", metavar="ID", help="only artifacts older than this one")
    add_json(parser)
    add_jsonl(parser, "artifact")
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    reads = options.what == GET
    if reads != (options.artifact is not None):
        raise UsageError(f"`get` and an ID go together: {USAGE}.")
    if not reads and (options.output or options.force):
        raise UsageError(f"-o and --force go with `get`: {USAGE}.")
    return asyncio.run(_get(options) if reads else _list(options))


async def _get(options: argparse.Namespace) -> int:
    from console.cli.artifact_bytes import print_content, save
    from console.cli.terminal import standard_output
    from engine.api import Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        row = await engine.artifact(options.artifact)
        if row.storage not in ("blob", "file"):
            where = f": {row.location}" if row.location else ""
            raise UsageError(f"artifact {row.artifact_id} has no bytes here, only a note of it ({row.storage}{where}).")
        if options.output is None:
            await print_content(engine, row, out)
        else:
            await save(engine, row, options.output, out, over=options.force)
    return Exit.OK


async def _list(options: argparse.Namespace) -> int:
    from console.cli.records import print_all
    from console.cli.table import table
    from console.cli.terminal import standard_output
    from console.model.safe import one_line
    from console.model.words import ago, short_run, size
    from engine.api import ArtifactRow, Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        run_id, session = await _named(engine, options.what)
        before = (await engine.artifact(options.before)).artifact_id if options.before else None
        found = await engine.artifacts(run_id=run_id, conversation_id=session, before=before, limit=options.limit)
        now = engine.now()

    def row(one: ArtifactRow) -> tuple[str, ...]:
        return (
            one_line(one.artifact_id, 40),
            one_line(one.artifact_type, 20),
            "?" if one.size_bytes is None else size(one.size_bytes),
            one_line(one.mime_type or one.storage, 30),
            ago(now - one.created_at),
            short_run(one.run_id or ""),
            one_line(one.name or "", 60),
        )

    if options.json or options.jsonl:
        print_all(out, found, one_a_line=options.jsonl)
    elif found:
        out.write(table([row(one) for one in found], out))
    elif options.what or before:
        out.line("No such artifacts.")
    else:
        out.line("No artifacts yet: a runner makes them by `artifact.created`.")
    return 0


async def _named(engine: "Engine", name: str | None) -> tuple[str | None, str | None]:
    """The run or the session that is meant."""
    from engine.api import NotFound

    if name is None:
        return None, None
    # A session by its whole id comes before a run by the beginning of one; but `last` is a run, as elsewhere.
    if name != "last":
        with suppress(NotFound):
            return None, (await engine.session(name)).session.session_id
    try:
        return (await engine.run(name)).run_id, None
    except NotFound:
        raise UsageError(f"no run or session {name}. `trackside runs` and `trackside sessions` list them.") from None
