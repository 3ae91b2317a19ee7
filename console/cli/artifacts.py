"""`trackside artifacts`: list artifacts, and print or save one."""

import argparse
import codecs
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from console.cli.exit_codes import ExitCode, UsageError
from console.cli.options import add_database, add_json, add_jsonl, count
from console.cli.terminal import Output
from console.model.text.safe import safe
from console.model.text.units import size
from engine.api import ArtifactRow, Engine

GET: Final = "get"
USAGE: Final = (
    "`trackside artifacts [RUN|SESSION]` lists them, `trackside artifacts get ID [-o FILE]` prints or saves one"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "trackside artifacts [-h] [RUN|SESSION] [--limit N] [--before ID] [--json] [--jsonl] [--db PATH]\n"
        "       trackside artifacts get ID [-o FILE] [--force] [--db PATH]"
    )
    parser.add_argument(
        "what", nargs="?", metavar="RUN|SESSION", help="only artifacts of this run or session; or the word `get`"
    )
    parser.add_argument("artifact", nargs="?", metavar="ID", help="after `get`: the artifact")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the file to write (default: standard output)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")
    parser.add_argument(
        "--limit", type=count, default=50, metavar="N", help="maximum number of artifacts (default: 50)"
    )
    parser.add_argument("--before", metavar="ID", help="only artifacts older than this one")
    add_json(parser)
    add_jsonl(parser, "artifact")
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    reads = options.what == GET
    if reads != (options.artifact is not None):
        raise UsageError(f"`get` needs an ID, and an ID needs `get`: {USAGE}.")
    if not reads and (options.output or options.force):
        raise UsageError(f"-o and --force need `get`: {USAGE}.")
    return asyncio.run(_get(options) if reads else _list(options))


async def _get(options: argparse.Namespace) -> int:
    from console.cli.terminal import standard_output

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        row = await engine.artifacts.get(options.artifact)
        if row.storage not in ("blob", "file"):
            where = f": {row.location}" if row.location else ""
            raise UsageError(
                f"artifact {row.artifact_id} has no content in this database, only a reference ({row.storage}{where})."
            )
        if options.output is None:
            await print_content(engine, row, out)
        else:
            await save(engine, row, options.output, out, overwrite=options.force)
    return ExitCode.OK


async def _list(options: argparse.Namespace) -> int:
    from console.cli.json_output import print_all
    from console.cli.table import table
    from console.cli.terminal import standard_output
    from console.model.text.safe import one_line
    from console.model.text.units import ago, short_run

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        run_id, session = await _find_owner(engine, options.what)
        before = (await engine.artifacts.get(options.before)).artifact_id if options.before else None
        found = await engine.artifacts.list(run_id=run_id, conversation_id=session, before=before, limit=options.limit)
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
        print_all(out, found, as_lines=options.jsonl)
    elif found:
        out.write(table([row(one) for one in found], out))
    elif options.what or before:
        out.line("No artifacts match.")
    else:
        out.line("No artifacts yet. A runner creates one with the result `artifact.created`.")
    return ExitCode.OK


async def _find_owner(engine: Engine, name: str | None) -> tuple[str | None, str | None]:
    """Return the id of the named run, or of the named session."""
    from engine.api import NotFound

    if name is None:
        return None, None
    # A whole session id wins over `last`, which is a run here, and over the beginning of a run or session id.
    if await engine.sessions.exists(name):
        return None, name
    with suppress(NotFound):
        return (await engine.runs.get(name)).run_id, None
    try:
        return None, (await engine.sessions.find(name)).session.session_id
    except NotFound:
        raise UsageError(f"no run or session {name}. `trackside runs` and `trackside sessions` list them.") from None


async def save(engine: Engine, row: ArtifactRow, path: Path, out: Output, *, overwrite: bool) -> None:
    """Write the content to a file. Raises UsageError if the file exists and `overwrite` is false."""
    written = 0
    try:
        with path.open("wb" if overwrite else "xb") as file:
            async for chunk in _chunks(engine, row):
                written += file.write(chunk)
    except FileExistsError as error:
        raise UsageError(f"{path} exists already. Add --force to overwrite it, or name another file.") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}. Name another file with -o.") from error
    out.line(f"Wrote {size(written)} to {safe(str(path))}.")


async def print_content(engine: Engine, row: ArtifactRow, out: Output) -> None:
    """Write the content to standard output. A terminal gets text without control characters only."""
    if not out.is_terminal:
        async for chunk in _chunks(engine, row):
            out.write_bytes(chunk)
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    ended = True
    try:
        async for chunk in _chunks(engine, row):
            text = _decode(decoder, chunk)
            out.write(safe(text))
            ended = text.endswith("\n")
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise UsageError(
            f"artifact {row.artifact_id} is not text, and this is a terminal. Save it with -o FILE."
        ) from None
    out.write("" if ended else "\n")


def _decode(decoder: codecs.IncrementalDecoder, chunk: bytes) -> str:
    """Decode the next chunk. A NUL byte means that the content is not text, even if it decodes."""
    if (index := chunk.find(b"\0")) >= 0:
        raise UnicodeDecodeError("utf-8", chunk, index, index + 1, "not text")
    return decoder.decode(chunk)


async def _chunks(engine: Engine, row: ArtifactRow) -> AsyncIterator[bytes]:
    offset = 0
    while chunk := await engine.artifacts.read_bytes(row.artifact_id, offset=offset):
        yield chunk
        offset += len(chunk)
