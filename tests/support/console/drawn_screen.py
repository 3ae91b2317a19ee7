"""Checks of a drawn screen: words with too little contrast, and characters that are not ASCII."""

from typing import Any

from textual.color import Color
from textual.screen import ModalScreen
from textual.strip import Strip

from console.app import Trackside
from console.model.preferences.color_themes import MIN_CONTRAST, contrast

THEIRS = "°京去我想行都旅語日本é\u0301👩🎉"
"""Characters that users and runners wrote in the scenes; these are shown in ASCII mode too."""


def strips(app: Trackside) -> list[Strip]:
    """Return the lines of the screen; of a dialog only its box, because the screen under it is dimmed."""
    screen = app.screen
    lines = screen._compositor.render_strips()
    if not isinstance(screen, ModalScreen):
        return lines
    boxes = [one.region for one in screen.children if not one.has_class("-textual-system") and one.display]
    return [lines[y].crop(box.x, box.right) for box in boxes for y in range(max(0, box.y), min(len(lines), box.bottom))]


def weak(app: Trackside) -> dict[str, Any]:
    """Return words with too little contrast, with their contrast and colours."""
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
    """Return each character of the console itself that is not ASCII, with its line."""
    lines = ("".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips())
    return {letter: line for line in lines for letter in line if not letter.isascii() and letter not in THEIRS}


def hex_of(colour: Color) -> str:
    return colour.with_alpha(1.0).hex.lower()
