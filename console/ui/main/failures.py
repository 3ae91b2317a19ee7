"""Panes and screens that failed: reload them, close them, copy their reports."""

from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from textual.screen import Screen

from console.model.commands.key_labels import key_of
from console.ui.shared.crash_guard import FailureReport, PaneGuard, ScreenFailed

if TYPE_CHECKING:
    from textual.app import App

    from console.data.active_session import ActiveSession
    from console.ui.main.screen import MainScreen
    from console.ui.shared.clipboard import Clipboard
    from console.ui.shared.services import AppServices


class FailureController:
    """Handles failures that did not end the app."""

    def __init__(
        self,
        app: "App[None]",
        services: "AppServices",
        active_session: "ActiveSession",
        main: "MainScreen",
        clipboard: "Clipboard",
    ) -> None:
        self._app = app
        self._services = services
        self._session = active_session
        self._main = main
        self._clipboard = clipboard
        self._closed: WeakSet[Screen[Any]] = WeakSet()
        """Screens that failed and may still be closing."""

    def action_reload(self) -> None:
        self.reload(*self._main.guarded)

    def reload(self, *panes: PaneGuard) -> None:
        """Remove the failures of these panes, and rebuild what is shown."""
        for pane in panes:
            pane.recover()
        if self._session.is_open:
            self._services.run_in_background(self._services.updater.reload())

    def action_report(self) -> None:
        panes = (pane.failure for pane in self._main.guarded if pane.failure is not None)
        if reports := [failure.report for failure in (*self._services.screen_failures, *panes)]:
            self.copy_report("\n\n".join(reports))

    def copy_report(self, report: str) -> None:
        self._clipboard.copy(report, "the report")

    def close_screen(self, event: ScreenFailed) -> None:
        """Close a screen that failed, and the screens over it. Whoever awaits its answer gets none."""
        screen, failure = event.screen, FailureReport.of(type(event.screen).__name__, event.error)
        if screen in self._closed:
            return  # a later failure follows from the first
        self._closed.add(screen)
        self._services.screen_failures = (*self._services.screen_failures, failure)
        while screen in self._app.screen_stack and self._app.screen is not screen:
            self._app.pop_screen()
        if self._app.screen is screen:
            screen.dismiss(None)
        what = getattr(screen, "heading", "The dialog")
        text = f"{what} failed and was closed: {failure.text} · {key_of('app.report')}"
        self._services.show_toast(text, severity="error")
