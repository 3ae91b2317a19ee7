"""Splits a child's output into lines of bounded length."""

from typing import Final

MAX_LINE_BYTES: Final = 64 * 1024
"""A longer or endless line is split."""


class OutputLines:
    """Splits one stream into lines. A marker from the worker shows that a run's output is complete."""

    def __init__(self) -> None:
        self.mark = b""
        """The marker at the end of a run's output, without its newline; empty if none is expected."""
        self._pending = bytearray()

    def feed(self, data: bytes) -> tuple[list[str], bool]:
        """Return the lines that are complete now, and whether the marker was seen."""
        lines: list[str] = []
        marked = False
        *ended, rest = data.split(b"\n")
        for part in ended:
            line = part
            if self._pending:
                line = bytes(self._pending + part)
                self._pending.clear()
            if self.mark and line.endswith(self.mark):
                marked = True
                line = line[: -len(self.mark)]
                if not line:
                    continue
            lines.extend(_pieces(line))
        self._pending += rest
        # The mark may be at the end of an endless line, so its length is kept back.
        while len(self._pending) > MAX_LINE_BYTES + len(self.mark):
            cut = _character_end(self._pending, MAX_LINE_BYTES)
            lines.append(_text(self._pending[:cut]))
            del self._pending[:cut]
        return lines, marked

    def rest(self) -> list[str]:
        """Return the last line, which has no newline."""
        held = bytes(self._pending)
        self._pending.clear()
        return _pieces(held) if held else []


def _pieces(line: bytes) -> list[str]:
    if len(line) <= MAX_LINE_BYTES:
        return [_text(line)]
    pieces: list[str] = []
    start = 0
    while start < len(line):
        end = _character_end(line, start + MAX_LINE_BYTES)
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
    return place  # not UTF-8


def _text(data: bytes | bytearray) -> str:
    return data.decode("utf-8", "replace").removesuffix("\r")
