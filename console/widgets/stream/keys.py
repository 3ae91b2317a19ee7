"""The keys of the stream."""

from typing import Final

from textual.binding import Binding, BindingType

BINDINGS: Final[list[BindingType]] = [
    Binding("k,up", "move(-1)", "up", show=False, id="stream.up"),
    Binding("j,down", "move(1)", "down", show=False, id="stream.down"),
    Binding("ctrl+u", "page(-0.5)", "half a page up", show=False, id="stream.half_up"),
    Binding("ctrl+d", "page(0.5)", "half a page down", show=False, id="stream.half_down"),
    Binding("pageup", "page(-1.0)", "page up", show=False, id="stream.page_up"),
    Binding("pagedown", "page(1.0)", "page down", show=False, id="stream.page_down"),
    Binding("g,home", "first", "first", show=False, id="stream.first"),
    Binding("G,end", "end", "live", id="stream.end"),
    Binding("left_square_bracket", "turn(-1)", "turn before", show=False, id="stream.turn_before"),
    Binding("right_square_bracket", "turn(1)", "next turn", show=False, id="stream.turn_after"),
    Binding("slash", "filter", "filter", id="stream.filter"),
    Binding("n", "match(1)", "next match", show=False, id="stream.next_match"),
    Binding("N", "match(-1)", "previous match", show=False, id="stream.previous_match"),
    Binding("o", "only", "only this kind", id="stream.only"),
    Binding("x", "hide", "hide this kind", id="stream.hide"),
    Binding("X", "clear", "clear filter", show=False, id="stream.clear"),
    Binding("enter", "inspect", "inspect", id="stream.inspect"),
    Binding("y", "yank", "copy", id="stream.yank"),
    Binding("m", "flag", "mark", show=False, id="stream.mark"),
    Binding("apostrophe", "next_flag", "next mark", show=False, id="stream.next_mark"),
    Binding("b", "hold_on", "hold on kind", show=False, id="stream.hold_on"),
    Binding("r", "raw", "raw deltas", show=False, id="stream.raw"),
    Binding("t", "time", "times", show=False, id="stream.time"),
    Binding("escape", "back", "back", show=False, id="stream.back"),
]
