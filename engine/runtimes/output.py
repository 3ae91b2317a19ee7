"""Splits a child's output into lines of bounded length."""

from typing import Final

PIECE: Final = 64 * 1024
"""Bytes of a line; a longer or endless line is split."""


class OutputLines:
    """Splits one stream into lines. A marker from the worker shows that a run's output is complete."""

    def __init__(self) -> None:
        self.mark = b""
        """The marker at the end of a run's output, without its newline; empty if none is expected."""
        self._held = bytearray()

    def feed(self, data: bytes) -> tuple[list[str], bool]:
        """Return the lines that are complete now, and whether the marker was seen."""
        lines: list[str] = []
        marked = False
        *ended, rest = data.split(b"\n")
        for part in ended:
            line = part
            if self._held:
                line = bytes(self._held + part)
                self._held.clear()
            if self.mark and line.endswith(self.mark):
                marked = True
                line = line[: -len(self.mark)]
                if not line:
                    continue
            lines.extend(_pieces(line))
        self._held += rest
        # The mark may be at the end of an endless line, so that much stays back.
        while len(self._held) > PIECE + len(self.mark):
            cut = _character_end(self._held, PIECE)
            lines.append(_text(self._held[:cut]))
            del self._held[:cut]
        return lines, marked

    def rest(self) -> list[str]:
        """Return the last line, which has no newline."""
        held = bytes(self._held)
        self._held.clear()
        return _pieces(held) if held else []


def _pieces(line: bytes) -> list[str]:
    if len(line) <= PIECE:
        return [_text(line)]
    pieces: list[str] = []
    start = 0
    while start < len(line):
        end = _character_end(line, start + PIECE)
        pieces.append(_text(line[start:end]))
        start = end
    return pieces


def _character_end(data: bytes | bytearray, place: int) -> int:
    """Return the last position up to this one that does not split a character."""
    if place >= len(data):
        return len(data)
    for back in range(4):
        if data[place - back] & 0xC0 != 0x80:
            return place - back
    return place  # no UTF-8 anyway


def _text(data: bytes | bytearray) -> str:
    return data.decode("utf-8", "replace").removesuffix("\r")
