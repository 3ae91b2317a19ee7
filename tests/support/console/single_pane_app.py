"""An app that shows one pane."""

from collections.abc import Sequence

from textual.app import App
from textual.filter import LineFilter

from console.model.preferences.color_themes import DARK, PALETTES
from console.ui.terminal.ascii_filter import AsciiFilter
from console.ui.terminal.textual_themes import theme_of


class SinglePaneApp(App[None]):
    """Registers the console's themes: the styles of panes name colours that only these have."""

    def __init__(self, *, is_ascii: bool = False) -> None:
        super().__init__()
        self._ascii_filter = AsciiFilter(enabled=is_ascii)
        for palette in PALETTES.values():
            self.register_theme(theme_of(palette))
        self.theme = DARK.name

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), *([self._ascii_filter] if self._ascii_filter.enabled else [])]

    @property
    def screen_lines(self) -> list[str]:
        """The lines of the screen as the terminal gets them."""
        return [
            "".join(segment.text for segment in strip) for strip in self.screen._compositor.render_strips(self.size)
        ]
