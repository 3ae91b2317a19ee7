"""An app for one pane alone, in the console's colours."""

from textual.app import App

from console.model.settings.palette import DARK, PALETTES
from console.terminal.themes import theme_of


class Alone(App[None]):
    """Styles of panes name colours that only our themes have."""

    def __init__(self) -> None:
        super().__init__()
        for palette in PALETTES.values():
            self.register_theme(theme_of(palette))
        self.theme = DARK.name
