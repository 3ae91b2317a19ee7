"""Opens the artifact browser."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from console.data.active_session import ActiveSession
    from console.ui.shared.clipboard import Clipboard
    from console.ui.shared.services import AppServices


class ArtifactsController:
    """Opens the browser for the session, or at one artifact of a run."""

    def __init__(self, services: "AppServices", active_session: "ActiveSession", clipboard: "Clipboard") -> None:
        self._services = services
        self._session = active_session
        self._clipboard = clipboard

    def action_artifacts(self) -> None:
        if self._services.check_can("app.artifacts"):
            view = self._services.updater.view
            self.open(view.run_id if view else None)

    def open(self, run_id: str | None, wanted: str | None = None) -> None:
        """Open the browser; with `wanted`, the id or the name of an artifact, at that artifact of the run."""
        from console.ui.artifacts.screen import ArtifactsScreen  # noqa: PLC0415

        session_id = self._session.session_id
        self._services.push_screen(ArtifactsScreen(self._services, self._clipboard, session_id, run_id, wanted))
