"""The format and size of an image, read from its first bytes without decoding it."""

from typing import NamedTuple

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers of segments that contain the size."""
_WITHOUT_SEGMENT = frozenset({0x01, *range(0xD0, 0xD9)})
"""JPEG markers without a segment."""


class ImageSize(NamedTuple):
    """The format of an image, and its size in pixels."""

    format: str
    width: int
    height: int


def image_size(head: bytes) -> ImageSize | None:
    """Read format and size from the first bytes; None if they do not contain them."""
    if head[:8] == b"\x89PNG\r\n\x1a\n" and head[12:16] == b"IHDR" and len(head) >= 24:
        return ImageSize("PNG", _big(head, 16, 4), _big(head, 20, 4))
    if head[:6] in (b"GIF87a", b"GIF89a") and len(head) >= 10:
        return ImageSize("GIF", _little(head, 6, 2), _little(head, 8, 2))
    if head[:2] == b"BM" and len(head) >= 26:
        return ImageSize("BMP", _little(head, 18, 4), abs(int.from_bytes(head[22:26], "little", signed=True)))
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp(head)
    return _jpeg(head) if head[:2] == b"\xff\xd8" else None


def _webp(head: bytes) -> ImageSize | None:
    match head[12:16]:
        case b"VP8 " if len(head) >= 30:
            return ImageSize("WebP", _little(head, 26, 2) & 0x3FFF, _little(head, 28, 2) & 0x3FFF)
        case b"VP8L" if len(head) >= 25:
            bits = _little(head, 21, 4)
            return ImageSize("WebP", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8X" if len(head) >= 30:
            return ImageSize("WebP", _little(head, 24, 3) + 1, _little(head, 27, 3) + 1)
        case _:
            return None


def _jpeg(head: bytes) -> ImageSize | None:
    """Go from marker to marker until one with the size."""
    at = 2
    while at + 9 <= len(head):
        if head[at] != 0xFF:
            return None
        marker = head[at + 1]
        if marker == 0xFF:
            at += 1
        elif marker in _WITHOUT_SEGMENT:
            at += 2
        elif marker in _FRAMES:
            return ImageSize("JPEG", _big(head, at + 7, 2), _big(head, at + 5, 2))
        else:
            at += 2 + max(2, _big(head, at + 2, 2))
    return None


def _big(head: bytes, at: int, count: int) -> int:
    return int.from_bytes(head[at : at + count], "big")


def _little(head: bytes, at: int, count: int) -> int:
    return int.from_bytes(head[at : at + count], "little")
