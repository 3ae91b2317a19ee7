"""An artifact as far as a terminal can show it: text, JSON, the size of an image, the first bytes of all else."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson

from console.model.artifacts.image_size import pixels
from console.model.artifacts.rows import facts_of, name_of
from console.model.commands.key_labels import key_of
from console.model.inspector.json_tree import Tree
from console.model.state.json_text import NotJson, read
from console.model.text.folds import Folds
from console.model.text.lists import Source, Stack, Text
from console.model.text.piece import Piece
from console.model.text.safe import safe
from console.model.text.units import size

if TYPE_CHECKING:
    from engine.api import ArtifactRow

WINDOW: Final = 256 * 1024
"""Bytes that are read to be shown."""
MOST_LINES: Final = 2_000
_LONGEST: Final = 2_000
"""Characters of one line that are shown; a copy has all of it."""
_DUMPED: Final = 256
_BEGINS: Final[Mapping[str, bytes]] = {
    "image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8", "image/gif": b"GIF8", "image/bmp": b"BM", "image/webp": b"RIFF",
}  # fmt: skip
"""How pictures begin."""
_NOTHING_HERE: Final = frozenset({"url", "platform", "metadata"})


def has_content(one: "ArtifactRow", now: int) -> bool:
    """Whether there are bytes that can be read here."""
    return one.storage not in _NOTHING_HERE and not one.has_expired(now)


def preview(one: "ArtifactRow", head: bytes | None, now: int, folds: Folds, words: str = "") -> Source:
    """All that is known of it, and below what is in it; where its bytes are not there yet, or cannot be, the words."""
    known = [
        Text(Piece(f"{label:>8}  ", "faint"), Piece(words, "text"), hang=10, copy=lambda words=words: words)
        for label, words in facts_of(one, now)
    ]
    return Stack(
        [Text(Piece(name_of(one), "heading")), *known, Text(Piece("", "text")), *_content(one, head, now, folds, words)]
    )


def _content(one: "ArtifactRow", head: bytes | None, now: int, folds: Folds, words: str) -> Sequence[Source]:
    if not has_content(one, now):
        why = "It has expired." if one.has_expired(now) else "Its bytes are not here."
        return [Text(Piece(why, "faint"))]
    if head is None:
        return [Text(Piece(safe(words), "warn"))]
    if not head:
        return [Text(Piece("It is empty.", "faint"))]
    rest = max(0, (one.size_bytes or 0) - len(head))
    if (found := pixels(head)) is not None:
        return [_line(f"{found.kind} image, {found.width:,} × {found.height:,} pixels", "strong"), _save()]
    if not rest and (value := _json(head)) is not None:
        return [Tree(value, folds)]
    text = _text(head, is_cut=rest > 0)
    odd = _is_not(one, head, text, is_whole=not rest)
    content = _dump(head, rest) if text is None else _lines(text, rest)
    return [*([Text(Piece(odd, "warn")), Text(Piece("", "text"))] if odd else []), *content]


def _is_not(one: "ArtifactRow", head: bytes, text: str | None, *, is_whole: bool) -> str:
    """Where it is not what it claims to be, that."""
    kind = one.mime_type or ""
    if not head.startswith(_BEGINS.get(kind, b"")):
        return f"no picture, though it says {kind}"
    is_json = kind == "application/json" or kind.endswith("+json") or (one.name or "").lower().endswith(".json")
    if not is_json or not is_whole:
        return ""
    if text is None:
        return "not JSON: its bytes are no text"
    try:
        read(text)
    except NotJson as error:
        return f"not JSON: {error}"
    return ""


def _json(head: bytes) -> Any:
    if head.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        return orjson.loads(head)
    except ValueError:
        return None


def _text(head: bytes, *, is_cut: bool) -> str | None:
    """The text, if it is some; what only a program would write is none, whatever it decodes to."""
    if b"\0" in head:
        return None
    for tail in range(4 if is_cut else 1):  # the window may end within a character
        try:
            return head[: len(head) - tail].decode()
        except UnicodeDecodeError:
            continue
    return None


def _lines(text: str, rest: int) -> Iterator[Source]:
    lines = text.rstrip("\n").split("\n")
    for line in lines[:MOST_LINES]:
        shown = safe(line[:_LONGEST]).expandtabs(4)
        if len(line) > _LONGEST:
            shown += f"… {len(line) - _LONGEST:,} more characters"
        yield Text(Piece(shown, "text"), hang=0, copy=lambda line=line: line)
    if rest or len(lines) > MOST_LINES:
        more = f"{size(rest)} more" if rest else f"{len(lines) - MOST_LINES:,} more lines"
        yield Text(Piece(f"… {more}: {key_of('artifacts.save')} saves all of it to a file.", "faint"))


def _dump(head: bytes, rest: int) -> Iterator[Source]:
    for at in range(0, min(len(head), _DUMPED), 16):
        part = head[at : at + 16]
        letters = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in part)
        yield Text(
            Piece(f"{at:06x}  ", "faint"),
            Piece(f"{part.hex(' '):<47}  ", "number"),
            Piece(letters, "text"),
            wraps=False,
        )
    more = len(head) + rest - _DUMPED
    yield (
        Text(Piece(f"… {size(more)} more: {key_of('artifacts.save')} saves all of it to a file.", "faint"))
        if more > 0
        else _save()
    )


def _save() -> Source:
    return Text(Piece(f"{key_of('artifacts.save')} saves it to a file.", "faint"))


def _line(words: str, tone: str) -> Source:
    return Text(Piece(words, tone))
