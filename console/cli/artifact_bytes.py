"""An artifact's content, piece by piece, to a file or to the output."""

import codecs
from collections.abc import AsyncIterator
from pathlib import Path

from console.cli.exits import UsageError
from console.cli.terminal import Output
from console.model.safe import safe
from console.model.words import size
from engine.api import ArtifactRow, Engine


async def save(engine: Engine, row: ArtifactRow, path: Path, out: Output, *, over: bool) -> None:
    """Write it to a file; one that is there is left alone unless that is wanted."""
    written = 0
    try:
        with path.open("wb" if over else "xb") as file:
            async for piece in _pieces(engine, row):
                written += file.write(piece)
    except FileExistsError as error:
        raise UsageError(f"{path} exists already. Add --force to write over it, or name another file.") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}. Name another file with -o.") from error
    out.line(f"Wrote {size(written)} to {safe(str(path))}.")


async def print_content(engine: Engine, row: ArtifactRow, out: Output) -> None:
    """Write it to the output: byte for byte, but on a terminal only text, and made safe."""
    if not out.is_terminal:
        async for piece in _pieces(engine, row):
            out.write_bytes(piece)
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    ended = True
    try:
        async for piece in _pieces(engine, row):
            text = _text(decoder, piece)
            out.write(safe(text))
            ended = text.endswith("\n")
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise UsageError(
            f"artifact {row.artifact_id} is not text, and this is a terminal. Save it with -o FILE."
        ) from None
    out.write("" if ended else "\n")


def _text(decoder: codecs.IncrementalDecoder, piece: bytes) -> str:
    """The next piece; bytes that only a program would write are no text, whatever they decode to."""
    if (place := piece.find(b"\0")) >= 0:
        raise UnicodeDecodeError("utf-8", piece, place, place + 1, "not text")
    return decoder.decode(piece)


async def _pieces(engine: Engine, row: ArtifactRow) -> AsyncIterator[bytes]:
    offset = 0
    while piece := await engine.artifact_bytes(row.artifact_id, offset=offset):
        yield piece
        offset += len(piece)
