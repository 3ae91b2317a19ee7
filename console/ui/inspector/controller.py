"""Loads what the inspector shows."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from console.data.inspector_loader import InspectorLoader
    from console.ui.inspector.pane import Inspector
    from console.ui.main.screen import MainScreen
    from console.ui.shared.services import AppServices
    from engine.api import Engine


class InspectorController:
    """Answers the requests of the inspector."""

    def __init__(self, services: "AppServices", main: "MainScreen") -> None:
        self._services = services
        self._main = main
        self.loader: InspectorLoader | None = None

    def connect(self, engine: "Engine") -> None:
        """Create the loader, when the engine is open."""
        from console.data.inspector_loader import InspectorLoader  # noqa: PLC0415  (loads the engine)

        self.loader = InspectorLoader(engine)

    def load_tab(self, need: "Inspector.Need") -> None:
        self._services.run_in_background(self._load_tab(need))

    async def _load_tab(self, need: "Inspector.Need") -> None:
        if self.loader is not None:
            facts = await self.loader.load_tab(need.tab, need.run_id, need.position, need.only)
            self._main.inspector.attempt(self._main.inspector.show, need.tab, facts, need.number)

    def load_call(self, need: "Inspector.NeedCall") -> None:
        self._services.run_in_background(self._load_call(need))

    async def _load_call(self, need: "Inspector.NeedCall") -> None:
        if self.loader is not None:
            facts = await self.loader.load_call(need.run_id, need.call)
            self._main.inspector.attempt(self._main.inspector.show_call, facts)
