"""What can be told of a screen by how it is drawn: words that are hard to read, and letters that are not ASCII."""

from typing import Any

from textual.color import Color
from textual.screen import ModalScreen
from textual.strip import Strip

from console.app import Trackside
from console.model.preferences.palette import MIN_CONTRAST, contrast

THEIRS = "°京去我想行都旅語日本é\u0301👩🎉"
"""Letters that people and runners wrote in the scenes; those stay as they are."""


def strips(app: Trackside) -> list[Strip]:
    """The lines of the screen; where a question lies over it only that: what is under it waits, and is faint."""
    screen = app.screen
    lines = screen._compositor.render_strips()
    if not isinstance(screen, ModalScreen):
        return lines
    boxes = [one.region for one in screen.children if not one.has_class("-textual-system") and one.display]
    return [lines[y].crop(box.x, box.right) for box in boxes for y in range(max(0, box.y), min(len(lines), box.bottom))]


def weak(app: Trackside) -> dict[str, Any]:
    """Words that are hard to read, with how hard, and in which colours."""
    found: dict[str, Any] = {}
    for segment in (segment for strip in strips(app) for segment in strip):
        style = segment.style
        if style is None or not any(map(str.isalnum, segment.text)):
            continue
        assert style.color is not None, segment.text
        assert style.bgcolor is not None, segment.text
        front, behind = Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor)
        if style.reverse:
            front, behind = behind, front
        if (ratio := contrast(hex_of(front), hex_of(behind))) < MIN_CONTRAST:
            found[segment.text.strip()] = (round(ratio, 2), front.hex, behind.hex)
    return found


def strange(app: Trackside) -> dict[str, str]:
    """Each letter that is not ASCII, and was written by nobody but the console, with the line that it stands in."""
    lines = ("".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips())
    return {letter: line for line in lines for letter in line if not letter.isascii() and letter not in THEIRS}


def hex_of(colour: Color) -> str:
    return colour.with_alpha(1.0).hex.lower()
