"""The line at the bottom."""

from collections.abc import Sequence

from textual.content import Content
from textual.reactive import reactive

from console.model.ribbon import Piece
from console.widgets.tones import Toned


class Footer(Toned):
    """The keys that can be pressed now."""

    DEFAULT_CSS = """
    Footer { height: 1; dock: bottom; padding: 0 1; background: $panel; }
    """

    keys: reactive[Sequence[tuple[str, str]]] = reactive((), always_update=True)

    def render(self) -> Content:
        pieces = [self.content_of([Piece(key, "key"), Piece(f" {words}", "faint")]) for key, words in self.keys]
        return Content("  ").join(pieces)
