"""The whole screen in ASCII: what we draw beside the glyphs, borders and Textual's own parts."""

from typing import Final

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from console.model.glyphs import GLYPHS

_MARKS: Final = {
    **dict.fromkeys("·•", "-"), **dict.fromkeys("“”", '"'), **dict.fromkeys("‘’", "'"), "→": ">", "×": "x", "≈": "~",
    "—": "-", "–": "-", "⟦": "[", "⟧": "]", "❯": ">", "⭘": "o",
    **{chr(code): "?" for code in (*range(0x2400, 0x2422), 0xFFFD)},  # in place of what no terminal may be sent
}  # fmt: skip
_LINES: Final = {
    **dict.fromkeys("─━┄┅┈┉╌╍═▔▁▂", "-"),
    **dict.fromkeys("│┃┆┇┊┋╎╏║▏▎▍▌▐▕", "|"),
    **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬▖▗▘▝", "+"),
    **dict.fromkeys("▃▄▅▆▇█▀▊▋▉", "#"),
}
_WIDE: Final = {"🔎": "/ "}
"""Of two columns."""
PLAIN: Final = str.maketrans(
    {**{drawn: plain for drawn, plain in GLYPHS.values() if not drawn.isascii()}, **_MARKS, **_LINES, **_WIDE}
)
"""Every character that the console draws by itself, and the ASCII that takes as much room."""


class Plain(LineFilter):
    """Passes over every line before it is shown. What runners and people wrote keeps its letters: only marks change."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        return [
            segment
            if segment.text.isascii()
            else Segment(segment.text.translate(PLAIN), segment.style, segment.control)
            for segment in segments
        ]
