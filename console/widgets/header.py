"""The line at the top."""

from rich.cells import cell_len
from textual.content import Content
from textual.reactive import reactive

from console.model.glyphs import Glyphs
from console.model.headline import GAP, Headline
from console.widgets.tones import Toned


class Header(Toned):
    """Who runs, where it stands, and what waits."""

    DEFAULT_CSS = """
    Header { height: 1; dock: top; padding: 0 1; background: $panel; }
    """

    headline: reactive[Headline | None] = reactive(None, always_update=True)
    glyphs = Glyphs()

    def render(self) -> Content:
        """Both halves, with what is left between them."""
        if self.headline is None:
            return Content("")
        width = self.content_size.width
        left, right = (self.content_of(half, GAP) for half in self.headline.fit(width, self.glyphs))
        between = " " * max(1, width - cell_len(left.plain) - cell_len(right.plain))
        return Content.assemble(left, between, right)
