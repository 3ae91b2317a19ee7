"""ASCII mode: one filter that replaces every glyph in the lines that Textual is about to show."""

from typing import Final

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from console.model.text.glyphs import ASCII_GLYPHS

_PUNCTUATION: Final = {
    "·": "-", "•": "*", **dict.fromkeys("“”", '"'), **dict.fromkeys("‘’", "'"), "→": ">", "×": "x", "≈": "~",
    "—": "-", "–": "-", "⟦": "[", "⟧": "]", "❯": ">", "⭘": "o",
    # `safe` puts these in place of control characters, which must not reach a terminal.
    **{chr(code): "?" for code in (*range(0x2400, 0x2422), 0xFFFD)},
}  # fmt: skip
_BORDERS: Final = {
    **dict.fromkeys("─━┄┅┈┉╌╍═▔▁▂", "-"),
    **dict.fromkeys("│┃┆┇┊┋╎╏║▏▎▍▌▐▕", "|"),
    **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬▖▗▘▝", "+"),
    **dict.fromkeys("▃▄▅▆▇█▀▊▋▉", "#"),
}
_TWO_COLUMNS: Final = {"🔎": "/ "}
ASCII: Final = str.maketrans({**_PUNCTUATION, **_BORDERS, **_TWO_COLUMNS, **ASCII_GLYPHS})
"""Every character that the console draws, and ASCII of the same width.

The console's own glyphs come last: `┫`, `┣`, `┄`, `┆` and `█` mean more than a border there.
"""


class AsciiFilter(LineFilter):
    """Replaces the glyphs of every line. Letters that runners and users wrote stay as they are."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        return [
            segment
            if segment.text.isascii()
            else Segment(segment.text.translate(ASCII), segment.style, segment.control)
            for segment in segments
        ]
