"""How large an image is, read from its first bytes: nothing is decoded."""

from typing import NamedTuple

ENOUGH = 64 * 1024
"""Bytes in which every common format tells its size, unless someone hid it behind a large profile."""
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Marks of a JPEG behind which its size is."""
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})
"""Marks with nothing behind them."""


class Pixels(NamedTuple):
    """What an image is."""

    kind: str
    width: int
    height: int


def pixels(head: bytes) -> Pixels | None:
    """The format and the size, where the bytes tell them."""
    if head[:8] == b"\x89PNG\r\n\x1a\n" and head[12:16] == b"IHDR" and len(head) >= 24:
        return Pixels("PNG", _big(head, 16, 4), _big(head, 20, 4))
    if head[:6] in (b"GIF87a", b"GIF89a") and len(head) >= 10:
        return Pixels("GIF", _little(head, 6, 2), _little(head, 8, 2))
    if head[:2] == b"BM" and len(head) >= 26:
        return Pixels("BMP", _little(head, 18, 4), abs(int.from_bytes(head[22:26], "little", signed=True)))
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp(head)
    return _jpeg(head) if head[:2] == b"\xff\xd8" else None


def _webp(head: bytes) -> Pixels | None:
    match head[12:16]:
        case b"VP8 " if len(head) >= 30:
            return Pixels("WebP", _little(head, 26, 2) & 0x3FFF, _little(head, 28, 2) & 0x3FFF)
        case b"VP8L" if len(head) >= 25:
            bits = _little(head, 21, 4)
            return Pixels("WebP", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8X" if len(head) >= 30:
            return Pixels("WebP", _little(head, 24, 3) + 1, _little(head, 27, 3) + 1)
        case _:
            return None


def _jpeg(head: bytes) -> Pixels | None:
    """From mark to mark: each says how far it is to the next."""
    at = 2
    while at + 9 <= len(head):
        if head[at] != 0xFF:
            return None
        mark = head[at + 1]
        if mark == 0xFF:
            at += 1
        elif mark in _BARE:
            at += 2
        elif mark in _FRAMES:
            return Pixels("JPEG", _big(head, at + 7, 2), _big(head, at + 5, 2))
        else:
            at += 2 + max(2, _big(head, at + 2, 2))
    return None


def _big(head: bytes, at: int, count: int) -> int:
    return int.from_bytes(head[at : at + count], "big")


def _little(head: bytes, at: int, count: int) -> int:
    return int.from_bytes(head[at : at + count], "little")
