"""The run as a ribbon, under the header."""

from textual.content import Content
from textual.reactive import reactive

from console.model.glyphs import Glyphs
from console.model.ribbon import Ribbon
from console.widgets.tones import Toned


class RibbonBar(Toned):
    """When will my message land? Two rows where there is room, one where there is not."""

    DEFAULT_CSS = """
    RibbonBar { height: 2; padding: 0 1; background: $surface; }
    """

    now: reactive[int] = reactive(0)
    glyphs = Glyphs()

    def __init__(self) -> None:
        super().__init__()
        self._ribbon: Ribbon | None = None

    def show(self, ribbon: Ribbon | None, now: int) -> None:
        """Show a run at this moment."""
        self._ribbon, self.now = ribbon, now
        self.display = ribbon is not None
        self.refresh()

    def render(self) -> Content:
        if self._ribbon is None:
            return Content("")
        upper, lower = self._ribbon.rows(self.content_size.width, self.now, self.glyphs)
        rows = [self.content_of(upper)]
        if self.content_size.height > 1:
            rows.append(self.content_of(lower))
        return Content("\n").join(rows)
