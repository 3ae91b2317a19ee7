"""The preview of an artifact: text, JSON, the size of an image, or the first bytes of other content."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson

from console.model.artifacts.image_size import image_size
from console.model.artifacts.rows import artifact_facts, name_of
from console.model.commands.key_labels import key_of
from console.model.inspector.json_tree import Tree
from console.model.state.json_text import InvalidJson, parse_json
from console.model.text.folds import Folds
from console.model.text.lists import Source, Stack, Text
from console.model.text.piece import Piece
from console.model.text.safe import safe
from console.model.text.units import size

if TYPE_CHECKING:
    from engine.api import ArtifactRow

PREVIEW_BYTES: Final = 256 * 1024
"""Bytes that are read for a preview."""
MAX_LINES: Final = 2_000
MAX_LINE_CHARS: Final = 2_000
"""Characters of artifact line that are shown; a copy contains the whole line."""
HEX_DUMP_BYTES: Final = 256
_SIGNATURES: Final[Mapping[str, bytes]] = {
    "image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8", "image/gif": b"GIF8", "image/bmp": b"BM", "image/webp": b"RIFF",
}  # fmt: skip
"""The first bytes of images."""
_WITHOUT_BYTES: Final = frozenset({"url", "platform", "metadata"})


def has_content(artifact: "ArtifactRow", now: int) -> bool:
    """Whether the bytes of the artifact can be read."""
    return artifact.storage not in _WITHOUT_BYTES and not artifact.has_expired(now)


def preview(artifact: "ArtifactRow", head: bytes | None, now: int, folds: Folds, remark: str = "") -> Source:
    """The facts about an artifact, and its content; the remark if its bytes could not be read, or not yet."""
    facts = [
        Text(Piece(f"{label:>8}  ", "faint"), Piece(value, "text"), hang=10, copy=lambda value=value: value)
        for label, value in artifact_facts(artifact, now)
    ]
    content = _content(artifact, head, now, folds, remark)
    return Stack([Text(Piece(name_of(artifact), "heading")), *facts, Text(Piece("", "text")), *content])


def _content(artifact: "ArtifactRow", head: bytes | None, now: int, folds: Folds, remark: str) -> Sequence[Source]:
    if not has_content(artifact, now):
        why = "The artifact has expired." if artifact.has_expired(now) else "The content is not stored here."
        return [Text(Piece(why, "faint"))]
    if head is None:
        return [Text(Piece(safe(remark), "warn"))]
    if not head:
        return [Text(Piece("The artifact is empty.", "faint"))]
    rest = max(0, (artifact.size_bytes or 0) - len(head))
    if (found := image_size(head)) is not None:
        pixels = f"{found.format} image, {found.width:,} × {found.height:,} pixels"
        return [Text(Piece(pixels, "strong")), _save_hint()]
    if not rest and (value := _json(head)) is not None:
        return [Tree(value, folds)]
    text = _text(head, is_cut=rest > 0)
    warning = _type_warning(artifact, head, text, is_whole=not rest)
    content = _hex_dump(head, rest) if text is None else _lines(text, rest)
    return [*([Text(Piece(warning, "warn")), Text(Piece("", "text"))] if warning else []), *content]


def _type_warning(artifact: "ArtifactRow", head: bytes, text: str | None, *, is_whole: bool) -> str:
    """A warning if the content does not match the declared type."""
    kind = artifact.mime_type or ""
    if not head.startswith(_SIGNATURES.get(kind, b"")):
        return f"The declared type is {kind}, but the content is not."
    is_json = kind == "application/json" or kind.endswith("+json") or (artifact.name or "").lower().endswith(".json")
    if not is_json or not is_whole:
        return ""
    if text is None:
        return "Not JSON: the content is not text."
    try:
        parse_json(text)
    except InvalidJson as error:
        return f"Not JSON: {error}"
    return ""


def _json(head: bytes) -> Any:
    if head.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        return orjson.loads(head)
    except ValueError:
        return None


def _text(head: bytes, *, is_cut: bool) -> str | None:
    """Decode the content; None if it is not UTF-8, or has a zero byte, as binary formats do."""
    if b"\0" in head:
        return None
    for tail in range(4 if is_cut else 1):  # the read may end within a character
        try:
            return head[: len(head) - tail].decode()
        except UnicodeDecodeError:
            continue
    return None


def _lines(text: str, rest: int) -> Iterator[Source]:
    lines = text.rstrip("\n").split("\n")
    for line in lines[:MAX_LINES]:
        shown = safe(line[:MAX_LINE_CHARS]).expandtabs(4)
        if len(line) > MAX_LINE_CHARS:
            shown += f"… {len(line) - MAX_LINE_CHARS:,} more characters"
        yield Text(Piece(shown, "text"), hang=0, copy=lambda line=line: line)
    if rest or len(lines) > MAX_LINES:
        yield _rest_hint(size(rest) if rest else f"{len(lines) - MAX_LINES:,} lines")


def _hex_dump(head: bytes, rest: int) -> Iterator[Source]:
    for at in range(0, min(len(head), HEX_DUMP_BYTES), 16):
        part = head[at : at + 16]
        letters = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in part)
        yield Text(
            Piece(f"{at:06x}  ", "faint"),
            Piece(f"{part.hex(' '):<47}  ", "number"),
            Piece(letters, "text"),
            wraps=False,
        )
    more = len(head) + rest - HEX_DUMP_BYTES
    yield _rest_hint(size(more)) if more > 0 else _save_hint()


def _rest_hint(amount: str) -> Source:
    save = key_of("artifacts.save")
    return Text(Piece(f"… {amount} more. {save} saves the whole artifact to a file.", "faint"))


def _save_hint() -> Source:
    return Text(Piece(f"{key_of('artifacts.save')} saves it to a file.", "faint"))
