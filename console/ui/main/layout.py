"""Commands that change which panes are visible."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from console.ui.main.screen import MainScreen
    from console.ui.shared.services import AppServices


class LayoutController:
    """Zooms a pane, and shows or hides the list of runs."""

    def __init__(self, services: "AppServices", main: "MainScreen") -> None:
        self._services = services
        self._main = main

    def action_zoom(self) -> None:
        if self._services.check_can("app.zoom"):
            self._main.zoom()

    def action_rail(self) -> None:
        if self._services.check_can("app.rail"):
            self._main.slide_rail()
